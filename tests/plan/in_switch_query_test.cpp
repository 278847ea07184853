// What a collective takes on a shipped cluster whose switch adds, executed on the cluster's graph.
#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "plan/shipped.hpp"
#include "titer/plan/place/collective_query.hpp"

namespace titer {
namespace TITER_TEST_FILE {

CollectiveAnswer all_reduce(const Cluster& cluster, int ranks, NetworkFidelity fidelity) {
  std::vector<std::vector<int>> groups(1, std::vector<int>(static_cast<std::size_t>(ranks)));
  std::iota(groups.front().begin(), groups.front().end(), 0);
  CollectiveDesk desk(cluster, groups, 0);
  CollectiveQuery query;
  query.collective = Collective::all_reduce;
  query.size = 1_GiB;
  query.fidelity = fidelity;
  return desk.answer(query);
}

TEST(InSwitchQuery, NamesTheSwitchsProtocolAndExecutesAtItsEfficiency) {
  const Cluster cluster = shipped::cluster("dgx-h100");
  for (const NetworkFidelity fidelity :
       {NetworkFidelity::closed, NetworkFidelity::busiest, NetworkFidelity::flow}) {
    const CollectiveAnswer answer = all_reduce(cluster, 8, fidelity);
    EXPECT_EQ(answer.algorithm->name, "in-switch");
    EXPECT_EQ(answer.protocols.node, "nvls");
    EXPECT_EQ(answer.protocols.network, "");
    EXPECT_NEAR(answer.time / answer.closed_time, 1.0, 1e-6);
  }
}

TEST(InSwitchQuery, PlacesASwitchInEveryNode) {
  const Cluster cluster = shipped::cluster("dgx-h100");
  std::vector<std::vector<int>> groups(1, std::vector<int>(32));
  std::iota(groups.front().begin(), groups.front().end(), 0);
  CollectiveDesk desk(cluster, groups, 0);
  CollectiveQuery query;
  query.collective = Collective::all_reduce;
  query.size = 256_MiB;
  query.algorithm = "hierarchical-in-switch";
  query.fidelity = NetworkFidelity::busiest;
  const CollectiveAnswer answer = desk.answer(query);
  EXPECT_NEAR(answer.time / answer.closed_time, 1.0, 0.05);
}

TEST(InSwitchQuery, RailsKeepTheProtocolsOfRings) {
  const CollectiveAnswer answer =
      all_reduce(shipped::cluster("dgx-h100"), 16, NetworkFidelity::flow);
  EXPECT_EQ(answer.algorithm->name, "multi-rail-rings");
  EXPECT_EQ(answer.protocols.node, "middle");  // the network holds it up
  EXPECT_EQ(answer.protocols.network, "simple");
  EXPECT_LE(answer.time, answer.closed_time);
  EXPECT_GE(answer.time, 0.8 * answer.closed_time);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
