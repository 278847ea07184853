// The tables of measured runs that come with the project: which rows say too little, and how far
// off the others are.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>

#include "paths.hpp"
#include "repetitions.hpp"
#include "titer/measured/dataset.hpp"

namespace titer {
namespace TITER_TEST_FILE {

std::vector<Comparison> rows_of(const std::string& table) {
  return compare_dataset(testing::root() / "tests/data/measured" / table);
}

/// The reason without what is of one row: numbers, and what stands in quotes.
std::string kind_of(const std::string& reason) {
  for (const char* kind : {"not stated", "not modelled", "no slice of", "another accumulation"}) {
    if (reason.find(kind) != std::string::npos) {
      return kind;
    }
  }
  return reason.substr(0, reason.find(':'));
}

// What a row does not state is its source's; what is not modelled is ours.
TEST(RunTables, SkipFewRowsAndForFewReasons) {
  if (testing::kSanitized) {
    GTEST_SKIP() << "a sanitizer sees the same code in the rows of one table";
  }
  int rows = 0;
  int skipped = 0;
  std::map<std::string, int> reasons;
  for (const char* table : {"training.csv", "training_2.csv", "training_vtrain_single.csv"}) {
    for (const Comparison& row : rows_of(table)) {
      ++rows;
      if (!row.skip_reason.empty()) {
        ++skipped;
        ++reasons[kind_of(row.skip_reason)];
      }
    }
  }
  EXPECT_EQ(rows, 771 + 456 + 504);
  EXPECT_LE(skipped, rows / 10);
  EXPECT_EQ(reasons,
            (std::map<std::string, int>{{"not stated", 67 + 8},
                                        {"not modelled", 7 + 6},
                                        {"no slice of", 1},
                                        {"another accumulation", 2},
                                        {"plan.expert", 1}}));
}

// What is reached without a fit to these, rounded up.
TEST(RunTables, AreMetByWhatWasFittedToOthers) {
  struct Bound {
    int rows;
    double mean;
  };
  const std::map<std::string, Bound> bounds = {{"bloom_prequel", {61, 0.14}},
                                               {"aws_trn1", {32, 0.13}},
                                               {"megascale", {14, 0.12}},
                                               {"mlperf_llama2_70b_lora_v40_nvidia", {16, 0.14}},
                                               {"mlperf_llama2_70b_lora_v50_amd", {10, 0.14}},
                                               {"maxtext_v5p", {9, 0.14}},
                                               {"zero_bubble_pp", {6, 0.08}},
                                               {"tpu_recipes_trillium", {6, 0.14}}};
  std::map<std::string, std::pair<int, double>> sums;
  for (const Comparison& row : rows_of("training_2.csv")) {
    if (row.measured && row.predicted) {
      auto& [count, sum] = sums[row.family];
      ++count;
      sum += std::abs(*row.predicted / *row.measured - 1.0);
    }
  }
  for (const auto& [family, bound] : bounds) {
    SCOPED_TRACE(family);
    EXPECT_GE(sums[family].first, bound.rows);
    EXPECT_LE(sums[family].second / sums[family].first, bound.mean);
  }
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
