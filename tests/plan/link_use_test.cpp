#include "titer/plan/place/link_use.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "plan/shipped.hpp"

namespace titer {
namespace TITER_TEST_FILE {

/// Groups of `ranks` devices, `stride` apart, that together are devices 0 .. count-1.
std::vector<std::vector<int>> groups_of(int count, int ranks, int stride) {
  std::vector<std::vector<int>> groups;
  for (int start = 0; start < count; start += ranks * stride) {
    for (int offset = 0; offset < stride; ++offset) {
      std::vector<int> group;
      for (int rank = 0; rank < ranks; ++rank) {
        group.push_back(start + rank * stride + offset);
      }
      groups.push_back(group);
    }
  }
  return groups;
}

double most(const LinkUse& use) {
  double most = 0;
  for (const auto& [capacity, share] : use.shares) {
    most = std::max(most, share);
  }
  return most;
}

double share_of(const LinkUse& use, std::uint32_t capacity) {
  for (const auto& [used, share] : use.shares) {
    if (used == capacity) {
      return share;
    }
  }
  return 0;
}

TEST(LinkUse, OfALargeCollectiveInANodeFillsItsLinks) {
  const Cluster cluster = shipped::cluster("dgx-a100-80gb");
  const ClusterLinks links(cluster, 2);
  const LinkUse use = links.of_collective(Collective::all_gather, 4_GiB, groups_of(16, 8, 1)).use;
  // All but the latencies of the ring's steps, and what a rank's own share takes beside its seven.
  const double busy = 7 / (7 + cluster.node_protocols.back().own_share);
  EXPECT_LE(most(use), 1.0 + 1e-9);
  EXPECT_GT(most(use), 0.98 * busy);
}

TEST(LinkUse, OfGroupsWithAnInterfaceEachIsThatOfOne) {
  const Cluster cluster = shipped::cluster("dgx-a100-80gb");
  const ClusterLinks links(cluster, 2);
  const auto all = groups_of(16, 2, 8);
  ASSERT_EQ(all.size(), 8U) << "device i of both nodes";
  const LinkUse together = links.of_collective(Collective::all_reduce, 1_GiB, all).use;
  const LinkUse one =
      links.of_collective(Collective::all_reduce, 1_GiB, std::span(all).first(1)).use;
  EXPECT_EQ(together.time, one.time);
  EXPECT_NEAR(most(together), most(one), 1e-9);
  EXPECT_EQ(together.shares.size(), 8 * one.shares.size());
}

TEST(LinkUse, OfMessagesIsTheirBytesOverWhatTheLinkCarriesInTheirTime) {
  const Cluster cluster = shipped::cluster("dgx-a100-80gb");
  const ClusterLinks links(cluster, 2);
  const Channel network = cluster.network_channel();
  double efficiency = 0;
  for (const Protocol& protocol : cluster.network_protocols) {
    efficiency = std::max(efficiency, protocol.efficiency);
  }
  const Seconds time = 10_ms;
  const LinkUse one = links.of_messages({{.from = 0, .to = 8, .bytes = 100_MB}}, time);
  EXPECT_NEAR(most(one), 100_MB / (efficiency * cluster.nic_share()) / time, 1e-9);
  // The switch of this network spreads nothing: both messages leave by their own interface and meet
  // at that of the receiver.
  const LinkUse two = links.of_messages(
      {{.from = 0, .to = 8, .bytes = 100_MB}, {.from = 1, .to = 8, .bytes = 100_MB}}, time);
  EXPECT_NEAR(most(two), 2 * most(one), 1e-9);
  EXPECT_TRUE(network.exists());
}

TEST(LinkUse, OfWhatStaysInItsNodeTakesNothingOfTheNetwork) {
  const Cluster cluster = shipped::cluster("dgx-a100-80gb");
  const ClusterLinks links(cluster, 2);
  const LinkUse inside =
      links.of_collective(Collective::all_reduce, 1_GiB, groups_of(16, 8, 1)).use;
  const LinkUse across = links.of_messages({{.from = 0, .to = 8, .bytes = 1_GB}}, 1_s);
  for (const auto& [capacity, share] : across.shares) {
    EXPECT_EQ(share_of(inside, capacity), 0.0);
  }
}

// All-to-alls on a torus get a share of the wires, in closed form, as flows and on links alike.
TEST(LinkUse, OfAnAllToAllOnATorusFillsItsShareOfTheWires) {
  Cluster cluster = shipped::cluster("tpu-v3-32");
  const std::vector<std::vector<int>> all = groups_of(16, 16, 1);
  const TorusShape shape = CollectiveDesk(cluster, all).group().group.torus;
  const auto use_of = [&](Collective collective) {
    return ClusterLinks(cluster, 1).of_collective(collective, 64_MiB, all, shape).use;
  };
  const auto flows = [&] {
    CollectiveDesk desk(cluster, all);
    return desk.answer({.collective = Collective::all_to_all,
                        .size = 64_MiB,
                        .algorithm = {},
                        .fidelity = NetworkFidelity::flow});
  };
  Protocol& protocol = cluster.node_protocols.front();
  protocol.latency = {};
  protocol.exchange_share = 1.0;
  const LinkUse whole = use_of(Collective::all_to_all);
  const LinkUse sum = use_of(Collective::all_reduce);
  protocol.exchange_share = 0.5;
  const LinkUse half = use_of(Collective::all_to_all);
  EXPECT_NEAR(half.time / whole.time, 2.0, 1e-9);
  EXPECT_NEAR(most(half), most(whole), 1e-9);
  EXPECT_LE(most(half), 1 + 1e-9);
  EXPECT_EQ(use_of(Collective::all_reduce).time, sum.time);
  const CollectiveAnswer answer = flows();
  EXPECT_NEAR(answer.time / answer.closed_time, 1.0, 1e-6);
  EXPECT_NEAR(answer.closed_time / half.time, 1.0, 1e-9);
}

TEST(LinkUse, OfWhatIsRepeatedIsThatOfEachInTurn) {
  const LinkUse a{.time = 2_s, .beyond = 1_s, .shares = {{1, 0.5}, {4, 1.0}}};
  const LinkUse b{.time = 1_s, .beyond = {}, .shares = {{0, 0.25}, {4, 0.5}}};
  const std::array<RepeatedUse, 2> uses = {RepeatedUse{.count = 3, .use = &a},
                                           RepeatedUse{.count = 2, .use = &b}};
  const LinkUse sum = one_after_the_other(uses);
  EXPECT_EQ(sum.time, 8_s);
  EXPECT_EQ(sum.beyond, 3_s);
  const std::vector<std::pair<std::uint32_t, double>> expected = {
      {0, 2 * 1 * 0.25 / 8}, {1, 3 * 2 * 0.5 / 8}, {4, (3 * 2 * 1.0 + 2 * 1 * 0.5) / 8}};
  EXPECT_EQ(sum.shares, expected);
  const LinkUse alone = one_after_the_other(std::span(uses).first(1));
  EXPECT_EQ(alone.time, 6_s);
  EXPECT_EQ(alone.shares, a.shares);
}

// Nodes on one ideal switch are routed two at a time.
TEST(LinkUse, IsTheSameBetweenAnyTwoNodesOfOneSwitch) {
  for (const char* const name : {"dgx-a100-80gb", "dgx-h100", "polaris", "dgx1-v100"}) {
    const Cluster cluster = shipped::cluster(name);
    const ClusterLinks two(cluster, 2);
    const ClusterLinks nine(cluster, 9);
    const int devices = cluster.devices_per_node;
    const auto here = groups_of(2 * devices, 2, devices);
    auto there = here;
    for (std::vector<int>& group : there) {  // nodes 3 and 7
      group = {group[0] + 3 * devices, group[1] + 6 * devices};
    }
    const auto sorted = [](const LinkUse& use) {
      std::vector<double> shares;
      for (const auto& [link, share] : use.shares) {
        shares.push_back(share);
      }
      std::sort(shares.begin(), shares.end());
      return shares;
    };
    const auto whole = sorted(two.of_collective(Collective::all_reduce, 1_GiB, here).use);
    const auto folded = sorted(nine.of_collective(Collective::all_reduce, 1_GiB, there).use);
    ASSERT_EQ(folded.size(), whole.size()) << name;
    for (std::size_t i = 0; i < whole.size(); ++i) {
      EXPECT_NEAR(folded[i], whole[i], 1e-12) << name;
    }
    EXPECT_GT(whole.back(), 0.5) << name;
  }
}

TEST(LinkUse, AloneIsAsLongAsTheLinkThatItTakesTheMostOf) {
  EXPECT_EQ((LinkUse{.time = 2_s, .beyond = {}, .shares = {{0, 0.5}, {3, 0.9}}}).alone(), 2_s);
  EXPECT_EQ((LinkUse{.time = 2_s, .beyond = {}, .shares = {{0, 4.0}, {3, 0.9}}}).alone(), 8_s);
}

TEST(LinkUse, OneAfterTheOtherAddsTimesAndBytes) {
  const LinkUse a{.time = 1_s, .beyond = 0.5_s, .shares = {{0, 0.5}, {2, 1.0}}};
  const LinkUse b{.time = 3_s, .beyond = {}, .shares = {{2, 0.2}}};
  const std::array<LinkUse, 2> both = {a, b};
  const LinkUse sum = one_after_the_other(both);
  EXPECT_EQ(sum.time, 4_s);
  EXPECT_EQ(sum.beyond, 0.5_s);
  EXPECT_NEAR(share_of(sum, 0), 0.5 * 1 / 4, 1e-12);
  EXPECT_NEAR(share_of(sum, 2), (1.0 * 1 + 0.2 * 3) / 4, 1e-12);
  EXPECT_EQ(sum.shares.size(), 2U);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
