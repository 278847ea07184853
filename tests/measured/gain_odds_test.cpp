// How often measured runs come in the order that is predicted of them: the figures of kGainOdds.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <vector>

#include "paths.hpp"
#include "titer/measured/dataset.hpp"
#include "titer/measured/statistics.hpp"
#include "titer/whatif/tune.hpp"

namespace titer {
namespace TITER_TEST_FILE {

struct Order {
  int right = 0;
  int pairs = 0;
};
/// Of each family, by the steps of kGainOdds.
using Orders = std::map<std::string, std::array<Order, kGainOdds.size()>>;

void add_pair(const Comparison& a, const Comparison& b, Orders& orders) {
  if (*a.predicted == *b.predicted) {
    return;  // nobody is told which is faster: the same plan, measured with two releases
  }
  const bool first = *a.predicted < *b.predicted;
  const double gain =
      1 - std::min(*a.predicted, *b.predicted) / std::max(*a.predicted, *b.predicted);
  std::size_t step = kGainOdds.size() - 1;
  while (gain < kGainOdds.at(step).least_gain) {
    --step;
  }
  Order& order = orders[a.family].at(step);
  order.right += first == (*a.measured < *b.measured) ? 1 : 0;
  ++order.pairs;
}

Orders orders_of_all() {
  std::map<std::string, std::vector<Comparison>> sweeps;
  for (const char* table : {"training.csv", "training_2.csv", "training_vtrain_single.csv"}) {
    for (const Comparison& row : compare_dataset(testing::root() / "tests/data/measured" / table)) {
      if (row.measured && row.predicted && !row.sweep.empty()) {
        sweeps[row.sweep].push_back(row);
      }
    }
  }
  Orders orders;
  for (const auto& [name, rows] : sweeps) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      for (std::size_t j = i + 1; j < rows.size(); ++j) {
        add_pair(rows[i], rows[j], orders);
      }
    }
  }
  return orders;
}

// A family counts where it has three pairs or more.
TEST(GainOdds, AreThoseOfMeasuredPairs) {
  constexpr double tolerance = 0.03;
  const Orders orders = orders_of_all();
  for (std::size_t step = 0; step < kGainOdds.size(); ++step) {
    std::vector<double> shares;
    for (const auto& [family, steps] : orders) {
      const Order& order = steps.at(step);
      if (order.pairs >= 3) {
        shares.push_back(static_cast<double>(order.right) / order.pairs);
      }
    }
    ASSERT_GE(shares.size(), 2U);
    EXPECT_NEAR(mean_of(shares), kGainOdds.at(step).odds, tolerance)
        << kGainOdds.at(step).least_gain;
  }
}

TEST(GainOdds, AreReadByTheLargestStepBelow) {
  EXPECT_EQ(gain_odds(0), kGainOdds.front().odds);
  EXPECT_EQ(gain_odds(0.0499), kGainOdds.front().odds);
  EXPECT_EQ(gain_odds(0.05), kGainOdds.at(1).odds);
  EXPECT_EQ(gain_odds(0.19), kGainOdds.at(1).odds);
  EXPECT_EQ(gain_odds(0.9), kGainOdds.back().odds);
  EXPECT_EQ(odds_words(kGainOdds.front().odds), "within error");
  EXPECT_EQ(odds_words(kGainOdds.at(1).odds), "likely");
  EXPECT_EQ(odds_words(kGainOdds.back().odds), "sure");
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
