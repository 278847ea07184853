#include "titer/engine/flow_engine.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <vector>

#include "engine/flow_networks.hpp"
#include "titer/units/ensure.hpp"

namespace titer::testing {
namespace TITER_TEST_FILE {

constexpr Ticks us = 1'000'000;

/// Two links of 10 GB/s: a megabyte takes 100 us.
class TwoLinks : public ::testing::Test {
 protected:
  TwoLinks()
      : left_(network_.add_link(10_GBps)),
        right_(network_.add_link(10_GBps)),
        only_left_(network_.add_route(std::array{left_})),
        only_right_(network_.add_route(std::array{right_})),
        both_(network_.add_route(std::array{left_, right_})) {}

  FlowTimeline run() { return titer::run(network_, graph_); }

  FlowNetwork network_;
  FlowLink left_, right_;
  RouteId only_left_, only_right_, both_;
  MessageGraph graph_;
};

TEST_F(TwoLinks, HaveNothingToDoForAnEmptyGraph) {
  const FlowTimeline timeline = run();
  EXPECT_TRUE(timeline.start.empty());
  EXPECT_EQ(timeline.makespan, 0);
}

TEST_F(TwoLinks, TakeLatencyAndBytes) {
  graph_.add(both_, 1_MB, 3_us);
  const FlowTimeline timeline = run();
  EXPECT_EQ(timeline.start[0], 0);
  EXPECT_EQ(timeline.finish[0], (3 + 100) * us);
  EXPECT_EQ(timeline.makespan, (3 + 100) * us);
}

TEST_F(TwoLinks, TakeOnlyLatencyWithoutBytesOrLinks) {
  const RouteId nowhere = network_.add_route({});
  graph_.add(both_, 0_B, 3_us);
  graph_.add(nowhere, 1_GB, 4_us);
  graph_.add(nowhere, 0_B, 0_s);
  EXPECT_EQ(run().finish, (std::vector<Ticks>{3 * us, 4 * us, 0}));
}

TEST_F(TwoLinks, LetTwoMessagesShareTheOneTheyBothCross) {
  graph_.add(both_, 1_MB, 0_s);
  graph_.add(only_left_, 3_MB, 0_s);
  const FlowTimeline timeline = run();
  EXPECT_EQ(timeline.finish[0], 200 * us);          // half of the left link
  EXPECT_EQ(timeline.finish[1], (200 + 200) * us);  // 1 MB so far, 2 MB alone
}

TEST_F(TwoLinks, LetTheShareFollowTheTightestLink) {
  graph_.add(both_, 1_MB, 0_s);
  graph_.add(only_left_, 1_MB, 0_s);
  graph_.add(only_left_, 1_MB, 0_s);
  graph_.add(only_right_, 1_MB, 0_s);
  const FlowTimeline timeline = run();
  EXPECT_EQ(timeline.finish[3], 150 * us);  // the others leave it 2/3 of the right link
  EXPECT_EQ(timeline.finish[0], 300 * us);
  EXPECT_EQ(timeline.finish[1], 300 * us);
  EXPECT_EQ(timeline.finish[2], 300 * us);
}

// The textbook row of three links: one message crosses all, one crosses each.
TEST(FlowEngine, RunsTheParkingLot) {
  FlowNetwork network;
  const std::array row{
      network.add_link(10_GBps), network.add_link(10_GBps), network.add_link(10_GBps)};
  MessageGraph graph;
  graph.add(network.add_route(row), 1_MB, 0_s);
  for (const FlowLink link : row) {
    graph.add(network.add_route(std::array{link}), 1_MB * (link + 1.0), 0_s);
  }
  const FlowTimeline timeline = run(network, graph);
  // Half of every link each for 200 us: then the long one and the first short one are through.
  EXPECT_EQ(timeline.finish, (std::vector<Ticks>{200 * us, 200 * us, 300 * us, 400 * us}));
}

TEST_F(TwoLinks, LetAMessageWaitForAllBeforeIt) {
  const MessageId a = graph_.add(only_left_, 1_MB, 1_us);
  const MessageId b = graph_.add(only_right_, 2_MB, 1_us);
  graph_.add(both_, 1_MB, 1_us, std::array{a, b, a});
  const FlowTimeline timeline = run();
  EXPECT_EQ(timeline.start[2], (1 + 200) * us);
  EXPECT_EQ(timeline.finish[2], (1 + 200 + 1 + 100) * us);
}

TEST_F(TwoLinks, RunAChainOfInstantMessagesInOneTick) {
  MessageId last = graph_.add(only_left_, 1_MB, 0_s);
  for (int i = 0; i < 50; ++i) {
    last = graph_.add(both_, 0_B, 0_s, std::array{last});
  }
  graph_.add(both_, 1_MB, 0_s, std::array{last});
  const FlowTimeline timeline = run();
  EXPECT_EQ(timeline.finish[last], 100 * us);
  EXPECT_EQ(timeline.makespan, 200 * us);
}

TEST_F(TwoLinks, HoldMessagesBackUntilTheirRelease) {
  const MessageId late = graph_.add(only_left_, 1_MB, 2_us, {}, {.release = 50_us});
  const MessageId after = graph_.add(only_left_, 1_MB, 0_s, std::array{late}, {.release = 9_us});
  const MessageId later = graph_.add(only_left_, 1_MB, 0_s, std::array{after}, {.release = 400_us});
  const FlowTimeline timeline = run();
  EXPECT_EQ(timeline.start[late], 50 * us);
  EXPECT_EQ(timeline.finish[late], (50 + 2 + 100) * us);
  EXPECT_EQ(timeline.start[after], 152 * us);
  EXPECT_EQ(timeline.finish[after], 252 * us);
  EXPECT_EQ(timeline.start[later], 400 * us);
  EXPECT_EQ(timeline.makespan, 500 * us);
}

TEST_F(TwoLinks, ShareByWeight) {
  graph_.add(only_left_, 4_MB, 0_s, {}, {.weight = 4.0});
  graph_.add(both_, 1_MB, 0_s);
  EXPECT_EQ(run().finish, (std::vector<Ticks>{500 * us, 500 * us}));
}

TEST_F(TwoLinks, RefuseARouteThatTheNetworkLacks) {
  graph_.add(both_ + 1, 1_MB, 0_s);
  EXPECT_THROW(run(), Defect);
}

TEST_F(TwoLinks, RefuseATimelineWithoutEnd) {
  const MessageId half = graph_.add(both_, 0_B, Seconds::from_si(4e6));
  graph_.add(both_, 0_B, Seconds::from_si(4e6), std::array{half});
  EXPECT_THROW(run(), Defect);
}

// 2 (n - 1) steps, each a latency and an n-th of the bytes; no two messages share a link.
TEST(FlowEngine, RunsARingAllReduceInItsClosedForm) {
  for (const std::uint32_t ranks : {2u, 3u, 8u, 100u}) {
    const FlowCase ring = ring_steps(ranks, 10_MB * ranks, 10_GBps);
    EXPECT_EQ(run(ring.network, ring.messages).makespan, 2 * (ranks - 1) * (1 + 1000) * us);
  }
}

// All to all in one go: every link carries the n - 1 messages of its host.
TEST(FlowEngine, RunsAnAllToAllAtTheSpeedOfTheHosts) {
  constexpr std::uint32_t hosts = 12;
  Star star(hosts, 10_GBps);
  MessageGraph graph;
  for (std::uint32_t pair = 0; pair < hosts * hosts; ++pair) {
    if (pair / hosts != pair % hosts) {
      graph.add(star.route(pair / hosts, pair % hosts), 1_MB, 2_us);
    }
  }
  const FlowTimeline timeline = run(star.network, graph);
  for (const Ticks finish : timeline.finish) {
    EXPECT_EQ(finish, (2 + 100 * (hosts - 1)) * us);
  }
}

// Each link of the torus carries one message a round.
TEST(FlowEngine, RunsANeighbourExchangeRoundByRound) {
  const FlowCase torus = neighbour_exchange(Torus({3, 4, 5}, 10_GBps), 7, 0);
  EXPECT_EQ(run(torus.network, torus.messages).makespan, 7 * (1 + 100) * us);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer::testing
