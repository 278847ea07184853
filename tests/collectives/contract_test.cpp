// What every collective algorithm promises, for each alternative of each list: the messages it
// sends are a real algorithm, take the time of its formula on the event engine, and carry the
// bytes of its volume.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "collectives/data_flow.hpp"
#include "titer/collectives/algorithms.hpp"
#include "titer/engine/engine.hpp"
#include "titer/engine/task_graph.hpp"

namespace titer {
namespace {

template <Collective C, class A>
struct Entry {
  static constexpr Collective collective = C;
  using Algorithm = A;
};
template <Collective C, class... As>
std::tuple<Entry<C, As>...> entries(const std::variant<As...>*);
template <class... Es>
::testing::Types<Es...> types(const std::tuple<Es...>*);
template <class... Lists>
using Joined = decltype(std::tuple_cat(std::declval<Lists>()...));

using AllEntries =
    Joined<decltype(entries<Collective::all_reduce>(static_cast<const AllReduce*>(nullptr))),
           decltype(entries<Collective::all_gather>(static_cast<const AllGather*>(nullptr))),
           decltype(entries<Collective::reduce_scatter>(
               static_cast<const ReduceScatter*>(nullptr))),
           decltype(entries<Collective::send_recv>(static_cast<const SendRecv*>(nullptr)))>;

struct EntryNames {
  template <class E>
  // NOLINTNEXTLINE(readability-identifier-naming): GoogleTest asks for this name
  static std::string GetName(int /*index*/) {
    std::string name(name_of(E::collective));
    name += "_" + std::string(E::Algorithm::name);
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
  }
};

std::vector<Group> all_groups() {
  std::vector<Group> groups;
  for (int ranks = 1; ranks <= 17; ++ranks) {
    groups.push_back({.per_node = ranks, .nodes = 1});
  }
  for (const int nodes : {2, 3, 4, 7}) {
    for (const int per_node : {1, 2, 3, 4, 8}) {
      groups.push_back({.per_node = per_node, .nodes = nodes});
    }
  }
  return groups;
}

std::string text_of(Group group) {
  return std::to_string(group.per_node) + " x " + std::to_string(group.nodes);
}

constexpr Link kInside{.latency = 3_us, .bandwidth = 230_GBps};
constexpr Link kBetween{.latency = 13_us, .bandwidth = 24_GBps};

Fabric plain_fabric() { return {.node = Channel(kInside), .network = Channel(kBetween)}; }

Fabric fabric_with_protocols() {
  Fabric fabric = plain_fabric();
  fabric.node.add({.latency = 1_us, .bandwidth = 90_GBps});
  fabric.network.add({.latency = 7_us, .bandwidth = 10_GBps});
  return fabric;
}

template <class Algorithm>
std::vector<Group> groups_for() {
  std::vector<Group> groups;
  for (const Group group : all_groups()) {
    if (Algorithm::applies(group)) {
      groups.push_back(group);
    }
  }
  return groups;
}

template <class E>
class CollectiveContract : public ::testing::Test {};
TYPED_TEST_SUITE(CollectiveContract,
                 decltype(types(static_cast<const AllEntries*>(nullptr))),
                 EntryNames);

TYPED_TEST(CollectiveContract, AppliesToSomeGroupOfSeveralRanks) {
  using Algorithm = typename TypeParam::Algorithm;
  const auto groups = groups_for<Algorithm>();
  EXPECT_TRUE(
      std::any_of(groups.begin(), groups.end(), [](Group group) { return group.ranks() > 1; }));
}

TYPED_TEST(CollectiveContract, IsFreeForOneRank) {
  using Algorithm = typename TypeParam::Algorithm;
  EXPECT_EQ(Algorithm::time(1_GB, Group{}, Fabric{}), Seconds{});
  EXPECT_EQ(Algorithm::volume(1_GB, Group{}), Bytes{});
  EXPECT_TRUE(Algorithm::sends(1_GB, Group{}).empty());
}

// ---- Executed time -------------------------------------------------------------------------

/// Every message is a task on its sender's port of its tier.
Seconds executed(const std::vector<Send>& sends, const Fabric& fabric) {
  TaskGraph graph;
  std::map<std::pair<int, Tier>, ResourceId> ports;
  for (const Send& send : sends) {
    const auto [port, is_new] = ports.try_emplace({send.from, send.tier});
    if (is_new) {
      port->second = graph.add_resource();
    }
    const std::vector<TaskId> after(send.after.begin(), send.after.end());
    graph.add(port->second, fabric.at(send.tier).time(1, send.size), after);
  }
  return to_seconds(run(graph).makespan);
}

/// The most messages that wait for one another in a row.
int longest_chain(const std::vector<Send>& sends) {
  std::vector<int> depth(sends.size(), 1);
  int longest = 0;
  for (std::size_t i = 0; i < sends.size(); ++i) {
    for (const int before : sends[i].after) {
      depth[i] = std::max(depth[i], 1 + depth[static_cast<std::size_t>(before)]);
    }
    longest = std::max(longest, depth[i]);
  }
  return longest;
}

TYPED_TEST(CollectiveContract, TakesTheTimeOfItsFormulaOnTheEngine) {
  using Algorithm = typename TypeParam::Algorithm;
  for (const Fabric& fabric : {plain_fabric(), fabric_with_protocols()}) {
    for (const Group group : groups_for<Algorithm>()) {
      for (const Bytes size : {1_B, 1000_B, 777777_B, 1_GB}) {
        const auto sends = Algorithm::sends(size, group);
        const double formula = Algorithm::time(size, group, fabric).si();
        // Every task is rounded to picoseconds; the rest is the rounding of doubles.
        EXPECT_NEAR(
            executed(sends, fabric).si(), formula, 0.5e-12 * longest_chain(sends) + 1e-14 * formula)
            << text_of(group) << ", " << size.si() << " bytes";
      }
    }
  }
}

TYPED_TEST(CollectiveContract, IsNeverFasterThanTheLowerBounds) {
  using Algorithm = typename TypeParam::Algorithm;
  const double rounding = 1 - 1e-12;
  for (const Group group : groups_for<Algorithm>()) {
    const Link link = group.per_node > 1 ? kInside : kBetween;  // the better of those in reach
    for (const Bytes size : {1_B, 1000_B, 1_MiB, 1_GB}) {
      const Seconds time = Algorithm::time(size, group, plain_fabric());
      EXPECT_GE(time, rounding * latency_bound(group.ranks(), link.latency)) << text_of(group);
      EXPECT_GE(
          time,
          rounding * bandwidth_bound(TypeParam::collective, size, group.ranks(), link.bandwidth))
          << text_of(group);
    }
  }
}

TYPED_TEST(CollectiveContract, TakesLongerForMoreBytesMoreLatencyAndLessBandwidth) {
  using Algorithm = typename TypeParam::Algorithm;
  const auto slowed = [](double latency, double bandwidth) {
    const auto link = [=](Link of) {
      return Channel({.latency = latency * of.latency, .bandwidth = bandwidth * of.bandwidth});
    };
    return Fabric{.node = link(kInside), .network = link(kBetween)};
  };
  for (const Group group : groups_for<Algorithm>()) {
    if (group.ranks() == 1) {
      continue;
    }
    const Seconds time = Algorithm::time(1_MB, group, slowed(1, 1));
    EXPECT_GT(Algorithm::time(1.01 * 1_MB, group, slowed(1, 1)), time) << text_of(group);
    EXPECT_GT(Algorithm::time(1_MB, group, slowed(1.01, 1)), time) << text_of(group);
    EXPECT_GT(Algorithm::time(1_MB, group, slowed(1, 0.99)), time) << text_of(group);
    EXPECT_NEAR(Algorithm::time(1_MB, group, slowed(2, 0.5)).si(), 2 * time.si(), 1e-15)
        << text_of(group);
  }
}

// ---- Bytes sent ----------------------------------------------------------------------------

TYPED_TEST(CollectiveContract, SendsItsVolumeFromTheBusiestRank) {
  using Algorithm = typename TypeParam::Algorithm;
  const Bytes size = 1_GB;
  for (const Group group : groups_for<Algorithm>()) {
    std::vector<double> sent(static_cast<std::size_t>(group.ranks()), 0.0);
    for (const Send& send : Algorithm::sends(size, group)) {
      EXPECT_DOUBLE_EQ(send.size.si(), size.si() * send.pieces / group.ranks());
      sent[static_cast<std::size_t>(send.from)] += send.size.si();
    }
    const double busiest = *std::max_element(sent.begin(), sent.end());
    EXPECT_NEAR(busiest, Algorithm::volume(size, group).si(), 1e-12 * size.si()) << text_of(group);
    EXPECT_GE(busiest, (1 - 1e-12) * volume(TypeParam::collective, size, group.ranks()).si())
        << text_of(group);
  }
}

TYPED_TEST(CollectiveContract, SendsOverTheTierThatJoinsTheTwoRanks) {
  using Algorithm = typename TypeParam::Algorithm;
  for (const Group group : groups_for<Algorithm>()) {
    for (const Send& send : Algorithm::sends(1_MB, group)) {
      EXPECT_NE(send.from, send.to);
      const bool other_node = send.from / group.per_node != send.to / group.per_node;
      EXPECT_TRUE(!other_node || send.tier == Tier::network)
          << text_of(group) << ": " << send.from << " to " << send.to;
    }
  }
}

// ---- Data flow -----------------------------------------------------------------------------

TYPED_TEST(CollectiveContract, LeavesEveryRankWithItsResult) {
  using Algorithm = typename TypeParam::Algorithm;
  for (const Group group : groups_for<Algorithm>()) {
    const auto ranks = static_cast<std::size_t>(group.ranks());
    DataFlow flow(TypeParam::collective, group);
    flow.play(Algorithm::sends(1_MB, group));
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      for (std::size_t piece = 0; piece < ranks; ++piece) {
        const Ranks result = wanted(TypeParam::collective, group, rank, piece);
        EXPECT_TRUE(result.empty() || flow.copy(rank, piece).holds == result)
            << text_of(group) << ": rank " << rank << ", piece " << piece;
      }
    }
  }
}

}  // namespace
}  // namespace titer
