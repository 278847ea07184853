// The memory of measured runs, as this program predicts it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "paths.hpp"
#include "titer/input/csv.hpp"
#include "titer/measured/run_comparison.hpp"
#include "titer/search/search.hpp"

namespace titer {
namespace TITER_TEST_FILE {

/// At least so many rows compared, and errors no larger.
struct Bound {
  int rows;
  double mean;
  double most;
};

struct Family {
  int rows = 0;
  double sum = 0;
  double most = 0;
};

std::map<std::string, Family> families() {
  std::map<std::string, Family> by_name;
  const std::string path = testing::root().string() + "/tests/data/measured/training.csv";
  for (const Comparison& row : compare_runs(CsvTable::load(path))) {
    if (!row.memory_measured || !row.memory_predicted) {
      continue;
    }
    const double error = std::abs(*row.memory_predicted / *row.memory_measured - 1.0);
    Family& family = by_name[row.family];
    ++family.rows;
    family.sum += error;
    family.most = std::max(family.most, error);
  }
  return by_name;
}

// What is reached, rounded up. Tensors as the framework counts them are met; what the driver tells
// of 2021's runs is rounded to GiB, and InternEvo's table has tens of GiB that no tensor explains.
TEST(MeasuredMemory, OfPublicRunsIsMet) {
  const std::map<std::string, Bound> bounds = {{"simumax_b200", {22, 0.006, 0.035}},
                                               {"zero_bubble_pp", {8, 0.015, 0.03}},
                                               {"bigscience_1b3_v100", {23, 0.11, 0.28}},
                                               {"bigscience_v100", {5, 0.22, 0.3}},
                                               {"internevo_mem", {11, 0.42, 0.53}}};
  const std::map<std::string, Family> by_name = families();
  for (const auto& [name, bound] : bounds) {
    SCOPED_TRACE(name);
    ASSERT_TRUE(by_name.contains(name));
    const Family& family = by_name.at(name);
    EXPECT_GE(family.rows, bound.rows);
    EXPECT_LE(family.sum / family.rows, bound.mean);
    EXPECT_LE(family.most, bound.most);
  }
}

// Of all families but one, which is not explained at all: what searches keep free.
TEST(MeasuredMemory, IsAsFarOffAsSearchesKeepFree) {
  int rows = 0;
  double sum = 0;
  for (const auto& [name, family] : families()) {
    if (name != "internevo_mem") {
      rows += family.rows;
      sum += family.sum;
    }
  }
  EXPECT_GE(rows, 59);
  EXPECT_NEAR(kMemoryError, sum / rows, 0.01);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
