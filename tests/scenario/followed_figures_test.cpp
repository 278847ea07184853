// Figures that follow another one rather than hold a copy of its number.

#include "titer/scenario/followed_figures.hpp"

#include <gtest/gtest.h>

#include "temporary_folder.hpp"
#include "titer/hardware/chip.hpp"
#include "titer/input/read_document.hpp"
#include "titer/scenario/data_files.hpp"

namespace titer::testing {
namespace TITER_TEST_FILE {

Chip chip_of(const std::string& path) {
  return read_document(load_data(kChipData, path), read_chip);
}

/// A chip that starts from the H100, with these members besides.
std::string chip_text(const std::string& more) {
  return R"({"name": "mine", "base": "h100-sxm5-80gb", "sources": {"mine": "our guess"}, )" + more +
         "}\n";
}

std::string refusal(const std::string& path) {
  try {
    (void)chip_of(path);
  } catch (const InputError& error) {
    EXPECT_EQ(error.lines.size(), 1U);
    return error.lines.front();
  }
  return "none";
}

TEST(FollowedFigures, AreThoseOfTheOtherWithASourceOfTheirOwn) {
  const TemporaryFolder folder;
  const Chip other = chip_of("b200-sxm");
  const Chip chip = chip_of(folder.file("mine.json", chip_text(R"("launch_floor":
    {"figure": "launch_floor", "of": "b200-sxm", "source": "mine"},
    "graph_start": {"figure": "graph_start", "of": "b200-sxm", "times": 0.5})")));
  EXPECT_EQ(chip.launch_floor, other.launch_floor);
  EXPECT_EQ(chip.evidence.source("launch_floor"), "our guess");
  EXPECT_EQ(chip.evidence.grade("launch_floor"), Grade::datasheet);  // as the source is called
  EXPECT_NEAR(chip.graph_start / other.graph_start, 0.5, 1e-5);
  EXPECT_EQ(chip.evidence.source("graph_start"), "given by the user");
}

TEST(FollowedFigures, OfTheSameFileFollowWhatAnHeirChanges) {
  const TemporaryFolder folder;
  (void)folder.file("base.json", chip_text(R"("matrix": {"fp32": {"plateau":
    {"figure": "matrix.bf16.plateau", "source": "mine"}}, "tf32": {"plateau":
    {"figure": "matrix.fp32.plateau", "source": "mine"}}})"));
  const Chip base = chip_of(folder.path() / "base.json");
  EXPECT_EQ(base.rate(DataType::tf32)->plateau, base.rate(DataType::bf16)->plateau);
  const Chip heir = chip_of(folder.file(
      "heir.json",
      R"({"name": "heir", "base": "./base.json", "matrix": {"bf16": {"plateau": 0.5}}})"));
  EXPECT_EQ(heir.rate(DataType::fp32)->plateau, 0.5);
  EXPECT_EQ(heir.rate(DataType::tf32)->plateau, 0.5);
  EXPECT_EQ(heir.evidence.source("matrix.tf32.plateau"), "as mine: our guess");
}

TEST(FollowedFigures, GrowWithWhatStandsBesideBoth) {
  const TemporaryFolder folder;
  const Chip chip = chip_of(folder.file("mine.json", chip_text(R"("matrix": {"fp8": {
    "peak": "2 PFLOP/s", "plateau": 0.5, "saturation": {"figure": "matrix.bf16.saturation",
    "of": "b200-sxm", "in_proportion_to": ["peak", "plateau"], "source": "mine"}}})")));
  const Chip other = chip_of("b200-sxm");
  const MatrixRate& rate = *chip.rate(DataType::fp8);
  const MatrixRate& theirs = *other.rate(DataType::bf16);
  // The same time, F / (eta P).
  EXPECT_NEAR((rate.saturation / (rate.plateau * rate.peak)) /
                  (theirs.saturation / (theirs.plateau * theirs.peak)),
              1.0,
              1e-5);
}

TEST(FollowedFigures, OfAListGoByName) {
  const Document document =
      parse_json(R"({"protocols": [{"name": "slow", "latency": {"value": "9 us", "source": "s"}},
    {"name": "fast", "latency": {"figure": "protocols.slow.latency", "times": 0.5}}]})",
                 "made");
  Value root = document.root;
  const NamedData none = [](const Value& /*of*/) -> Value& { throw InputError("none"); };
  follow_figures(document, root, none);
  EXPECT_EQ(root.find("protocols")->items[1].find("latency")->find("value")->text, "4.5 us");
}

TEST(FollowedFigures, GrowWithEnergiesToo) {
  const Document document = parse_json(
      R"({"old": {"rest": "2 J", "power": "300 W"},
          "new": {"rest": "6 J", "power": {"figure": "old.power", "in_proportion_to": ["rest"]}}})",
      "made");
  Value root = document.root;
  const NamedData none = [](const Value& /*of*/) -> Value& { throw InputError("none"); };
  follow_figures(document, root, none);
  EXPECT_EQ(root.at("new.power.value")->text, "900 W");
}

TEST(FollowedFigures, OfPathsAreThoseFromTheirOwnFolder) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder.path() / "inner");
  const std::string link = R"({"figure": "graph_start", "of": "./other.json"})";
  (void)folder.file("other.json", chip_text(R"("graph_start": "9 us")"));
  (void)folder.file("inner/other.json", chip_text(R"("graph_start": "5 us")"));
  (void)folder.file("inner/between.json", chip_text("\"graph_start\": " + link));
  const Chip chip = chip_of(folder.file("mine.json",
                                        chip_text(R"("graph_start": {"figure":
    "graph_start", "of": "./inner/between.json"}, "launch_floor": )" +
                                                  link)));
  EXPECT_EQ(chip.graph_start, 5_us);
  EXPECT_EQ(chip.launch_floor, 9_us);
}

TEST(FollowedFigures, ThatAreWrongGetOneLineWithTheirPlace) {
  const TemporaryFolder folder;
  const auto refused = [&](const std::string& figure) {
    const std::string path =
        folder.file("x.json", "\n" + chip_text("\n\"launch_floor\": " + figure));
    const std::string line = refusal(path);
    EXPECT_EQ(line.rfind(path + ":3:", 0), 0U) << line;
    return line.substr(line.find(": ") + 2);
  };
  EXPECT_EQ(refused(R"({"figure": "launch_flor", "of": "b200-sxm"})"),
            "figure: launch_flor: b200-sxm has no such figure");
  EXPECT_EQ(refused(R"({"figure": "matrix.fp32.launch"})"),
            "figure: matrix.fp32.launch: this file has no such figure");
  EXPECT_EQ(refused(R"({"figure": "launch_floor", "of": "b200-sx"})")
                .rfind("of: b200-sx: no shipped chip has this name; did you mean \"b200-sxm\"?", 0),
            0U);
  EXPECT_EQ(refused(R"({"figure": "launch_floor", "of": 7})"),
            "of: expected the name or file of a chip");
  EXPECT_EQ(refused(R"({"figure": 7})"),
            "figure: expected the path of a figure, such as \"matrix.bf16.plateau\"");
  EXPECT_EQ(refused(R"({"figure": "matrix.bf16"})"),
            "figure: matrix.bf16: expected the path of a figure, a number or a quantity");
  EXPECT_EQ(refused(R"({"figure": "launch_floor"})"),
            "figure: launch_floor: it follows itself; expected another figure");
  EXPECT_EQ(refused(R"({"figure": "graph_start", "times": "2"})"),
            "times: expected a factor above 0");
  EXPECT_EQ(refused(R"({"figure": "graph_start", "in_proportion_to": "peak"})"),
            "in_proportion_to: expected a list of keys beside the figure");
  EXPECT_EQ(refused(R"({"figure": "graph_start", "in_proportion_to": ["pek"]})"),
            "in_proportion_to: pek: expected a figure above 0 beside both");
  EXPECT_EQ(refused(R"({"figure": "graph_start", "value": "4 us"})"),
            "value: expected none beside a figure to follow");
  EXPECT_NE(refused(R"({"figure": "matrix.bf16.plateau"})").find("expected a time with its unit"),
            std::string::npos);
  EXPECT_EQ(refused(R"({"figure": "launch_floor", "of": "./x.json"})"),
            "of: ./x.json: it leads back to itself; expected another chip");
}

TEST(FollowedFigures, GoInCirclesNowhere) {
  const TemporaryFolder folder;
  const std::string path = folder.file("x.json", chip_text(R"("launch_floor":
    {"figure": "graph_start"}, "graph_start": {"figure": "launch_floor"})"));
  EXPECT_NE(refusal(path).find("figure: graph_start: it follows itself; expected another figure"),
            std::string::npos)
      << refusal(path);
}

TEST(FollowedFigures, HaveValuesInScenariosThatMayBeReplaced) {
  ScenarioSource source = ScenarioSource::load("llama3-70b-64xh100");
  source.assign(parse_assignment(
      R"(cluster.chip.launch_floor={"figure": "launch_floor", "of": "b200-sxm"})"));
  EXPECT_EQ(source.read().cluster.chip.launch_floor, chip_of("b200-sxm").launch_floor);
  source.assign(parse_assignment("cluster.chip.launch_floor.value=7 us"));
  EXPECT_EQ(source.read().cluster.chip.launch_floor, 7_us);
  source.assign(parse_assignment("cluster.chip.launch_floor.times=2"));
  EXPECT_THROW((void)source.read(), InputError);  // nothing is followed any more
}

TEST(FollowedFigures, AreWrittenAsWhatTheyFollow) {
  const TemporaryFolder folder;
  const std::string path = folder.file("mine.json", chip_text(R"("launch_floor":
    {"figure": "launch_floor", "of": "b200-sxm", "source": "mine"}, "graph_start":
    {"figure": "graph_start", "of": "./other.json", "source": "mine"}, "matrix": {"fp32":
    {"plateau": {"figure": "matrix.bf16.plateau", "source": "mine"}}})"));
  (void)folder.file("other.json", chip_text(R"("graph_start": "9 us")"));
  Document written = load_data(kChipData, path);
  written.root.find("launch_floor")->find("source")->text = "measured";  // as a fit does
  restore_followed(written.root, load_open(kChipData, path).root);
  EXPECT_FALSE(follows(*written.at("launch_floor")));
  EXPECT_EQ(written.at("matrix.fp32.plateau.figure")->text, "matrix.bf16.plateau");
  EXPECT_EQ(written.at("matrix.fp32.plateau.value"), nullptr);
  EXPECT_EQ(written.at("graph_start.value")->text, "9 us");  // its path leads nowhere elsewhere
  EXPECT_FALSE(follows(*written.at("graph_start")));
}

}  // namespace TITER_TEST_FILE
}  // namespace titer::testing
