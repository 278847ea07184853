#include "titer/measured/support.hpp"

#include <gtest/gtest.h>

#include "titer/input/input_error.hpp"
#include "titer/scenario/source.hpp"

namespace titer::testing {
namespace TITER_TEST_FILE {

Comparison run(std::string model, double measured, double predicted) {
  Comparison made{.case_id = {}, .family = {}, .chip = {}, .stack = {}, .grade = {}, .sweep = {}};
  made.measured = measured;
  made.predicted = predicted;
  made.model = std::move(model);
  made.chip_name = "c";
  made.stack_name = "s";
  made.precision = "bf16";
  return made;
}

TEST(Support, AveragesRunsOfOneCombination) {
  std::vector<Comparison> rows = {
      run("dense", 10, 11), run("mixture of experts", 10, 15), run("dense", 10, 7)};
  rows.push_back(run("dense", 10, 20));
  rows.back().predicted.reset();
  rows.push_back(run("", 10, 20));
  rows.back().precision.clear();  // a kernel
  const std::vector<SupportCell> cells = support_cells(rows);
  ASSERT_EQ(cells.size(), 2u);
  EXPECT_EQ(cells[0].combination, (Combination{"dense", "c", "s", "bf16"}));
  EXPECT_EQ(cells[0].runs, 2u);
  EXPECT_NEAR(cells[0].mean_error, (0.1 + 0.3) / 2, 1e-12);
  EXPECT_NEAR(cells[0].bias, (0.1 - 0.3) / 2, 1e-12);
  EXPECT_EQ(cells[1].runs, 1u);
}

TEST(Support, TellsKindsOfModelsApart) {
  const auto kind = [](const std::string& run_name, const std::vector<Assignment>& changes = {}) {
    ScenarioSource source = ScenarioSource::load(run_name);
    for (const Assignment& change : changes) {
      source.assign(change);
    }
    return combination_of(source.read()).model;
  };
  EXPECT_EQ(kind("gpt3-175b-64xa100"), "dense");
  EXPECT_EQ(kind("mixtral-8x7b-64xh100"), "mixture of experts");
  EXPECT_EQ(kind("resnet-50-8xa100"), "layered");
  EXPECT_EQ(kind("flux.1-dev-64xh100"), "denoiser");
  EXPECT_EQ(
      kind("gpt3-175b-64xa100",
           {{"model", Value("bert-large"), "test"}, {"training.sequence", Value(512.0), "test"}}),
      "encoder");
  EXPECT_EQ(kind("gpt3-175b-64xa100", {{"model", Value("nemotron-h-8b"), "test"}}), "hybrid");
}

TEST(Support, ReadsItsOwnTable) {
  const std::string header = "model,chip,stack,precision,runs,mean_error_pct,bias_pct\n";
  const std::vector<SupportCell> cells =
      read_support(CsvTable::parse(header + "dense,c,s,fp8,3,4.5,-2.5\n", "t.csv"));
  ASSERT_EQ(cells.size(), 1u);
  EXPECT_EQ(cells[0].combination, (Combination{"dense", "c", "s", "fp8"}));
  EXPECT_EQ(cells[0].runs, 3u);
  EXPECT_DOUBLE_EQ(cells[0].mean_error, 4.5 / 100);
  EXPECT_DOUBLE_EQ(cells[0].bias, -2.5 / 100);
  EXPECT_THROW(static_cast<void>(
                   read_support(CsvTable::parse(header + "dense,c,s,fp8,none,4,2\n", "t.csv"))),
               InputError);
}

TEST(Support, OfThePublicRunsIsShipped) {
  const std::vector<SupportCell> cells = shipped_support();
  EXPECT_GT(cells.size(), 50u);
  std::size_t runs = 0;
  for (const SupportCell& cell : cells) {
    EXPECT_TRUE(is_shipped(kChipData, cell.combination.chip)) << cell.combination.chip;
    EXPECT_TRUE(is_shipped(kStackData, cell.combination.stack)) << cell.combination.stack;
    runs += cell.runs;
  }
  EXPECT_GT(runs, 1500u);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer::testing
