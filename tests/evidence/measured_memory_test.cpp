// The memory of measured runs, as this program predicts it.
#include "evidence/measured_memory.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace titer {
namespace {

using measured::Prediction;

/// At least so many rows compared, and errors no larger.
struct Bound {
  int rows;
  double mean;
  double most;
};

struct Family {
  int rows = 0;
  int compared = 0;
  double bias = 0;
  double mean = 0;
  double most = 0;
  std::map<std::string, int> skipped;
};

std::map<std::string, Family> families(const std::vector<Prediction>& all) {
  std::map<std::string, Family> by_name;
  for (const Prediction& one : all) {
    Family& family = by_name[one.family + " (" + one.grade + ")"];
    ++family.rows;
    if (!one.skipped.empty()) {
      ++family.skipped[one.skipped];
      continue;
    }
    ++family.compared;
    family.bias += one.error();
    family.mean += std::abs(one.error());
    family.most = std::max(family.most, std::abs(one.error()));
  }
  for (auto& [name, family] : by_name) {
    const double n = std::max(1, family.compared);
    family.bias /= n;
    family.mean /= n;
  }
  return by_name;
}

void print(const std::map<std::string, Family>& all) {
  for (const auto& [name, family] : all) {
    fmt::print("{:28} {:3} of {:3} rows  bias {:+6.1f} %  mean {:5.1f} %  most {:5.1f} %\n",
               name,
               family.compared,
               family.rows,
               100 * family.bias,
               100 * family.mean,
               100 * family.most);
    for (const auto& [reason, count] : family.skipped) {
      fmt::print("    {} skipped: {}\n", count, reason);
    }
  }
}

TEST(MeasuredMemory, OfPublicRunsIsMet) {
  if (!std::filesystem::exists(measured::kFolder)) {
    GTEST_SKIP() << "no measured runs at " << measured::kFolder;
  }
  const std::vector<Prediction> all = measured::predictions();
  for (const Prediction& one : all) {
    if (one.skipped.empty()) {
      fmt::print("{:26} measured {:>10}  predicted {:>10}  {:+.1f} %\n",
                 one.id,
                 format(one.measured),
                 format(one.predicted),
                 100 * one.error());
    }
  }
  const auto by_family = families(all);
  print(by_family);
  // Guards: what is reached, rounded up. Tensors as the framework counts them are met; what the
  // driver tells of 2021's runs is rounded to GiB, and InternEvo's table has tens of GiB that no
  // tensor explains.
  const std::map<std::string, Bound> bounds = {{"simumax_b200 (A)", {22, 0.006, 0.035}},
                                               {"zero_bubble_pp (A)", {8, 0.015, 0.03}},
                                               {"bigscience_1b3_v100 (B)", {23, 0.11, 0.28}},
                                               {"bigscience_v100 (C)", {5, 0.22, 0.3}},
                                               {"internevo_mem (B)", {11, 0.42, 0.47}}};
  for (const auto& [name, bound] : bounds) {
    const Family& family = by_family.at(name);
    EXPECT_GE(family.compared, bound.rows) << name;
    EXPECT_LE(family.mean, bound.mean) << name;
    EXPECT_LE(family.most, bound.most) << name;
  }
  for (const Prediction& one : all) {
    if (one.grade == "A") {
      EXPECT_TRUE(one.skipped.empty()) << one.id << ": " << one.skipped;
      EXPECT_LE(std::abs(one.error()), 0.08) << one.id;
    }
  }
}

}  // namespace
}  // namespace titer
