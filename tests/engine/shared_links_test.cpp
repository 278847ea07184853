#include "titer/engine/shared_links.hpp"

#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <map>
#include <random>
#include <vector>

#include "engine/flow_networks.hpp"
#include "titer/units/ensure.hpp"

namespace titer {
namespace TITER_TEST_FILE {

using Flows = std::vector<FlowId>;

/// One link of 10 GB/s: a megabyte takes 100 us.
class OneLink : public ::testing::Test {
 protected:
  OneLink() : route_(network_.add_route(std::array{network_.add_link(10_GBps)})) {
    links_.reset(network_);
  }
  FlowId start(Bytes size, Ticks now, double weight = 1.0) {
    return links_.start(route_, size, weight, now);
  }
  Flows take(Ticks now) {
    Flows out;
    links_.take_finished(now, out);
    return out;
  }

  static constexpr Ticks us = 1'000'000;
  FlowNetwork network_;
  RouteId route_;
  SharedLinks links_;
};

TEST_F(OneLink, HasNothingToFinishAtFirst) {
  EXPECT_FALSE(links_.next_finish());
  EXPECT_TRUE(take(5).empty());
}

TEST_F(OneLink, CarriesAFlowAtItsCapacity) {
  const FlowId flow = start(1_MB, 7 * us);
  EXPECT_EQ(links_.rate(flow), 10_GBps);
  EXPECT_EQ(links_.next_finish(), (7 + 100) * us);
  EXPECT_TRUE(take(50 * us).empty());
  EXPECT_EQ(take((7 + 100) * us), Flows{flow});
  EXPECT_FALSE(links_.next_finish());
}

TEST_F(OneLink, SharesEquallyAndGivesWhatBecomesFree) {
  const FlowId large = start(3_MB, 0);
  const FlowId small = start(1_MB, 0);
  EXPECT_DOUBLE_EQ(links_.rate(large).si(), 10e9 / 2);
  EXPECT_EQ(links_.next_finish(), 200 * us);  // 1 MB at half the capacity
  EXPECT_EQ(take(200 * us), Flows{small});
  EXPECT_DOUBLE_EQ(links_.rate(large).si(), 10e9);
  EXPECT_EQ(links_.next_finish(), (200 + 200) * us);  // 2 MB are left
  EXPECT_EQ(take(400 * us), Flows{large});
}

TEST_F(OneLink, SharesByWeight) {
  const FlowId heavy = start(3_MB, 0, 3.0);
  const FlowId light = start(1_MB, 0, 1.0);
  EXPECT_DOUBLE_EQ(links_.rate(heavy).si(), 10e9 * 3 / 4);
  EXPECT_DOUBLE_EQ(links_.rate(light).si(), 10e9 * 1 / 4);
  EXPECT_EQ(take(400 * us), (Flows{heavy, light}));  // both need 400 us
}

TEST_F(OneLink, LetsAFlowJoinOnItsWay) {
  const FlowId first = start(2_MB, 0);
  const FlowId second = start(1_MB, 100 * us);  // the first has 1 MB left as well
  EXPECT_EQ(links_.next_finish(), (100 + 200) * us);
  EXPECT_EQ(take(300 * us), (Flows{first, second}));
}

TEST_F(OneLink, FinishesEqualFlowsInTheOrderOfIds) {
  Flows started;
  for (int i = 0; i < 100; ++i) {
    started.push_back(start(1_MB, 0));
  }
  EXPECT_EQ(links_.next_finish(), 100 * 100 * us);
  EXPECT_EQ(take(100 * 100 * us), started);
}

// n flows of sizes s1 <= s2 <= …: flow k ends after (n - k) s_k + s_1 + … + s_k bytes.
TEST_F(OneLink, FinishesUnequalFlowsOfAGroupOneByOne) {
  std::vector<int> sizes(50);
  for (int i = 0; i < 50; ++i) {
    sizes[static_cast<std::size_t>(i)] = 1 + i * 17 % 50;  // 1 .. 50, shuffled
  }
  std::map<FlowId, int> size_of;
  for (const int size : sizes) {
    size_of[start(1_MB * size, 0)] = size;
  }
  int before = 0;
  for (int size = 1; size <= 50; ++size) {
    before += size;
    const Ticks finish = ((50 - size) * size + before) * 100 * us;
    ASSERT_EQ(links_.next_finish(), finish);
    const Flows done = take(finish);
    ASSERT_EQ(done.size(), 1u);
    EXPECT_EQ(size_of[done.front()], size);
  }
  EXPECT_FALSE(links_.next_finish());
}

TEST_F(OneLink, FinishesAtOnceWhatHasNothingToCarry) {
  const FlowId empty = start(0_B, 5 * us);
  const RouteId nowhere = network_.add_route({});
  links_.reset(network_);
  const FlowId without_links = links_.start(nowhere, 1_GB, 1.0, 5 * us);
  const FlowId without_bytes = start(0_B, 5 * us);
  EXPECT_EQ(empty, without_links);  // ids begin anew after a reset
  EXPECT_THROW((void)links_.rate(without_links), Defect);
  EXPECT_EQ(links_.next_finish(), 5 * us);
  EXPECT_EQ(take(5 * us), (Flows{without_links, without_bytes}));
  EXPECT_FALSE(links_.next_finish());
}

TEST_F(OneLink, GivesIdsOfTakenFlowsAgain) {
  const FlowId first = start(1_MB, 0);
  take(100 * us);
  EXPECT_EQ(start(1_MB, 100 * us), first);
  EXPECT_NE(start(1_MB, 100 * us), first);
}

// 1 byte takes 100 ps; a third of 7 bytes' time is not a whole number of picoseconds.
TEST_F(OneLink, RoundsAFinishToTheNearestPicosecond) {
  start(Bytes::from_si(7.0), 0, 2.0);
  const FlowId slow = start(Bytes::from_si(7.0), 0, 1.0);
  EXPECT_EQ(links_.next_finish(), 1050);  // 700 * 3 / 2
  EXPECT_EQ(take(1050).size(), 1u);
  EXPECT_EQ(links_.next_finish(), 1400);
  EXPECT_EQ(take(1400), Flows{slow});
  start(Bytes::from_si(0.014), 1400);
  EXPECT_EQ(links_.next_finish(), 1401);  // 1.4 ps
  take(1401);
  start(Bytes::from_si(0.004), 1401);
  EXPECT_EQ(links_.next_finish(), 1401);  // 0.4 ps
}

TEST_F(OneLink, RefusesWhatCannotBe) {
  EXPECT_THROW(start(Bytes::from_si(-1.0), 0), Defect);
  EXPECT_THROW(start(Bytes::from_si(std::numeric_limits<double>::quiet_NaN()), 0), Defect);
  EXPECT_THROW(start(1_MB, 0, 0.0), Defect);
  EXPECT_THROW(links_.start(route_ + 1, 1_MB, 1.0, 0), Defect);
  start(1_MB, 10 * us);
  EXPECT_THROW(start(1_MB, 9 * us), Defect);    // back in time
  EXPECT_THROW(take(111 * us), Defect);         // past the finish at 110 us
  EXPECT_THROW(start(1_MB, 111 * us), Defect);  // as well
}

TEST_F(OneLink, RefusesATimelineWithoutEnd) {
  start(Bytes::from_si(1e18), 0);  // 10^8 seconds, longer than 2^62 ps
  EXPECT_THROW((void)links_.next_finish(), Defect);
}

// More groups than the calendar had slots for: the alarms move to a larger one.
TEST(SharedLinks, KeepTheirAlarmsWhileGroupsAreAdded) {
  constexpr std::uint32_t count = 100;
  testing::Star star(2 * count, 10_GBps);
  for (std::uint32_t pair = 0; pair < count; ++pair) {
    star.route(2 * pair, 2 * pair + 1);
  }
  SharedLinks links;
  links.reset(star.network);
  for (std::uint32_t pair = 0; pair < count; ++pair) {
    links.start(pair, 1_KiB * (count - pair), 1.0, 0);
    ASSERT_EQ(links.next_finish(), 102'400 * (count - pair));  // 1024 B / (10 GB/s) = 102.4 ns
  }
  std::vector<FlowId> out;
  for (std::uint32_t pair = count; pair-- > 0;) {
    links.take_finished(*links.next_finish(), out);
    EXPECT_EQ(out, std::vector<FlowId>{pair});
  }
}

// What a flow is told to get, times how long it gets it, is what it had to carry.
TEST(SharedLinks, ConserveBytes) {
  for (std::uint32_t seed = 0; seed < 50; ++seed) {
    const FlowNetwork network = testing::random_flows(seed).network;
    std::mt19937 random(seed);
    SharedLinks links;
    links.reset(network);
    std::map<FlowId, double> size, carried;
    Ticks now = 0;
    const auto advance = [&](Ticks to) {
      for (auto& [flow, bytes] : carried) {
        bytes += links.rate(flow).si() * to_seconds(to - now).si();
      }
      now = to;
    };
    std::vector<FlowId> out;
    for (int step = 0; step < 200; ++step) {
      const Ticks pause = static_cast<Ticks>(random() % 20'000'000);
      const auto next = links.next_finish();
      if (next && *next <= now + pause) {
        advance(*next);
        links.take_finished(now, out);
        ASSERT_FALSE(out.empty());
        for (const FlowId flow : out) {
          ASSERT_NEAR(carried.at(flow), size.at(flow), 1e-5 * size.at(flow)) << "seed " << seed;
          carried.erase(flow);
        }
        continue;
      }
      advance(now + pause);
      const auto route = static_cast<RouteId>(random() % network.routes());
      if (!network.route(route).empty()) {
        const double bytes = 1e5 + static_cast<double>(random() % 1'000'000);
        const double weight = static_cast<double>(1 + random() % 2);
        const FlowId flow = links.start(route, Bytes::from_si(bytes), weight, now);
        size[flow] = bytes;
        carried[flow] = 0.0;
      }
    }
  }
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
