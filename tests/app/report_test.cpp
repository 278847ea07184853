// titer … --report, from the outside: every kind of answer as one page of HTML.

#include <gtest/gtest.h>

#include <array>
#include <cstdlib>

#include "app/program.hpp"
#include "view/csv.hpp"
#include "view/html.hpp"

namespace titer::testing {
namespace TITER_TEST_FILE {

/// A question, and what its report says in large.
struct Question {
  std::string name;
  std::vector<std::string> arguments;
  std::string headline;  // the label of a figure of it
  std::size_t plots = 0;
  std::size_t drawings = 0;
  int code = 0;
};

std::string measured(const char* name) { return (root() / "tests/data/measured" / name).string(); }

const std::vector<Question>& questions() {
  static const std::vector<Question> list = {
      {"run", {"run", "gpt3-175b-64xa100"}, "iteration time", 2, 1},
      {"check", {"check", "gpt3-175b-64xa100"}, "fits in memory", 1, 0},
      {"explain", {"explain", "gpt3-175b-64xa100"}, "iteration time", 2, 0},
      {"capacity", {"capacity", "gpt3-175b", "--devices", "768,1024,8200"}, "fewest devices", 2, 0},
      {"search",
       {"search",
        "llama3-70b-64xh100",
        "--set",
        "space.pipeline=[4,8]",
        "--set",
        "space.schedule=1f1b"},
       "iteration time of the best plan",
       1,
       0},
      {"sensitivity", {"sensitivity", "gpt3-175b-64xa100"}, "what binds most", 2, 0},
      {"tune", {"tune", "gpt3-175b-64xa100"}, "the best change", 1, 0},
      {"compare",
       {"compare",
        "--model",
        "llama3-8b",
        "--cluster",
        "dgx-h100,dgx-a100-80gb",
        "--tokens",
        "100B",
        "--devices",
        "64"},
       "combinations that will do",
       1,
       0},
      {"networks",
       {"compare",
        "llama3-70b-64xh100",
        "--topology",
        "fat-tree-2-level-1024",
        "--oversubscription",
        "1,4",
        "--prices",
        "owned-assumed"},
       "the cheapest",
       1,
       0},
      {"diff",
       {"diff", "gpt3-175b-64xa100", "gpt3-175b-64xa100", "--set-b", "plan.recompute=full"},
       "B over A",
       2,
       0},
      {"sweep", {"sweep", "gpt3-175b-plans"}, "rows that fit", 1, 0},
      {"collective",
       {"collective",
        "--cluster",
        "dgx-h100",
        "--op",
        "all_reduce",
        "--bytes",
        "1MiB",
        "--to",
        "1GiB",
        "--ranks",
        "0-15"},
       "bus bandwidth of 1 GiB",
       1,
       0},
      {"library",
       {"collective",
        "--cluster",
        "dgx-h100",
        "--op",
        "all_reduce",
        "--bytes",
        "1MiB",
        "--ranks",
        "0-15",
        "--library",
        "nccl"},
       "algorithm of 1 MiB",
       0,
       0},
      {"topology", {"topology", "dgx1-v100"}, "devices", 0, 1},
      {"traffic", {"traffic", "mixtral-8x7b-64xh100"}, "of them within nodes", 0, 1},
      {"loads", {"topology", "dgx1-v100", "--all-to-all", "64MiB"}, "busiest link", 1, 1},
      {"validate", {"validate", measured("training_vtrain_single.csv")}, "median error", 0, 3},
      {"support", {"support"}, "measured runs", 0, 0},
      {"trace",
       {"trace", (root() / "tests/data/traces/kineto.json").string()},
       "measured step",
       1,
       0},
      {"doctor",
       {"doctor",
        (root() / "tests/data/doctor/run.json").string(),
        (root() / "tests/data/doctor/train.log").string()},
       "measured iteration",
       1,
       0},
      {"replay",
       {"replay",
        (root() / "tests/data/workloads/pipeline.goal").string(),
        "--cluster",
        "dgx-h100"},
       "makespan",
       0,
       0},
  };
  return list;
}

/// Runs it with a report, which is returned.
std::string report_of(const Question& question, const TemporaryFolder& folder) {
  const std::string path = (folder.path() / (question.name + ".html")).string();
  std::vector<std::string> arguments = question.arguments;
  arguments.insert(arguments.end(), {"--report", path});
  const Outcome outcome = titer(arguments);
  EXPECT_EQ(outcome.code, question.code) << outcome.err;
  EXPECT_EQ(outcome.out, titer(question.arguments).out) << "what is printed stays as it is";
  return file_text(path);
}

class AppReport : public ::testing::TestWithParam<Question> {};

TEST_P(AppReport, SaysTheHeadlineInPicturesAndTables) {
  const TemporaryFolder folder;
  const Report report(report_of(GetParam(), folder));
  bool found = false;
  for (std::size_t i = 1; i <= report.count("//dl/div"); ++i) {
    found = found || report.words(("//dl/div[" + std::to_string(i) + "]/dt").c_str())
                         .starts_with(GetParam().headline);
  }
  EXPECT_TRUE(found) << GetParam().headline;
  EXPECT_EQ(report.count("//figure/svg[@class='plot']"), GetParam().plots);
  EXPECT_EQ(report.count("//figure[starts-with(@class, 'paper')]//svg"), GetParam().drawings);
  EXPECT_EQ(report.count("//svg[@role='img' and not(@aria-label or @aria-labelledby)]"), 0u);
  EXPECT_EQ(report.count("//figure//svg[not(@role)]"), 0u) << "pictures have names";
  EXPECT_FALSE(report.words("//h1").empty());
  EXPECT_TRUE(report.words("//footer/pre").starts_with("titer " + GetParam().arguments.front()));
}

std::string name_of(const ::testing::TestParamInfo<Question>& info) { return info.param.name; }
INSTANTIATE_TEST_SUITE_P(Of, AppReport, ::testing::ValuesIn(questions()), name_of);

TEST(AppReports, HaveTermsAndInputsToRunAgain) {
  const TemporaryFolder folder;
  const Report report(report_of(questions().front(), folder));
  EXPECT_EQ(report.count("//details"), 3u);
  const std::string scenario = folder.file("again.json", report.words("//details[2]/pre"));
  auto again = only_row(data_of(titer({"run", scenario, "--format", "csv"})));
  auto named = only_row(data_of(titer({"run", "gpt3-175b-64xa100", "--format", "csv"})));
  EXPECT_EQ(again["asked"], scenario);
  again["asked"] = named["asked"];
  EXPECT_EQ(again, named);
}

TEST(AppReports, AreTheSameAgain) {
  const TemporaryFolder folder;
  EXPECT_EQ(report_of(questions().front(), folder), report_of(questions().front(), folder));
}

TEST(AppReports, SayWhyATimelineIsLeftOut) {
  const TemporaryFolder folder;
  const Question question{
      "run", {"run", "gpt3-175b-64xa100", "--set", "training.global_batch=4096"}, "", 0, 0, 0};
  const Report report(report_of(question, folder));
  EXPECT_EQ(report.words("//figure[@class='paper large']/figcaption/p"),
            "Left out: 196,608 passes, more than the 20,000 that can be seen apart; `titer "
            "timeline` draws them.")
      << "2 x 4096 micro-batches x 3 chunks x 8 stages";
}

TEST(AppReports, AreRefusedBeforeAnyWork) {
  EXPECT_TRUE(
      contains(refusal_of(titer({"run", "gpt3-175b-64xa100", "--report", "/no/such/a.html"})),
               "/no/such/a.html"));
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "a.html").string();
  EXPECT_EQ(titer({"run", "no-such-run", "--report", path}).code, 2);
  EXPECT_FALSE(std::filesystem::exists(path)) << "whole or not at all";
  EXPECT_TRUE(contains(
      refusal_of(titer({"sweep", "gpt3-175b-plans", "--format", "jsonl", "--report", path})),
      "--format csv"));
}

TEST(AppPlots, AreTheChartsOfAnAnswer) {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "plot.svg").string();
  for (const Question& question : questions()) {
    const std::string& name = question.name;
    const bool draws = name != "explain" && name != "check" && name != "trace" && name != "loads";
    if (!draws || question.plots == 0) {
      continue;
    }
    std::vector<std::string> arguments = question.arguments;
    arguments.insert(arguments.end(), {"--plot", path});
    EXPECT_EQ(titer(arguments).code, 0) << name;
    EXPECT_EQ(Report(file_text(path)).count("/svg/g"), question.plots) << name;
  }
}

/// In a paper nothing else does.
TEST(AppPlots, SayWhatTheyAreOf) {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "plot.svg").string();
  const auto words_of = [&](const std::vector<std::string>& question) {
    std::vector<std::string> arguments = question;
    arguments.insert(arguments.end(), {"--plot", path});
    EXPECT_EQ(titer(arguments).code, 0);
    pugi::xml_document tree;
    tree.load_string(file_text(path).c_str());
    std::string words;
    for (const auto& node : tree.select_nodes("//text")) {
      words += std::string(node.node().child_value()) + " ";
    }
    return words;
  };
  EXPECT_TRUE(contains(words_of({"run", "gpt3-175b-64xa100"}), "GPT-3 175B on 64 x NVIDIA A100"));
  EXPECT_TRUE(contains(words_of({"diff", "gpt3-175b-64xa100", "llama3-70b-64xh100"}),
                       ": 1f1b against Llama 3 70B on 64 x NVIDIA H100"));
}

/// Of few numbers, which are not between each other: as far apart as they are multiplied.
TEST(AppPlots, HaveTheNumbersOfASweepAtTheirAxis) {
  const TemporaryFolder folder;
  const std::string sweep = folder.file("sweep.json", R"({"scenario": "gpt3-175b-64xa100",
    "axes": {"training.global_batch": [64, 128, 256], "plan.virtual_stages": [1, 3]}})");
  const std::string path = (folder.path() / "plot.svg").string();
  ASSERT_EQ(titer({"sweep", sweep, "--plot", path}).code, 0);
  pugi::xml_document tree;
  tree.load_string(file_text(path).c_str());
  std::vector<std::string> words;
  std::vector<double> x;
  for (const auto& node : tree.select_nodes("//text[@class='small mid']")) {
    words.emplace_back(node.node().child_value());
    x.push_back(node.node().attribute("x").as_double());
  }
  ASSERT_EQ(words, (std::vector<std::string>{"64", "128", "256", "training.global_batch"}));
  EXPECT_NEAR(x[1] - x[0], x[2] - x[1], 0.2);
}

TEST(AppPlots, AreOfCharactersBelowTextWithoutAFile) {
  const std::string text = data_of(titer({"run", "gpt3-175b-64xa100"}));
  const std::string with_charts = data_of(titer({"run", "gpt3-175b-64xa100", "--plot"}));
  EXPECT_TRUE(with_charts.starts_with(text + "\nWhere the time goes\n"));
  EXPECT_TRUE(contains(with_charts, "█"));
  EXPECT_TRUE(contains(refusal_of(titer({"run", "gpt3-175b-64xa100", "--format", "csv", "--plot"})),
                       "--plot: expected a FILE.svg"));
  EXPECT_TRUE(contains(refusal_of(titer({"sweep", "gpt3-175b-plans", "--plot"})), "--out FILE"));
}

TEST(AppPlots, AreRefusedWhereThereAreNone) {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "plot.svg").string();
  std::vector<std::string> arguments = {"collective",
                                        "--cluster",
                                        "dgx-h100",
                                        "--op",
                                        "all_reduce",
                                        "--bytes",
                                        "1MiB",
                                        "--ranks",
                                        "0",
                                        "--plot",
                                        path};
  EXPECT_TRUE(contains(refusal_of(titer(arguments)), "--plot: this answer has no chart"));
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_TRUE(contains(
      refusal_of(titer({"run", "gpt3-175b-64xa100", "--plot", path, "--report", path})), path));
}

/// Its console's messages come on standard error.
TEST(AppReports, HaveNoErrorInABrowser) {
  if (std::system("command -v chromium >/dev/null 2>&1") != 0) {  // NOLINT(cert-env33-c)
    GTEST_SKIP() << "chromium is not installed";
  }
  const TemporaryFolder folder;
  for (const Question& question : questions()) {
    static_cast<void>(report_of(question, folder));
    const std::string page = (folder.path() / question.name).string();
    const std::string command =
        "chromium --headless --no-sandbox --disable-gpu --disable-quic --no-first-run "
        "--disable-background-networking --disable-component-update --disable-sync "
        "--enable-logging=stderr --v=0 --user-data-dir=" +
        page + ".profile --dump-dom file://" + page + ".html >" + page + ".dom 2>" + page + ".log";
    ASSERT_EQ(std::system(command.c_str()), 0);  // NOLINT(cert-env33-c)
    EXPECT_EQ(file_text(page + ".log").find("CONSOLE"), std::string::npos)
        << question.name << ": " << file_text(page + ".log");
    EXPECT_TRUE(contains(file_text(page + ".dom"), "id=\"tip\"")) << "its script ran";
  }
}

}  // namespace TITER_TEST_FILE
}  // namespace titer::testing
