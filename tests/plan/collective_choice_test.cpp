// Which algorithm a collective takes where links are narrow, and where one is named.

#include <gtest/gtest.h>

#include "plan/shipped.hpp"
#include "titer/plan/place/collective_query.hpp"
#include "titer/scenario/load_part.hpp"
#include "titer/topology/family/trees.hpp"

namespace titer {
namespace TITER_TEST_FILE {

constexpr Collective kExchange = Collective::all_to_all;

/// Eight nodes on rails, four to a group, whose rail switches have so many times fewer links up.
Cluster on_rails(double oversubscription) {
  Cluster cluster = shipped::cluster("dgx-h100");
  cluster.network_topology = NamedTopology{.family = Rails{.nodes = 8,
                                                           .rails = 8,
                                                           .nodes_per_group = 4,
                                                           .spines = 2,
                                                           .oversubscription = oversubscription,
                                                           .bandwidth = cluster.nic_bandwidth}};
  return cluster;
}

CollectiveAnswer asked(const Cluster& cluster,
                       NetworkFidelity fidelity,
                       const std::string& algorithm = "",
                       Collective collective = kExchange) {
  // Four nodes, a group of rail switches.
  const std::vector<std::vector<int>> ranks = {parse_devices("0-31")};
  return CollectiveDesk(cluster, ranks)
      .answer({.collective = collective,
               .size = 256_MiB,
               .algorithm = algorithm,
               .fidelity = fidelity});
}

TEST(CollectiveChoice, IsMadeAtTheFidelityAskedFor) {
  for (const NetworkFidelity fidelity : {NetworkFidelity::busiest, NetworkFidelity::flow}) {
    const Cluster narrow = on_rails(8);
    const CollectiveAnswer answer = asked(narrow, fidelity);
    EXPECT_EQ(answer.algorithm->name, "rail-direct");
    ASSERT_TRUE(answer.by_closed_form.has_value());
    EXPECT_EQ(answer.by_closed_form->algorithm->name, "two-tier-direct");
    EXPECT_EQ(answer.by_closed_form->time, asked(narrow, fidelity, "two-tier-direct").time);
    EXPECT_GT(answer.by_closed_form->time, 2 * answer.time);
    // Along its rail nothing crosses a spine.
    EXPECT_EQ(answer.time, asked(on_rails(1), fidelity, "rail-direct").time);
    EXPECT_EQ(asked(narrow, NetworkFidelity::closed).algorithm->name, "two-tier-direct");
  }
}

TEST(CollectiveChoice, IsNoSlowerThanWhatTheLibraryHasBesides) {
  for (const double oversubscription : {1.0, 2.0, 4.0, 8.0}) {
    const Cluster cluster = on_rails(oversubscription);
    for (const Collective collective :
         {Collective::all_reduce, Collective::all_gather, kExchange}) {
      const CollectiveAnswer best = asked(cluster, NetworkFidelity::busiest, "", collective);
      for (const Candidate& candidate : best.candidates) {
        if (candidate.time && candidate.algorithm->in_library) {
          const std::string name(candidate.algorithm->name);
          EXPECT_LE(best.time, asked(cluster, NetworkFidelity::busiest, name, collective).time)
              << name << " at " << oversubscription;
        }
      }
    }
  }
}

TEST(CollectiveChoice, IsTheNamedOneWhereItApplies) {
  const auto named = [](const std::string& assignment) {
    return load_cluster(Value("dgx-h100"), std::vector{parse_assignment(assignment)});
  };
  const Cluster cluster = named("cluster.network.collectives.all_to_all=rail-direct");
  const CollectiveAnswer answer = asked(cluster, NetworkFidelity::closed);
  EXPECT_EQ(answer.algorithm->name, "rail-direct");
  EXPECT_TRUE(answer.named);
  EXPECT_EQ(answer.remark, "");
  EXPECT_EQ(asked(cluster, NetworkFidelity::closed, "pairwise").algorithm->name, "pairwise");
  // In a node there are no rails.
  const Cluster vain = named("cluster.network.collectives.all_reduce=torus-bucket");
  const CollectiveAnswer other = asked(vain, NetworkFidelity::closed, "", Collective::all_reduce);
  EXPECT_EQ(other.algorithm,
            asked(on_rails(1), NetworkFidelity::closed, "", Collective::all_reduce).algorithm);
  EXPECT_EQ(other.remark,
            "torus-bucket, which is named, needs ranks that are a torus, or a box of one");
  const Cluster inside = named("cluster.node.collectives.all_to_all=pairwise");
  EXPECT_EQ(asked(inside, NetworkFidelity::closed).algorithm->name, "two-tier-direct");
  const std::vector<std::vector<int>> ranks = {parse_devices("0-7")};
  CollectiveDesk node(inside, ranks);
  EXPECT_EQ(node.answer({.collective = kExchange, .size = 1_MiB, .algorithm = {}}).algorithm->name,
            "pairwise");
}

TEST(CollectiveChoice, RefusesNamesThatAreNoAlgorithms) {
  const auto refusal = [](const std::string& assignment) -> std::string {
    try {
      (void)load_cluster(Value("dgx-h100"), std::vector{parse_assignment(assignment)});
    } catch (const InputError& error) {
      return error.what();
    }
    return "none";
  };
  EXPECT_NE(refusal("cluster.network.collectives.all_to_all=rail-dirct")
                .find("did you mean \"rail-direct\"?"),
            std::string::npos)
      << refusal("cluster.network.collectives.all_to_all=rail-dirct");
  EXPECT_NE(refusal("cluster.network.collectives.all_too_all=ring").find("all_to_all"),
            std::string::npos);
  EXPECT_NE(refusal("cluster.node.collectives.broadcast=rail-direct").find("chain"),
            std::string::npos);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
