// The groups of plans, one by one: the ranks are counted through in loops over their coordinates,
// and those that have everything in common but what a kind of groups is about are one of its
// groups.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "titer/plan/place/placement.hpp"

namespace titer {
namespace TITER_TEST_FILE {

/// What a rank has of a plan.
struct Place {
  std::array<std::int64_t, kDimensions> at{};  // by Dimension
  std::int64_t replica = 0;                    // its number among those with the same parameters
  std::int64_t expert_part = 0;                // of its experts
  std::int64_t experts = 0;                    // which of the layer's
  std::int64_t expert_replica = 0;             // among those with the same part of the same experts

  [[nodiscard]] std::int64_t of(Dimension dimension) const {
    return at[static_cast<std::size_t>(dimension)];
  }
};

/// Rank by rank: the innermost loop is over the first dimension of the order.
std::vector<Place> coordinates_of(const Plan& plan) {
  std::vector<Place> places;
  std::array<std::int64_t, kDimensions> i{};
  for (i[3] = 0; i[3] < plan.degree(plan.rank_order[3]); ++i[3]) {
    for (i[2] = 0; i[2] < plan.degree(plan.rank_order[2]); ++i[2]) {
      for (i[1] = 0; i[1] < plan.degree(plan.rank_order[1]); ++i[1]) {
        for (i[0] = 0; i[0] < plan.degree(plan.rank_order[0]); ++i[0]) {
          Place& place = places.emplace_back();
          for (std::size_t level = 0; level < kDimensions; ++level) {
            place.at[static_cast<std::size_t>(plan.rank_order[level])] = i[level];
          }
        }
      }
    }
  }
  return places;
}

/// Experts lie on the ranks of a stage as if it had no other dimensions: parts of the same experts
/// on neighbours, then other experts, then the same again.
void add_experts(const Plan& plan, std::vector<Place>& places) {
  auto rank = places.begin();
  for (std::int64_t stage = 0; stage < plan.pipeline; ++stage) {
    for (std::int64_t replica = 0; replica < plan.expert_replicas(); ++replica) {
      for (std::int64_t experts = 0; experts < plan.expert; ++experts) {
        for (std::int64_t part = 0; part < plan.expert_tensor_degree(); ++part, ++rank) {
          rank->expert_part = part;
          rank->experts = experts;
          rank->expert_replica = replica;
        }
      }
    }
  }
}

std::vector<Place> places_of(const Plan& plan) {
  std::vector<Place> places = coordinates_of(plan);
  std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> replicas;
  for (Place& place : places) {
    place.replica = replicas[{place.of(Dimension::tensor), place.of(Dimension::pipeline)}]++;
    place.expert_part = place.of(Dimension::tensor);
    place.expert_replica = place.replica;
  }
  if (has_own_expert_groups(plan)) {
    add_experts(plan, places);
  }
  return places;
}

using Shared = std::vector<std::int64_t>;

/// What the members of a rank's group have in common, for groups of the dense parts of a model.
Shared shared_by_dense(const Plan& plan, PlanGroup group, const Place& place) {
  const std::int64_t t = place.of(Dimension::tensor);
  const std::int64_t c = place.of(Dimension::context);
  const std::int64_t d = place.of(Dimension::data);
  const std::int64_t p = place.of(Dimension::pipeline);
  const std::int64_t shard = plan.shard.value_or(plan.replicas());
  switch (group) {
    case PlanGroup::tensor:
      return {c, d, p};
    case PlanGroup::context:
      return {t, d, p};
    case PlanGroup::data:
      return {t, c, p};
    case PlanGroup::pipeline:
      return {t, c, d};
    case PlanGroup::context_inner:
      return {t, d, p, c / plan.context_inner};
    case PlanGroup::context_outer:
      return {t, d, p, c % plan.context_inner};
    case PlanGroup::stage:
      return {p};
    case PlanGroup::shard:
      return {t, p, place.replica / shard};
    case PlanGroup::shard_copies:
      return {t, p, place.replica % shard};
    default:
      return {t, p};  // replicas
  }
}

/// The same where experts decide.
Shared shared_by_experts(const Plan& plan, PlanGroup group, const Place& place) {
  const std::int64_t p = place.of(Dimension::pipeline);
  const std::int64_t all = plan.expert_replicas();
  const std::int64_t shard = std::min(plan.shard.value_or(all), all);
  switch (group) {
    case PlanGroup::expert:
      return {p, place.expert_part, place.expert_replica};
    case PlanGroup::expert_tensor:
      return {p, place.experts, place.expert_replica};
    case PlanGroup::all_experts:
      return {p, place.expert_replica};
    case PlanGroup::expert_shard:
      return {p, place.expert_part, place.experts, place.expert_replica / shard};
    case PlanGroup::expert_shard_copies:
      return {p, place.expert_part, place.experts, place.expert_replica % shard};
    default:
      return {p, place.expert_part, place.experts};  // expert_replicas
  }
}

constexpr std::array kDenseGroups = {PlanGroup::tensor,
                                     PlanGroup::context,
                                     PlanGroup::data,
                                     PlanGroup::context_inner,
                                     PlanGroup::context_outer,
                                     PlanGroup::pipeline,
                                     PlanGroup::replicas,
                                     PlanGroup::shard,
                                     PlanGroup::shard_copies,
                                     PlanGroup::stage};
constexpr std::array kExpertGroups = {PlanGroup::expert,
                                      PlanGroup::expert_tensor,
                                      PlanGroup::all_experts,
                                      PlanGroup::expert_replicas,
                                      PlanGroup::expert_shard,
                                      PlanGroup::expert_shard_copies};
static_assert(kDenseGroups.size() + kExpertGroups.size() ==
                  static_cast<std::size_t>(PlanGroup::stage) + 1,
              "every kind of groups is tried");

std::string text_of(const Plan& plan, PlanGroup group) {
  std::string text = "group " + std::to_string(static_cast<int>(group)) + " of";
  for (const std::int64_t degree : {plan.tensor,
                                    plan.context,
                                    plan.expert,
                                    plan.expert_tensor_degree(),
                                    plan.pipeline,
                                    plan.data,
                                    plan.shard.value_or(0),
                                    plan.context_inner}) {
    text += " " + std::to_string(degree);
  }
  return text + " (t c e etp p d shard inner) " + rank_order_name(plan);
}

using Groups = std::set<std::vector<std::int64_t>>;

/// By what their members have in common.
template <class SharedBy>
Groups listed(const std::vector<Place>& places, const SharedBy& shared_by) {
  std::map<Shared, std::vector<std::int64_t>> by_key;
  for (std::size_t rank = 0; rank < places.size(); ++rank) {
    by_key[shared_by(places[rank])].push_back(static_cast<std::int64_t>(rank));
  }
  Groups groups;
  for (const auto& [key, ranks] : by_key) {
    groups.insert(ranks);
  }
  return groups;
}

/// By their ranks and stride.
Groups reckoned(const GroupRanks& of, std::int64_t devices) {
  Groups groups;
  for (std::int64_t rank = 0; rank < devices; ++rank) {
    std::vector<std::int64_t> ranks;
    for (std::int64_t member = 0; member < of.ranks; ++member) {
      ranks.push_back(of.first(rank) + member * of.stride);
    }
    EXPECT_EQ(ranks[static_cast<std::size_t>(of.member(rank))], rank);
    groups.insert(std::move(ranks));
  }
  return groups;
}

/// Groups are numbered from 0, and all members of one have its number.
void expect_numbered(const GroupRanks& of, const Groups& groups, const std::string& text) {
  std::set<std::int64_t> numbers;
  for (const auto& ranks : groups) {
    for (const std::int64_t rank : ranks) {
      EXPECT_EQ(of.number(rank), of.number(ranks.front())) << text;
    }
    numbers.insert(of.number(ranks.front()));
  }
  EXPECT_EQ(numbers.size(), groups.size()) << text;
  EXPECT_EQ(*numbers.rbegin(), static_cast<std::int64_t>(groups.size()) - 1) << text;
}

/// The same groups as a room asks for them, pipeline rank by pipeline rank.
Groups of_all_stages(const Plan& plan, PlanGroup group) {
  Groups groups;
  for (int rank = 0; rank < plan.pipeline; ++rank) {
    for (const std::vector<int>& ranks : groups_of(plan, group, rank)) {
      groups.emplace(ranks.begin(), ranks.end());
    }
  }
  return groups;
}

template <class SharedBy>
void expect_groups(const Plan& plan,
                   const std::vector<Place>& places,
                   PlanGroup group,
                   const SharedBy& shared_by) {
  const std::string text = text_of(plan, group);
  const Groups groups =
      listed(places, [&](const Place& place) { return shared_by(plan, group, place); });
  const GroupRanks of = group_ranks(plan, group);
  ASSERT_EQ(reckoned(of, plan.devices()), groups) << text;
  expect_numbered(of, groups, text);
  ASSERT_EQ(of_all_stages(plan, group), groups) << text;
}

/// Every plan of up to 48 devices of these degrees whose groups are evenly apart.
template <class Check>
int for_plans(const Plan& degrees, Check check) {
  Plan plan = degrees;
  std::sort(plan.rank_order.begin(), plan.rank_order.end());
  int plans = 0;
  do {
    const bool fits = plan.devices() <= 48 && plan.stage_devices() % plan.expert_ranks() == 0 &&
                      plan.context % plan.context_inner == 0 &&
                      plan.replicas() % plan.shard.value_or(1) == 0 &&
                      (plan.shard.value_or(1) > plan.expert_replicas() ||
                       plan.expert_replicas() % plan.shard.value_or(1) == 0);
    if (fits && !refused_order(plan)) {
      check(plan, places_of(plan));
      ++plans;
    }
  } while (std::next_permutation(plan.rank_order.begin(), plan.rank_order.end()));
  return plans;
}

template <class Check>
int for_degrees(Check check) {
  int plans = 0;
  Plan plan;
  for (const std::int64_t t : {1, 2, 3}) {
    for (const std::int64_t c : {1, 4}) {
      for (const std::int64_t d : {1, 2, 4}) {
        for (const std::int64_t p : {1, 3}) {
          plan.tensor = t;
          plan.context = c;
          plan.data = d;
          plan.pipeline = p;
          plans += check(plan);
        }
      }
    }
  }
  return plans;
}

TEST(PlanGroups, OfDenseLayersAreTheRanksThatDifferInTheirCoordinateOnly) {
  const int plans = for_degrees([](Plan plan) {
    int tried = 0;
    for (const std::int64_t inner : {1, 2}) {
      for (const std::int64_t shard : {0, 2}) {
        plan.context_inner = inner;
        plan.shard = shard > 0 ? std::optional(shard) : std::nullopt;
        tried += for_plans(plan, [](const Plan& one, const std::vector<Place>& places) {
          for (const PlanGroup group : kDenseGroups) {
            // All of a stage lies evenly apart where stages are outermost; it is asked for no
            // other.
            const bool outermost =
                one.pipeline == 1 || one.rank_order.back() == Dimension::pipeline;
            if (group != PlanGroup::stage || outermost) {
              expect_groups(one, places, group, shared_by_dense);
            }
          }
        });
      }
    }
    return tried;
  });
  EXPECT_GT(plans, 400);
}

TEST(PlanGroups, OfExpertsAreLaidOutOverTheRanksOfAStage) {
  int split = 0;  // plans whose experts are split otherwise than the rest, and have replicas
  const int plans = for_degrees([&](Plan plan) {
    int tried = 0;
    for (const std::int64_t e : {1, 2, 4, 6}) {
      for (const std::int64_t etp : {0, 1, 2, 3}) {
        for (const std::int64_t shard : {0, 2}) {
          plan.expert = e;
          plan.expert_tensor = etp > 0 ? std::optional(etp) : std::nullopt;
          plan.shard = shard > 0 ? std::optional(shard) : std::nullopt;
          tried += for_plans(plan, [&](const Plan& one, const std::vector<Place>& places) {
            split += one.expert_tensor_degree() > 1 && one.expert_replicas() > 1 ? 1 : 0;
            for (const PlanGroup group : kExpertGroups) {
              expect_groups(one, places, group, shared_by_experts);
            }
          });
        }
      }
    }
    return tried;
  });
  EXPECT_GT(plans, 400);
  EXPECT_GT(split, 50);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
