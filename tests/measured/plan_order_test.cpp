// How sure searches are of which plan is faster, beside how often measured runs came in that order.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "paths.hpp"
#include "repetitions.hpp"
#include "titer/calibrate/figure_draws.hpp"
#include "titer/measured/dataset.hpp"
#include "titer/measured/measured_runs.hpp"
#include "titer/measured/statistics.hpp"
#include "titer/search/search.hpp"

namespace titer {
namespace TITER_TEST_FILE {

struct DrawnRun {
  FoundPlan found;
  std::vector<double> drawn;
  double measured = 0;
};
/// By family and sweep.
using Sweeps = std::map<std::pair<std::string, std::string>, std::vector<DrawnRun>>;

// Enough to tell, and few enough to draw in seconds.
constexpr std::size_t kMostOfSweep = 6;
const auto kMostSweeps = testing::repetitions(6);  // of a family

/// None where the family has enough.
std::vector<DrawnRun>* sweep_of(const Comparison& row, Sweeps& sweeps) {
  const std::pair key(row.family, row.sweep);
  const auto known =
      std::ranges::count(sweeps, row.family, [](const auto& sweep) { return sweep.first.first; });
  return sweeps.contains(key) || known < kMostSweeps ? &sweeps[key] : nullptr;
}

void add_runs(const char* table, Sweeps& sweeps) {
  const std::string path = testing::root() / "tests/data/measured" / table;
  std::map<std::string, Comparison> rows;
  for (const Comparison& row : compare_dataset(path)) {
    rows.emplace(row.case_id, row);
  }
  for (const MeasuredRun& run : load_measured_runs(path, "")) {
    const auto row = rows.find(run.name);
    if (row == rows.end() || row->second.sweep.empty() || !row->second.predicted) {
      continue;
    }
    std::vector<DrawnRun>* sweep = sweep_of(row->second, sweeps);
    if (sweep == nullptr || sweep->size() == kMostOfSweep) {
      continue;
    }
    DrawnRun& drawn = sweep->emplace_back();
    drawn.found.result.iteration_time = Seconds::from_si(*row->second.predicted);
    drawn.found.result.memory_peak = drawn.found.result.memory_capacity = 1_GiB;
    drawn.drawn = drawn_times(*run.source, run.scenario, std::vector{run.scenario.plan}).front();
    drawn.measured = run.iteration_time.si();
  }
}

/// Of pairs: what the faster one by prediction is given, and whether it was.
struct Pairs {
  std::vector<double> chances;
  std::vector<double> right;
};

void add_pair(const DrawnRun& a, const DrawnRun& b, Pairs& pairs) {
  const Seconds first = a.found.result.iteration_time;
  const Seconds second = b.found.result.iteration_time;
  if (first == second || a.measured == b.measured) {
    return;  // no order is told, or none was seen
  }
  SearchAnswer answer;
  answer.plans = {a.found, b.found};
  find_chances(std::vector{a.drawn, b.drawn}, answer);
  const FoundPlan& faster = answer.plans[first < second ? 0 : 1];
  pairs.chances.push_back(*faster.chance_fastest);
  pairs.right.push_back((first < second) == (a.measured < b.measured) ? 1 : 0);
}

// A family counts where it has three pairs or more, and once.
TEST(PlanOrder, IsAsSureAsMeasuredPairsComeInIt) {
  Sweeps sweeps;
  for (const char* table : {"training.csv", "training_2.csv"}) {
    add_runs(table, sweeps);
  }
  std::map<std::string, Pairs> families;
  for (const auto& [key, runs] : sweeps) {
    for (std::size_t i = 0; i < runs.size(); ++i) {
      for (std::size_t j = i + 1; j < runs.size(); ++j) {
        add_pair(runs[i], runs[j], families[key.first]);
      }
    }
  }
  std::vector<double> told;
  std::vector<double> seen;
  for (const auto& [family, pairs] : families) {
    if (pairs.right.size() >= 3) {
      told.push_back(mean_of(pairs.chances));
      seen.push_back(mean_of(pairs.right));
    }
  }
  ASSERT_GE(told.size(), testing::kSanitized ? 1U : 6U);
  EXPECT_NEAR(mean_of(told), mean_of(seen), testing::kSanitized ? 0.2 : 0.04);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
