// What the groups of plans can send: as much as their ranks can, listed one by one.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "plan/shipped.hpp"
#include "titer/collectives/choice.hpp"
#include "titer/plan/place/collective_query.hpp"
#include "titer/plan/place/torus_place.hpp"

namespace titer {
namespace TITER_TEST_FILE {

constexpr std::array kCollectives = {Collective::all_reduce,
                                     Collective::all_gather,
                                     Collective::reduce_scatter,
                                     Collective::all_to_all,
                                     Collective::broadcast,
                                     Collective::reduce,
                                     Collective::send_recv};
constexpr std::array kSizes = {1_KiB, 1_MiB, 1_GiB};

std::vector<Cluster> shipped_clusters() {
  std::vector<Cluster> clusters;
  for (const std::string& name : shipped_names(kClusterData)) {
    clusters.push_back(shipped::cluster(name));
  }
  return clusters;
}

/// The groups of one kind on a cluster of nodes.
struct Lie {
  int ranks = 1;  // of a node
  int stride = 1;
  int nodes = 1;

  [[nodiscard]] Group group() const { return {.per_node = ranks, .nodes = nodes}; }
  [[nodiscard]] std::string text(const Cluster& cluster, Collective collective) const {
    return std::string(name_of(collective)) + " of " + std::to_string(ranks) + " every " +
           std::to_string(stride) + " on " + std::to_string(nodes) + " of " + cluster.name;
  }
};

/// Every kind that fits in the nodes of a cluster.
std::vector<Lie> lies_of(const Cluster& cluster) {
  std::vector<Lie> lies;
  for (int ranks = 1; ranks <= cluster.devices_per_node; ++ranks) {
    for (int stride = 1; ranks * stride <= cluster.devices_per_node; ++stride) {
      for (const int nodes : {1, 2, 5}) {
        lies.push_back({ranks, stride, nodes});
      }
    }
  }
  return lies;
}

TEST(PlanFabric, HasATimeForEveryCollectiveOnNodes) {
  int asked = 0;
  for (const Cluster& cluster : shipped_clusters()) {
    if (cluster.torus() != nullptr) {
      continue;
    }
    for (const Lie& lie : lies_of(cluster)) {
      const Group group = lie.group();
      const Fabric fabric = cluster.fabric(lie.ranks, lie.stride);
      for (const Collective collective : kCollectives) {
        if (group.ranks() == 1 || (collective == Collective::send_recv && group.ranks() > 2)) {
          continue;
        }
        for (const Bytes size : kSizes) {
          ASSERT_NO_THROW({
            const Seconds time = collective_time(collective, size, group, fabric).time;
            EXPECT_GT(time, Seconds{}) << lie.text(cluster, collective);
          }) << lie.text(cluster, collective);
          ++asked;
        }
      }
    }
  }
  EXPECT_GT(asked, 10'000);
}

/// No plan broadcasts on a torus, nor reduces to one chip.
TEST(PlanFabric, HasATimeForWhatPlansAskOfATorus) {
  int asked = 0;
  for (const Cluster& cluster : shipped_clusters()) {
    if (cluster.torus() == nullptr) {
      continue;
    }
    const std::int64_t chips = cluster.torus()->devices();
    for (std::int64_t ranks = 2; ranks <= chips; ranks *= 2) {
      for (std::int64_t stride = 1; ranks * stride <= chips; stride *= 2) {
        const auto shape = torus_shape(*cluster.torus(), {.ranks = ranks, .stride = stride});
        if (!shape) {
          continue;
        }
        const auto count = static_cast<int>(ranks);
        const Group group{.per_node = count, .nodes = 1, .torus = *shape};
        const Fabric fabric = cluster.fabric(count, static_cast<int>(stride));
        for (const Collective collective : {Collective::all_reduce,
                                            Collective::all_gather,
                                            Collective::reduce_scatter,
                                            Collective::all_to_all}) {
          EXPECT_GT(collective_time(collective, 1_MiB, group, fabric).time, Seconds{})
              << cluster.name << " " << ranks << " every " << stride;
          ++asked;
        }
      }
    }
  }
  EXPECT_GT(asked, 100);
}

/// What the slowest of the groups takes whose ranks are listed: each on the same devices of all its
/// nodes, all at once where they share a tree's ways.
Seconds slowest_listed(const Cluster& cluster, const Lie& lie, const CollectiveQuery& query) {
  std::vector<std::vector<int>> groups;
  const int n = cluster.devices_per_node;
  for (int first = 0; first < n; ++first) {
    if (first % (lie.ranks * lie.stride) >= lie.stride) {
      continue;
    }
    std::vector<int>& devices = groups.emplace_back();
    for (int node = 0; node < lie.nodes; ++node) {
      for (int rank = 0; rank < lie.ranks; ++rank) {
        devices.push_back(node * n + first + rank * lie.stride);
      }
    }
  }
  if (cluster.nodes_are_trees()) {
    return CollectiveDesk(cluster, groups).answer(query).time;
  }
  Seconds slowest;
  for (const std::vector<int>& devices : groups) {
    slowest = std::max(slowest, CollectiveDesk(cluster, std::array{devices}).answer(query).time);
  }
  return slowest;
}

TEST(PlanFabric, TakesWhatItsSlowestGroupTakesWhoseRanksAreListed) {
  int asked = 0;
  for (const Cluster& cluster : shipped_clusters()) {
    if (cluster.torus() != nullptr || cluster.devices_per_node > 16) {
      continue;
    }
    for (const Lie& lie : lies_of(cluster)) {
      if (lie.ranks == 1 || cluster.devices_per_node % (lie.ranks * lie.stride) != 0) {
        continue;
      }
      for (const Collective collective : {Collective::all_reduce,
                                          Collective::all_gather,
                                          Collective::reduce_scatter,
                                          Collective::all_to_all}) {
        const Bytes size = 64_MiB;
        const Fabric fabric = cluster.fabric(lie.ranks, lie.stride);
        const Seconds of_plan = collective_time(collective, size, lie.group(), fabric).time;
        const Seconds listed = slowest_listed(cluster,
                                              lie,
                                              {.collective = collective,
                                               .size = size,
                                               .algorithm = {},
                                               .fidelity = NetworkFidelity::closed});
        EXPECT_NEAR(of_plan / listed, 1.0, 1e-12) << lie.text(cluster, collective);
        ++asked;
      }
    }
  }
  EXPECT_GT(asked, 1000);
}

TEST(Mi300x, SendsToAllOthersAtOnceInPlansAsForListedRanks) {
  const Cluster cluster = shipped::cluster("mi300x-8");
  const Fabric fabric = cluster.fabric(4, 1);
  const Bytes size = 64_MiB;
  const CollectiveTime time =
      collective_time(Collective::all_to_all, size, {.per_node = 4}, fabric);
  EXPECT_EQ(time.algorithm, "direct");
  // Each of three wires carries a quarter of what a rank hands out.
  const Protocol& simple = cluster.node_protocols.back();
  const BytesPerSecond wire = *cluster.pair_bandwidths[1];
  EXPECT_NEAR(time.time.si(),
              (simple.startup + simple.latency +
               (1 + simple.own_share / 3) * (size / 4) / (simple.efficiency * wire))
                  .si(),
              1e-12);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
