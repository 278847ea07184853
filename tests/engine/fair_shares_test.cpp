#include "titer/engine/fair_shares.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "engine/flow_networks.hpp"
#include "titer/units/ensure.hpp"

namespace titer::testing {
namespace TITER_TEST_FILE {

/// Shares of one network, as a test sees them.
class Bench {
 public:
  explicit Bench(const FlowNetwork& network) : network_(network) { shares_.reset(network); }

  ShareId add(RouteId route, double weight = 1.0) {
    const ShareId share = shares_.add(route, weight);
    used_.resize(std::max(used_.size(), share + std::size_t{1}));
    used_[share] = Used{route, weight};
    return share;
  }
  void change(ShareId share, double weight) {
    shares_.change(share, weight);
    used_[share]->weight = weight;
  }
  void remove(ShareId share) {
    shares_.remove(share);
    used_[share].reset();
  }
  const std::vector<ShareId>& settle() { return shares_.settle(); }
  double rate(ShareId share) {
    shares_.settle();
    return used_[share]->weight * shares_.level(share).si();
  }
  [[nodiscard]] double level(ShareId share) const { return shares_.level(share).si(); }

  [[nodiscard]] std::vector<ShareId> used() const {
    std::vector<ShareId> ids;
    for (ShareId share = 0; share < used_.size(); ++share) {
      if (used_[share]) {
        ids.push_back(share);
      }
    }
    return ids;
  }

  /// Empty if the levels are max-min fair: no link is over its capacity, and every share crosses a
  /// full link on which no level is higher than its own.
  [[nodiscard]] std::string fault() const {
    std::vector<double> load(network_.links(), 0.0);
    std::vector<double> highest(network_.links(), 0.0);
    for (const ShareId share : used()) {
      for (const FlowLink link : network_.route(used_[share]->route)) {
        load[link] += used_[share]->weight * level(share);
        highest[link] = std::max(highest[link], level(share));
      }
    }
    constexpr double rounding = 1e-11;
    for (FlowLink link = 0; link < network_.links(); ++link) {
      if (load[link] > network_.capacity(link).si() * (1 + rounding)) {
        return "link " + std::to_string(link) + " is over its capacity";
      }
    }
    for (const ShareId share : used()) {
      const auto route = network_.route(used_[share]->route);
      if (std::none_of(route.begin(), route.end(), [&](FlowLink link) {
            return load[link] >= network_.capacity(link).si() * (1 - rounding) &&
                   highest[link] <= level(share) * (1 + rounding);
          })) {
        return "share " + std::to_string(share) + " could have more";
      }
    }
    return {};
  }

  /// The same shares, added to an empty set one after another.
  [[nodiscard]] std::vector<double> levels_from_scratch() const {
    FairShares fresh;
    fresh.reset(network_);
    for (const std::optional<Used>& share : used_) {
      fresh.add(share ? share->route : used_[used().front()]->route, share ? share->weight : 1.0);
    }
    for (ShareId share = 0; share < used_.size(); ++share) {
      if (!used_[share]) {
        fresh.remove(share);
      }
    }
    fresh.settle();
    std::vector<double> levels;
    for (const ShareId share : used()) {
      levels.push_back(fresh.level(share).si());
    }
    return levels;
  }

 private:
  struct Used {
    RouteId route;
    double weight;
  };
  const FlowNetwork& network_;
  FairShares shares_;
  std::vector<std::optional<Used>> used_;
};

TEST(FairShares, GiveALinkInProportionToTheWeights) {
  FlowNetwork network;
  const RouteId route = network.add_route(std::array{network.add_link(12_GBps)});
  Bench bench(network);
  const ShareId light = bench.add(route, 1.0);
  EXPECT_DOUBLE_EQ(bench.rate(light), 12e9);
  const ShareId heavy = bench.add(route, 3.0);
  EXPECT_DOUBLE_EQ(bench.rate(light), 12e9 / 4);
  EXPECT_DOUBLE_EQ(bench.rate(heavy), 12e9 * 3 / 4);
  bench.change(light, 9.0);
  EXPECT_DOUBLE_EQ(bench.rate(light), 12e9 * 9 / 12);
  bench.remove(heavy);
  EXPECT_DOUBLE_EQ(bench.rate(light), 12e9);
}

// The textbook case: one share crosses all links of a row, others one each.
TEST(FairShares, SolveTheParkingLot) {
  FlowNetwork network;
  const FlowLink a = network.add_link(10_GBps);
  const FlowLink b = network.add_link(6_GBps);
  const FlowLink c = network.add_link(20_GBps);
  const RouteId across = network.add_route(std::array{a, b, c});
  Bench bench(network);
  const ShareId all = bench.add(across);
  const ShareId on_a = bench.add(network.add_route(std::array{a}));
  const ShareId on_b = bench.add(network.add_route(std::array{b}));
  const ShareId on_c = bench.add(network.add_route(std::array{c}));
  EXPECT_DOUBLE_EQ(bench.rate(all), 6e9 / 2);
  EXPECT_DOUBLE_EQ(bench.rate(on_b), 6e9 / 2);
  EXPECT_DOUBLE_EQ(bench.rate(on_a), 10e9 - 6e9 / 2);
  EXPECT_DOUBLE_EQ(bench.rate(on_c), 20e9 - 6e9 / 2);
  bench.remove(on_b);  // now a is the tightest
  EXPECT_DOUBLE_EQ(bench.rate(all), 10e9 / 2);
  EXPECT_DOUBLE_EQ(bench.rate(on_a), 10e9 / 2);
  EXPECT_DOUBLE_EQ(bench.rate(on_c), 20e9 - 10e9 / 2);
  bench.remove(on_a);  // nobody shares b: its capacity is what remains
  EXPECT_DOUBLE_EQ(bench.rate(all), 6e9);
  EXPECT_DOUBLE_EQ(bench.rate(on_c), 20e9 - 6e9);
}

TEST(FairShares, TellWhoseLevelChanged) {
  Star star(4, 10_GBps);
  const std::array routes{star.route(0, 1), star.route(0, 2), star.route(2, 3), star.route(3, 0)};
  Bench bench(star.network);
  const ShareId first = bench.add(routes[0]);
  const ShareId beside = bench.add(routes[2]);
  bench.add(routes[3]);
  EXPECT_EQ(bench.settle(), (std::vector<ShareId>{0, 1, 2}));
  EXPECT_TRUE(bench.settle().empty());
  const ShareId second = bench.add(routes[1]);  // shares a link with the first alone
  std::vector<ShareId> changed = bench.settle();
  std::sort(changed.begin(), changed.end());
  EXPECT_EQ(changed, (std::vector{first, second}));
  bench.remove(second);
  EXPECT_EQ(bench.settle(), std::vector{first});
  bench.remove(beside);  // all alone
  EXPECT_TRUE(bench.settle().empty());
}

TEST(FairShares, ForgetWhatWasAddedAndRemovedInBetween) {
  FlowNetwork network;
  const RouteId route = network.add_route(std::array{network.add_link(8_GBps)});
  Bench bench(network);
  const ShareId stays = bench.add(route);
  bench.settle();
  bench.remove(bench.add(route));
  EXPECT_DOUBLE_EQ(bench.rate(stays), 8e9);
  bench.change(stays, 2.0);
  bench.remove(stays);
  EXPECT_EQ(bench.add(route, 4.0), stays);  // the id again, with another weight
  EXPECT_EQ(bench.settle(), std::vector{stays});
  EXPECT_DOUBLE_EQ(bench.rate(stays), 8e9);
  EXPECT_DOUBLE_EQ(bench.level(stays), 8e9 / 4);
}

TEST(FairShares, NeedALink) {
  FlowNetwork network;
  const RouteId nowhere = network.add_route({});
  FairShares shares;
  shares.reset(network);
  EXPECT_THROW(shares.add(nowhere, 1.0), Defect);
}

/// Adds, changes and removes shares of random routes, up to four between two looks.
void expect_fairness(const FlowNetwork& network,
                     std::size_t crowd,
                     int rounds,
                     std::uint32_t seed) {
  std::mt19937 random(seed);
  Bench bench(network);
  const auto any_weight = [&] { return static_cast<double>(1 + random() % (1 + seed % 7)); };
  for (int round = 0; round < rounds; ++round) {
    for (auto changes = 1 + random() % 4; changes > 0; --changes) {
      const std::vector<ShareId> used = bench.used();
      const auto route = static_cast<RouteId>(random() % network.routes());
      if (used.empty() || (used.size() < crowd && random() % 4 != 0)) {
        if (!network.route(route).empty()) {
          bench.add(route, any_weight());
        }
      } else if (random() % 3 == 0) {
        bench.change(used[random() % used.size()], any_weight());
      } else {
        bench.remove(used[random() % used.size()]);
      }
    }
    bench.settle();
    ASSERT_EQ(bench.fault(), "") << "seed " << seed << ", round " << round;
    if (round % 16 == 0 && !bench.used().empty()) {
      const std::vector<double> levels = bench.levels_from_scratch();
      for (std::size_t i = 0; i < levels.size(); ++i) {
        ASSERT_NEAR(bench.level(bench.used()[i]) / levels[i], 1.0, 1e-11) << "seed " << seed;
      }
    }
  }
}

TEST(FairShares, AreMaxMinFairAfterAnyChanges) {
  for (std::uint32_t seed = 0; seed < 300 && !::testing::Test::HasFatalFailure(); ++seed) {
    expect_fairness(random_flows(seed).network, 1 + seed % 40, 100, seed);
  }
}

// A change reaches a part of a fat tree, and the repair can stop there.
TEST(FairShares, AreMaxMinFairOnAFatTree) {
  for (std::uint32_t seed = 0; seed < 4 && !::testing::Test::HasFatalFailure(); ++seed) {
    FatTree tree({4, 4, 4}, {1, 2, 2}, 10_GBps);
    std::mt19937 random(seed);
    for (int i = 0; i < 1000; ++i) {
      const auto from = static_cast<std::uint32_t>(random() % tree.hosts());
      tree.route(from, (from + 1 + static_cast<std::uint32_t>(random() % 63)) % tree.hosts());
    }
    expect_fairness(tree.network, 300, 1500, seed);
  }
}

// Of all-to-all traffic through one switch it reaches everything: the repair gives up.
TEST(FairShares, AreMaxMinFairInAllToAllTraffic) {
  for (std::uint32_t seed = 0; seed < 4 && !::testing::Test::HasFatalFailure(); ++seed) {
    Star star(16, 10_GBps);
    for (std::uint32_t pair = 0; pair < 16 * 16; ++pair) {
      if (pair / 16 != pair % 16) {
        star.route(pair / 16, pair % 16);
      }
    }
    expect_fairness(star.network, 240, 800, seed);
  }
}

}  // namespace TITER_TEST_FILE
}  // namespace titer::testing
