// titer validate, from the outside.

#include <gtest/gtest.h>

#include <filesystem>

#include "paths.hpp"
#include "titer/input/document.hpp"
#include "view/csv.hpp"

namespace titer::testing {
namespace TITER_TEST_FILE {

std::string measured(const std::string& file) {
  return (root() / "tests/data/measured" / file).string();
}

TEST(AppValidate, ComparesTrainingRuns) {
  const std::string text = data_of(titer({"validate", measured("training.csv"), "--by", "family"}));
  EXPECT_TRUE(text.starts_with("771 rows: ")) << text;
  EXPECT_TRUE(contains(text, "\n  vtrain_multi "));
  EXPECT_TRUE(contains(text, "\nskipped: "));
  EXPECT_TRUE(contains(text, "\nmemory\n"));
}

/// Rows of one run are told apart by what their columns change, and their plans held against one
/// another.
TEST(AppValidate, HoldsPlansOfOwnRunsAgainstOneAnother) {
  const TemporaryFolder folder;
  const std::string file = folder.file("runs.csv",
                                       "run,iter_time_s,plan.micro_batch,plan.tensor,plan.data\n"
                                       "llama3-70b-64xh100,19.9,1,8,2\n"
                                       "llama3-70b-64xh100,18.2,1,4,4\n"
                                       "llama3-70b-64xh100,22.0,2,8,2\n"
                                       "llama3-70b-64xh100,16.0,2,4,4\n");
  const std::string text = data_of(titer({"validate", file}));
  EXPECT_TRUE(contains(text, "llama3-70b-64xh100, plan.micro_batch 2, plan.tensor 8, plan.data 2 "))
      << text;
  const Document json = parse_json(data_of(titer({"validate", file, "--format=json"})), "out");
  EXPECT_EQ(json.at("decisions.rows")->integer, 4) << to_json(json.root);
}

/// What a row was read as can be asked again by a run that says the same.
TEST(AppValidate, ExplainsARow) {
  const std::string table = measured("training.csv");
  const std::string text = data_of(titer({"validate", table, "--explain", "zero_bubble_pp-001"}));
  EXPECT_TRUE(text.starts_with("zero_bubble_pp-001: ")) << text;
  EXPECT_TRUE(contains(text, "\n  software megatron-lm, cluster "));
  EXPECT_TRUE(contains(text, " --set plan.pipeline="));
  EXPECT_TRUE(contains(text, "\n  iteration time = "));
  const auto json = parse_json(
      data_of(titer({"validate", table, "--explain", "zero_bubble_pp-001", "--format=json"})), "o");
  const auto rows =
      parse_csv(data_of(titer({"validate", table, "--family", "zero_bubble_pp", "--format=csv"})));
  const auto at = [&](const std::string& column) {
    return static_cast<std::size_t>(std::find(rows[0].begin(), rows[0].end(), column) -
                                    rows[0].begin());
  };
  EXPECT_EQ(rows[1][at("case_id")], "zero_bubble_pp-001");
  EXPECT_DOUBLE_EQ(json.at("predicted_s")->number, std::stod(rows[1][at("predicted_s")]));
}

TEST(AppValidate, ExplainsRowsOfOwnRuns) {
  const TemporaryFolder folder;
  const std::string file = folder.file("runs.csv",
                                       "run,iter_time_s,plan.micro_batch\n"
                                       "llama3-70b-64xh100,19.9,1\n"
                                       "llama3-70b-64xh100,22.0,2\n");
  const std::string row = "llama3-70b-64xh100, plan.micro_batch 2";
  const std::string text = data_of(titer({"validate", file, "--explain", row}));
  EXPECT_TRUE(text.starts_with(row + ": ")) << text;
  EXPECT_TRUE(contains(text, " s predicted, 22 s measured ("));
  EXPECT_TRUE(contains(text, " --set plan.micro_batch=2"));
  EXPECT_EQ(refusal_of(titer({"validate", file, "--explain", row, "--given", "3"})),
            "expected one of --explain, --given and --trace");
  const std::string plot = (folder.path() / "plot.svg").string();
  EXPECT_EQ(refusal_of(titer({"validate", file, "--explain", row, "--plot", plot})),
            "--plot: expected tables alone: there is no such picture with --explain, --given or "
            "--trace");
  EXPECT_FALSE(std::filesystem::exists(plot));
  EXPECT_EQ(
      refusal_of(titer({"validate", file, "--explain", "llama3-70b-64xh100, plan.micro_batch 3"})),
      "--explain: llama3-70b-64xh100, plan.micro_batch 3: expected the name of a run of " + file +
          "; did you mean \"llama3-70b-64xh100, plan.micro_batch 1\"?");
  EXPECT_TRUE(contains(
      refusal_of(titer({"validate", measured("training.csv"), "--explain", "bigscience_v100-047"})),
      "--explain: bigscience_v100-047: "));
}

TEST(AppValidate, GivesEveryRowOfAllTablesInJson) {
  const std::string out =
      data_of(titer({"validate",
                     measured("collectives/allreduce_1n8gpu_h100_sxm_aiconf.csv"),
                     measured("kernels/h100_sxm_mla.csv"),
                     "--by",
                     "chip",
                     "--format",
                     "json"}));
  const Document json = parse_json(out, "out");
  const std::int64_t rows = 21 + 528;
  EXPECT_EQ(static_cast<std::int64_t>(json.at("rows")->items.size()), rows);
  EXPECT_EQ(json.at("groups.0.n")->integer + json.at("groups.0.skipped")->integer, rows);
  EXPECT_GE(json.at("groups")->items.size(), 2u);
}

TEST(AppValidate, KeepsTheFamiliesAskedFor) {
  const std::string csv = data_of(titer({"validate",
                                         measured("training.csv"),
                                         "--family",
                                         "libai",
                                         "--family",
                                         "internevo",
                                         "--format",
                                         "csv"}));
  EXPECT_EQ(parse_csv(csv).size(), 1u + 84 + 54);
  const std::string products = measured("kernels/h100_sxm_gemm.csv");
  EXPECT_TRUE(
      contains(refusal_of(titer({"validate", measured("training.csv"), "--measured", products})),
               "--measured: expected a table of kernels, which measured products correct, among "))
      << "nothing to be corrected";
  EXPECT_EQ(refusal_of(titer(
                {"validate", measured("training.csv"), "--given", "3", "--measured", products})),
            "--measured: expected tables of kernels, not --given");
  EXPECT_EQ(refusal_of(titer({"validate", measured("training.csv"), "--family", "libia"})),
            "--family libia: no row is of this family; did you mean \"libai\"?");
}

TEST(AppValidate, WritesPicturesAndTheReportToFiles) {
  const TemporaryFolder folder;
  const std::string plot = (folder.path() / "plot.svg").string();
  const std::string residuals = (folder.path() / "residuals.svg").string();
  const std::string histogram = (folder.path() / "histogram.svg").string();
  const std::string report = (folder.path() / "report.txt").string();
  const Outcome outcome = titer({"validate",
                                 measured("training.csv"),
                                 "--plot",
                                 plot,
                                 "--residuals",
                                 residuals,
                                 "--histogram",
                                 histogram,
                                 "--out",
                                 report});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.out + outcome.err, "");
  EXPECT_TRUE(file_text(plot).starts_with("<svg "));
  EXPECT_TRUE(file_text(residuals).starts_with("<svg "));
  EXPECT_TRUE(file_text(histogram).starts_with("<svg "));
  EXPECT_TRUE(file_text(report).starts_with("771 rows: "));
  EXPECT_TRUE(contains(
      refusal_of(titer({"validate", measured("training.csv"), "--plot", plot, "--out", plot})),
      "expected a file of its own"));
}

TEST(AppValidate, WritesNothingIfATableIsWrong) {
  const TemporaryFolder folder;
  const std::string plot = (folder.path() / "plot.svg").string();
  const std::string unknown = folder.file("x.csv", "a,b\n1,2\n");
  const Outcome outcome =
      titer({"validate", unknown, measured("training.csv"), "none.csv", "--plot", plot});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.out, "");
  ASSERT_EQ(outcome.errors().size(), 2u) << outcome.err;
  EXPECT_TRUE(contains(outcome.errors()[0], unknown + ":1: a, b: expected the columns of"));
  EXPECT_TRUE(outcome.errors()[1].starts_with("none.csv: "));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
}

TEST(AppValidate, SkipsARowWithACellThatIsNoNumber) {
  const TemporaryFolder folder;
  std::string text = file_text(measured("training.csv"));
  const std::string word = ",1.076,";
  text.replace(text.find(word), word.size(), ",fast,");
  const std::string path = folder.file("runs.csv", text);
  const Outcome outcome = titer({"validate", path});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_TRUE(contains(outcome.out, "iter_time_s \"fast\" is no number")) << outcome.out;
}

TEST(AppValidate, AnswersWhetherTheMeanErrorIsSmallEnough) {
  const std::string table = measured("collectives/allreduce_1n8gpu_h100_sxm_aiconf.csv");
  EXPECT_EQ(titer({"validate", table, "--fail-above", "1000"}).code, 0);
  const Outcome strict = titer({"validate", table, "--fail-above", "0"});
  EXPECT_EQ(strict.code, 1);
  EXPECT_FALSE(strict.out.empty()) << "the answer comes with the report";
  EXPECT_EQ(titer({"validate", measured("collectives/INDEX.csv"), "--fail-above", "1000"}).code, 1)
      << "of no row nothing is shown";
  const Document json = parse_json(data_of(titer({"validate", table, "--format", "json"})), "out");
  const double percent = json.at("groups.0.mape_pct")->number;
  for (const double factor : {0.99, 1.01}) {
    const std::string limit = std::to_string(factor * percent);
    EXPECT_EQ(titer({"validate", table, "--fail-above", limit}).code, factor < 1 ? 1 : 0) << limit;
  }
}

TEST(AppValidate, RefusesWhatItCannotGroupBy) {
  EXPECT_EQ(refusal_of(titer({"validate", measured("training.csv"), "--by", "famly"})),
            "--by: famly: expected family, chip, stack; did you mean \"family\"?");
}

TEST(AppValidate, ListsAsManyOfTheWorstRowsAsAskedFor) {
  const std::string table = measured("training.csv");
  EXPECT_TRUE(
      contains(data_of(titer({"validate", table, "--worst", "3"})), "farthest off: 3 rows"));
  EXPECT_TRUE(contains(refusal_of(titer({"validate", table, "--worst", "-3"})), "--worst"));
}

TEST(AppValidate, SaysTheSameTwice) {
  const std::vector<std::string> arguments = {
      "validate", measured("training_vtrain_single.csv"), "--format", "json"};
  EXPECT_EQ(data_of(titer(arguments)), data_of(titer(arguments)));
}

}  // namespace TITER_TEST_FILE
}  // namespace titer::testing
