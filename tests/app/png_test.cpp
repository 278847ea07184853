#include "app/png.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "app/program.hpp"

namespace titer::testing {
namespace TITER_TEST_FILE {

/// A command that writes a picture, but for the file's name; colours that it has, and how much of
/// it is not white at least.
struct Picture {
  std::string name;
  std::vector<std::string> arguments;
  std::vector<std::string> colours;
  double drawn = 0;
};

void PrintTo(const Picture& picture, std::ostream* out) { *out << picture.name; }

std::string measured_runs() { return (root() / "tests/data/measured/training.csv").string(); }

std::vector<Picture> pictures() {
  return {
      {"plot",
       {"run", "gpt3-175b-64xa100", "--plot"},
       {"#0072b2", "#56b4e9", "#e69f00", "#009e73", "#d55e00"},
       0.2},
      {"timeline", {"timeline", "gpt3-175b-64xa100", "--out"}, {"#2f66ad", "#3a8f57"}, 0.2},
      {"schedules",
       {"timeline", "--schedule=1f1b,zb-h1", "--pipeline=4", "--micro-batches=8", "--out"},
       {"#2f66ad", "#3a8f57"},
       0.3},
      {"topology", {"topology", "dgx1-v100", "--out"}, {"#ebf4ff", "#1a365d"}, 0.03},
      {"traffic", {"traffic", "gpt3-175b-64xa100", "--out"}, {"#2e1055", "#fcd482"}, 0.05},
      {"scatter", {"validate", measured_runs(), "--plot"}, {"#2f66ad", "#dbe5f0"}, 0.04},
      {"residuals", {"validate", measured_runs(), "--residuals"}, {"#c2562f", "#dbe5f0"}, 0.04},
      {"histogram", {"validate", measured_runs(), "--histogram"}, {"#8fb0d9"}, 0.05},
  };
}

/// ` width="480"`
double svg_length(const std::string& svg, const std::string& name) {
  const std::size_t at = svg.find(" " + name + "=\"");
  return std::stod(svg.substr(at + name.size() + 3));
}

class AppPng : public ::testing::TestWithParam<Picture> {
 protected:
  static std::vector<std::string> into(const std::string& path) {
    std::vector<std::string> arguments = GetParam().arguments;
    arguments.push_back(path);
    return arguments;
  }
};

TEST_P(AppPng, HasWhatTheSvgHas) {
  const TemporaryFolder folder;
  const std::string png = (folder.path() / "a.png").string();
  const std::string svg = (folder.path() / "a.svg").string();
  const Outcome outcome = titer(into(png));
  if (contains(outcome.err, "this build draws none")) {
    GTEST_SKIP() << outcome.err;
  }
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  ASSERT_EQ(titer(into(svg)).code, 0);
  const Png picture(file_text(png));
  EXPECT_EQ(static_cast<double>(picture.wide()), 2 * svg_length(file_text(svg), "width"));
  EXPECT_EQ(static_cast<double>(picture.high()), 2 * svg_length(file_text(svg), "height"));
  EXPECT_EQ(picture.at(0, 0), "#ffffff");
  EXPECT_EQ(picture.at(picture.wide() - 1, picture.high() - 1), "#ffffff");
  const std::map<std::string, double> shares = picture.colours();
  EXPECT_GT(1 - shares.at("#ffffff"), GetParam().drawn);
  EXPECT_LT(1 - shares.at("#ffffff"), 0.9);
  for (const std::string& colour : GetParam().colours) {
    EXPECT_TRUE(contains(file_text(svg), colour));
    EXPECT_TRUE(shares.contains(colour)) << colour;
  }
}
INSTANTIATE_TEST_SUITE_P(EveryPicture,
                         AppPng,
                         ::testing::ValuesIn(pictures()),
                         [](const auto& one) { return one.param.name; });

/// Of Debian's minimal system: librsvg's name is there, and nothing that it could load.
TEST(AppPngs, SayWhatIsMissingBeforeAnyWork) {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "a.png").string();
  const std::string large = (folder.path() / "large.png").string();
  if (contains(titer({"run", "gpt3-175b-64xa100", "--plot", path}).err, "this build draws none")) {
    GTEST_SKIP() << "no PNG in this build";
  }
  const TemporaryFolder libraries;
  std::ofstream(libraries.path() / "librsvg-2.so.2") << "";
  const Surroundings without = {.libraries = libraries.path().string()};
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"run", "gpt3-175b-64xa100", "--plot", large},
        {"timeline", "gpt3-175b-64xa100", "--out", large},
        {"topology", "dgx1-v100", "--format", "png"},
        {"validate", measured_runs(), "--residuals", large}}) {
    EXPECT_TRUE(
        contains(refusal_of(titer(arguments, without)), "PNG: this machine has no librsvg-2.so.2"));
    EXPECT_FALSE(std::filesystem::exists(large));
  }
  EXPECT_EQ(titer({"run", "gpt3-175b-64xa100", "--plot", large + ".svg"}, without).code, 0)
      << "nothing else asks for it";
}

/// Of one place for all commands that write files.
TEST(AppOutputs, HaveNoNameThatTellsOfAnotherFormat) {
  struct Case {
    std::vector<std::string> arguments;
    std::string_view expected;
  };
  const std::string run = "gpt3-175b-64xa100";
  const std::vector<Case> cases = {
      {{"run", run, "--plot", "a.jpg"}, "--plot: a.jpg: expected a name that ends in .svg or .png"},
      {{"run", run, "--plot", "a.pdf"}, ".svg or .png"},
      {{"run", run, "--report", "a.PDF"}, "--report: a.PDF: expected a name that ends in .html"},
      {{"run", run, "--trace", "a.svg"}, "--trace: a.svg: expected a name that ends in .json"},
      {{"search", run, "--out", "a.csv"}, "ends in .json"},
      {{"sweep", "gpt3-175b-plans", "--out", "a.svg"}, "ends in .csv"},
      {{"sweep", "gpt3-175b-plans", "--format", "jsonl", "--out", "a.csv"}, "ends in .json"},
      {{"timeline", run, "--format", "svg", "--out", "a.png"}, "ends in .svg"},
      {{"topology", "dgx1-v100", "--out", "a.html"}, "ends in .txt"},
      {{"traffic", run, "--format", "csv", "--out", "a.json"}, "ends in .csv"},
      {{"validate", measured_runs(), "--out", "a.csv"}, "ends in .txt"},
      {{"validate", measured_runs(), "--plot", "a.html"}, "--plot: a.html: "},
      {{"validate", measured_runs(), "--residuals", "a.json"}, "--residuals: a.json: "},
      {{"validate", measured_runs(), "--histogram", "a.txt"}, "--histogram: a.txt: "},
      {{"report", "llama3-70b-10t-tokens", "--out", "a.pdf"}, "ends in .html"},
  };
  for (const Case& one : cases) {
    EXPECT_TRUE(contains(refusal_of(titer(one.arguments)), one.expected));
    EXPECT_FALSE(std::filesystem::exists(one.arguments.back()));
  }
}

TEST(AppOutputs, AreWhatTheirNameTells) {
  const TemporaryFolder folder;
  const auto written = [&](const std::vector<std::string>& arguments, const std::string& name) {
    std::vector<std::string> all = arguments;
    all.insert(all.end(), {"--out", (folder.path() / name).string()});
    EXPECT_EQ(titer(all).code, 0);
    return file_text(folder.path() / name);
  };
  const std::vector<std::string> timeline = {
      "timeline", "--schedule=1f1b", "--pipeline=2", "--micro-batches=4"};
  EXPECT_TRUE(written(timeline, "a.svg").starts_with("<svg "));
  EXPECT_TRUE(written(timeline, "a.PDF").starts_with("%PDF"));
  EXPECT_TRUE(contains(written(timeline, "a.tex"), "tikzpicture"));
  EXPECT_TRUE(written(timeline, "a.json").starts_with("{"));
  EXPECT_TRUE(contains(written(timeline, "a.txt"), "stage 1"));
  EXPECT_TRUE(contains(written(timeline, "a.of-mine"), "stage 1"));
  EXPECT_TRUE(contains(written({"topology", "dgx1-v100"}, "a.dot"), "graph"));
  EXPECT_TRUE(written({"traffic", "gpt3-175b-64xa100"}, "a.svg").starts_with("<svg "));
}

}  // namespace TITER_TEST_FILE
}  // namespace titer::testing
