#include "titer/plan/place/placement.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "plan/plans.hpp"

namespace titer {
namespace TITER_TEST_FILE {

constexpr std::array kAllDimensions = {
    Dimension::tensor, Dimension::context, Dimension::data, Dimension::pipeline};
using RankOrder = decltype(Plan::rank_order);

/// The groups of ranks that differ in this coordinate only.
PlanGroup group_along(Dimension dimension) {
  constexpr std::array groups = {
      PlanGroup::tensor, PlanGroup::context, PlanGroup::replicas, PlanGroup::pipeline};
  return groups[static_cast<std::size_t>(dimension)];
}

/// Of the degrees that plan_of() sets; context, of degree 1, is in none of their ways.
std::vector<RankOrder> all_orders() {
  RankOrder order = kAllDimensions;
  std::vector<RankOrder> orders;
  do {
    if (order[1] == Dimension::context) {
      orders.push_back(order);
    }
  } while (std::next_permutation(order.begin(), order.end()));
  return orders;
}

using plans::plan_of;

Plan plan_of(std::int64_t p, std::int64_t t, std::int64_t d, const RankOrder& order) {
  Plan plan = plan_of(p, t, d);
  plan.rank_order = order;
  return plan;
}

std::string text_of(const Plan& plan, int devices) {
  return "p t d = " + std::to_string(plan.pipeline) + " " + std::to_string(plan.tensor) + " " +
         std::to_string(plan.data) + ", " + rank_order_name(plan) + ", " + std::to_string(devices) +
         " per node";
}

/// The coordinate of a rank along one dimension: mixed-radix digits, the first of the order lowest.
std::int64_t coordinate(const Plan& plan, std::int64_t rank, Dimension dimension) {
  for (const Dimension other : plan.rank_order) {
    if (other == dimension) {
      break;
    }
    rank /= plan.degree(other);
  }
  return rank % plan.degree(dimension);
}

/// The ranks that differ in this coordinate only, in its order.
std::vector<std::vector<int>> groups_of(const Plan& plan, Dimension dimension) {
  std::map<std::vector<std::int64_t>, std::vector<int>> groups;
  for (int rank = 0; rank < plan.devices(); ++rank) {
    std::vector<std::int64_t> others;
    for (const Dimension other : kAllDimensions) {
      if (other != dimension) {
        others.push_back(coordinate(plan, rank, other));
      }
    }
    groups[others].push_back(rank);
  }
  std::vector<std::vector<int>> list;
  for (const auto& [others, ranks] : groups) {
    list.push_back(ranks);
  }
  return list;
}

/// How many ranks of a group each node holds.
std::map<int, int> by_node(const std::vector<int>& group, int devices) {
  std::map<int, int> counts;
  for (const int rank : group) {
    ++counts[rank / devices];
  }
  return counts;
}

/// Whether every group has `shape.per_node` ranks on each of `shape.nodes` nodes.
bool all_have_shape(const std::vector<std::vector<int>>& groups, Group shape, int devices) {
  return std::all_of(groups.begin(), groups.end(), [&](const auto& group) {
    const auto counts = by_node(group, devices);
    return static_cast<int>(counts.size()) == shape.nodes &&
           std::all_of(counts.begin(), counts.end(), [&](const auto& node) {
             return node.second == shape.per_node;
           });
  });
}

/// Of up to 256 devices: ranks are gone through one by one.
template <class Check>
void for_many_plans(Check check) {
  for (const auto& order : all_orders()) {
    for (const int p : {1, 2, 3, 4, 8}) {
      for (const int t : {1, 2, 3, 4, 8, 16}) {
        for (const int d : {1, 2, 3, 4, 6, 16}) {
          for (const int devices : {1, 4, 6, 8, 16}) {
            if (p * t * d <= 256) {
              check(plan_of(p, t, d, order), devices);
            }
          }
        }
      }
    }
  }
}

TEST(Placement, PutsTensorGroupsOfEightIntoOneNode) {
  const Plan plan = plan_of(8, 8, 16);
  const GroupPlace tensor = place(plan, PlanGroup::tensor, 8);
  EXPECT_EQ(tensor.group, (Group{.per_node = 8, .nodes = 1}));
  EXPECT_EQ(tensor.stride, 1);
  const GroupPlace data = place(plan, PlanGroup::replicas, 8);
  EXPECT_EQ(data.group, (Group{.per_node = 1, .nodes = 16}));
  EXPECT_EQ(data.stride, 8);
  const GroupPlace pipeline = place(plan, PlanGroup::pipeline, 8);
  EXPECT_EQ(pipeline.group, (Group{.per_node = 1, .nodes = 8}));
  EXPECT_EQ(pipeline.stride, 8 * 16);
}

TEST(Placement, SharesNodesBetweenDimensions) {
  const Plan plan = plan_of(2, 2, 16);
  EXPECT_EQ(place(plan, PlanGroup::tensor, 8).group, (Group{.per_node = 2, .nodes = 1}));
  const GroupPlace data = place(plan, PlanGroup::replicas, 8);
  EXPECT_EQ(data.group, (Group{.per_node = 8 / 2, .nodes = 16 / (8 / 2)}));
  EXPECT_EQ(data.stride, 2);
  EXPECT_EQ(data.stride_in_node, 2);
}

// F50: tensor parallelism inside machines, data parallelism across them, is the order by default.
TEST(F50_TensorInTheMachine, IsTheDefaultRankOrder) {
  const Plan plan = plan_of(2, 4, 8);
  EXPECT_EQ(rank_order_name(plan), "tp-dp-pp");
  EXPECT_EQ(place(plan, PlanGroup::tensor, 4).group.ring_tier(), Tier::node);
  EXPECT_EQ(place(plan, PlanGroup::replicas, 4).group.ring_tier(), Tier::network);
}

TEST(Placement, SplitsATensorGroupLargerThanANode) {
  EXPECT_EQ(place(plan_of(1, 8, 1), PlanGroup::tensor, 4).group,
            (Group{.per_node = 4, .nodes = 2}));
}

TEST(Placement, FollowsTheRankOrder) {
  const RankOrder data_first = {
      Dimension::data, Dimension::tensor, Dimension::context, Dimension::pipeline};
  const Plan plan = plan_of(1, 8, 8, data_first);
  EXPECT_EQ(place(plan, PlanGroup::replicas, 8).group, (Group{.per_node = 8, .nodes = 1}));
  EXPECT_EQ(place(plan, PlanGroup::tensor, 8).group, (Group{.per_node = 1, .nodes = 8}));
}

TEST(Placement, SendsAGroupThatFitsNoNodeThroughTheNetwork) {
  // Three ranks in a row on nodes of eight: the third group would lie across two nodes.
  EXPECT_EQ(place(plan_of(1, 3, 8), PlanGroup::tensor, 8).group,
            (Group{.per_node = 1, .nodes = 3}));
}

TEST(Placement, KeepsASmallJobInsideItsNode) {
  EXPECT_EQ(place(plan_of(1, 3, 2), PlanGroup::tensor, 8).group,
            (Group{.per_node = 3, .nodes = 1}));
  EXPECT_EQ(place(plan_of(1, 3, 2), PlanGroup::replicas, 8).group,
            (Group{.per_node = 2, .nodes = 1}));
}

TEST(Placement, SaysHowEveryGroupOfADimensionLies) {
  int mixed = 0;
  for_many_plans([&](const Plan& plan, int devices) {
    for (const Dimension dimension : kAllDimensions) {
      const GroupPlace placed = place(plan, group_along(dimension), devices);
      ASSERT_EQ(placed.group.ranks(), plan.degree(dimension)) << text_of(plan, devices);
      const auto groups = groups_of(plan, dimension);
      const bool tiled = placed.group.per_node > 1 || placed.group.nodes == 1;
      mixed += placed.group.per_node > 1 && placed.group.nodes > 1 ? 1 : 0;
      if (tiled) {
        EXPECT_TRUE(all_have_shape(groups, placed.group, devices)) << text_of(plan, devices);
      } else {
        // Apart from groups with one rank per node, only those that lie unevenly end up here.
        for (int per_node = 2; per_node <= placed.group.ranks(); ++per_node) {
          const Group other{.per_node = per_node, .nodes = placed.group.ranks() / per_node};
          EXPECT_FALSE(other.ranks() == placed.group.ranks() &&
                       all_have_shape(groups, other, devices))
              << text_of(plan, devices);
        }
      }
    }
  });
  EXPECT_GT(mixed, 100) << "groups with several ranks on each of several nodes were tried";
}

TEST(Placement, StrideIsTheDistanceOfNeighbours) {
  for_many_plans([&](const Plan& plan, int devices) {
    for (const Dimension dimension : kAllDimensions) {
      const GroupPlace placed = place(plan, group_along(dimension), devices);
      for (const auto& group : groups_of(plan, dimension)) {
        for (std::size_t i = 1; i < group.size(); ++i) {
          ASSERT_EQ(group[i] - group[i - 1], placed.stride) << text_of(plan, devices);
        }
      }
    }
  });
}

// F17: each device is in exactly one stage, one tensor group and one data-parallel group.
TEST(F17_Groups, HoldEveryRankExactlyOncePerDimension) {
  for_many_plans([&](const Plan& plan, int devices) {
    for (const Dimension dimension : kAllDimensions) {
      const GroupPlace placed = place(plan, group_along(dimension), devices);
      std::map<std::int64_t, std::set<std::int64_t>> groups;  // by first rank
      for (std::int64_t rank = 0; rank < plan.devices(); ++rank) {
        const std::int64_t number = rank / placed.stride % placed.group.ranks();
        groups[rank - number * placed.stride].insert(rank);
      }
      std::size_t members = 0;
      for (const auto& [first, ranks] : groups) {
        ASSERT_EQ(static_cast<int>(ranks.size()), placed.group.ranks()) << text_of(plan, devices);
        members += ranks.size();
      }
      ASSERT_EQ(static_cast<std::int64_t>(members), plan.devices());
      ASSERT_EQ(static_cast<std::int64_t>(groups.size()) * plan.degree(dimension), plan.devices());
    }
  });
}

/// Whether some pair of ranks of stage `from` and the next lies on two nodes.
bool some_pair_leaves(const Plan& plan, int from, int devices) {
  for (const auto& group : groups_of(plan, Dimension::pipeline)) {
    const auto here = static_cast<std::size_t>(from);
    const std::size_t next = (here + 1) % group.size();
    if (group[here] / devices != group[next] / devices) {
      return true;
    }
  }
  return false;
}

TEST(LeavesNode, IsSoWhereSomePairOfNeighbouringStagesIsApart) {
  for_many_plans([&](const Plan& plan, int devices) {
    const GroupPlace pipeline = place(plan, PlanGroup::pipeline, devices);
    for (int from = 0; from < plan.pipeline && plan.pipeline > 1; ++from) {
      EXPECT_EQ(leaves_node(pipeline, from, devices), some_pair_leaves(plan, from, devices))
          << text_of(plan, devices) << ", stage " << from;
    }
  });
}

TEST(LeavesNode, OnlyAtEveryOtherBoundaryOfHalfNodes) {
  const GroupPlace pipeline = place(plan_of(4, 4, 1), PlanGroup::pipeline, 8);
  EXPECT_FALSE(leaves_node(pipeline, 0, 8));
  EXPECT_TRUE(leaves_node(pipeline, 1, 8));
  EXPECT_FALSE(leaves_node(pipeline, 2, 8));
  EXPECT_TRUE(leaves_node(pipeline, 3, 8)) << "from the last stage to the first";
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
