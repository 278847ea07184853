#include "titer/simulate/world.hpp"

#include <algorithm>

#include "titer/cost/sync_cost.hpp"
#include "titer/estimate/device_classes.hpp"

namespace titer {
namespace {

bool is_synchronisation(Meeting meeting) {
  return meeting == Meeting::data || meeting == Meeting::experts;
}

std::size_t at(Post post) { return static_cast<std::size_t>(post); }

}  // namespace

PlanGroup group_of(Meeting meeting, const Plan& plan) {
  if (plan.local_steps && is_synchronisation(meeting)) {
    return meeting == Meeting::data ? PlanGroup::shard : PlanGroup::expert_shard;
  }
  constexpr std::array<PlanGroup, kMeetings> groups = {PlanGroup::tensor,
                                                       PlanGroup::context,
                                                       PlanGroup::all_experts,
                                                       PlanGroup::shard,
                                                       PlanGroup::replicas,
                                                       PlanGroup::expert_replicas};
  return groups[static_cast<std::size_t>(meeting)];
}

Crossings::Crossings(const Scenario& scenario) {
  const int devices = scenario.cluster.devices_per_node;
  for (const Meeting meeting : kAllMeetings) {
    of_[static_cast<std::size_t>(meeting)] =
        place(scenario.plan, group_of(meeting, scenario.plan), devices).group.nodes > 1;
  }
  const Placement placed = placement(scenario.plan.schedule);
  for (int rank = 0; rank < static_cast<int>(scenario.plan.pipeline); ++rank) {
    const SyncGroups groups = sync_groups(scenario, placed, rank);
    bool& dense = of_[static_cast<std::size_t>(Meeting::data)];
    bool& experts = of_[static_cast<std::size_t>(Meeting::experts)];
    dense = dense || groups.dense.group.nodes > 1;
    experts = experts || groups.experts.group.nodes > 1;
  }
  const GroupPlace pipeline = place(scenario.plan, PlanGroup::pipeline, devices);
  for (int stage = 0; stage < static_cast<int>(scenario.plan.pipeline); ++stage) {
    boundary_.push_back(leaves_node(pipeline, stage, devices));
  }
}

World::World(const Scenario& scenario, bool every_rank)
    : stages_(static_cast<int>(scenario.plan.pipeline)),
      two_ways_(placement(scenario.plan.schedule) == Placement::two_ways) {
  const Plan& plan = scenario.plan;
  if (every_rank) {
    number(plan);
  } else {
    for (int stage = 0; stage < stages_; ++stage) {
      ranks_.push_back({.stage = stage, .stands_for = plan.stage_devices()});
    }
  }
  place_semaphores();
  for (const Meeting meeting : kAllMeetings) {
    const auto ranks = static_cast<int>(groups_[static_cast<std::size_t>(meeting)].ranks);
    members_[meeting] = two_ways_ && is_synchronisation(meeting) ? 2 * ranks : ranks;
  }
  if (!scenario.conditions.uniform()) {
    find_factors(scenario);
  }
}

std::size_t World::at_stage(std::size_t rank, int stage) const {
  const auto own = static_cast<std::size_t>(ranks_[rank].stage);
  return rank - own * stride_ + static_cast<std::size_t>(stage) * stride_;
}

std::size_t World::neighbour(std::size_t rank, bool onward) const {
  return at_stage(rank, (ranks_[rank].stage + (onward ? 1 : stages_ - 1)) % stages_);
}

std::size_t World::first_of(std::size_t rank, Affected affected) const {
  if (const auto meeting = meeting_of(affected)) {
    const GroupRanks& groups = groups_[static_cast<std::size_t>(*meeting)];
    return static_cast<std::size_t>(groups.first(static_cast<std::int64_t>(rank)));
  }
  return affected == Affected::ends ? at_stage(rank, 0) : rank;
}

void World::number(const Plan& plan) {
  const GroupRanks pipeline = group_ranks(plan, PlanGroup::pipeline);
  const GroupRanks tensor = group_ranks(plan, PlanGroup::tensor);
  const GroupRanks context = group_ranks(plan, PlanGroup::context);
  const GroupRanks data = group_ranks(plan, PlanGroup::data);
  stride_ = static_cast<std::size_t>(pipeline.stride);
  for (std::int64_t rank = 0; rank < plan.devices(); ++rank) {
    ranks_.push_back({.stage = static_cast<int>(pipeline.member(rank)),
                      .tensor = static_cast<int>(tensor.member(rank)),
                      .data = static_cast<int>(data.member(rank)),
                      .context = static_cast<int>(context.member(rank))});
  }
  for (const Meeting meeting : kAllMeetings) {
    groups_[static_cast<std::size_t>(meeting)] = group_ranks(plan, group_of(meeting, plan));
  }
}

void World::place_semaphores() {
  const auto own = [](std::size_t rank, Post post) {
    return static_cast<SemaphoreId>(kOwnPosts * rank + at(post));
  };
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
    const std::size_t previous = neighbour(rank, false);
    const std::size_t next = neighbour(rank, true);
    std::array<SemaphoreId, kPosts>& posts = posts_.emplace_back();
    for (std::size_t post = 0; post < kOwnPosts; ++post) {
      posts[post] = own(rank, static_cast<Post>(post));
    }
    posts[at(Post::previous_done)] = own(previous, Post::done);
    posts[at(Post::next_done)] = own(next, Post::done);
    posts[at(Post::to_previous)] = own(previous, Post::from_next);
    posts[at(Post::to_next)] = own(next, Post::from_previous);
  }
  semaphores_ = share_semaphores(kOwnPosts * ranks_.size());
}

std::size_t World::share_semaphores(std::size_t from) {
  for (const Meeting meeting : kAllMeetings) {
    const GroupRanks& groups = groups_[static_cast<std::size_t>(meeting)];
    const std::size_t count = ranks_.size() / static_cast<std::size_t>(groups.ranks);
    const bool begins = !is_synchronisation(meeting);
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
      const int stage = ranks_[rank].stage;
      const bool joins = two_ways_ && is_synchronisation(meeting);
      const std::size_t of = joins ? at_stage(rank, std::min(stage, stages_ - 1 - stage)) : rank;
      const auto number = static_cast<std::size_t>(groups.number(static_cast<std::int64_t>(of)));
      posts_[rank][at(post_of(meeting))] = static_cast<SemaphoreId>(from + number);
      if (begins) {
        posts_[rank][at(begin_of(meeting))] = static_cast<SemaphoreId>(from + count + number);
      }
    }
    from += begins ? 2 * count : count;
  }
  // The first and the last rank at a place of the pipeline ranks.
  const GroupRanks pipeline{.ranks = stages_, .stride = static_cast<std::int64_t>(stride_)};
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
    const auto number = static_cast<std::size_t>(pipeline.number(static_cast<std::int64_t>(rank)));
    posts_[rank][at(Post::ends)] = static_cast<SemaphoreId>(from + number);
  }
  return from + ranks_.size() / static_cast<std::size_t>(stages_);
}

std::vector<double> World::group_factors(const Conditions& conditions,
                                         Post group,
                                         bool network) const {
  std::vector<double> factors(semaphores_, 0);
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
    double& of_group = factors[semaphore(rank, group)];
    of_group =
        std::max(of_group, conditions.transfer_factor(static_cast<std::int64_t>(rank), network));
  }
  return factors;
}

/// A transfer is as slow as the slowest of those that take part.
void World::find_factors(const Scenario& scenario) {
  const Conditions& conditions = scenario.conditions;
  const Crossings crossings(scenario);
  const auto pair = [&](std::size_t one, std::size_t other, bool network) {
    return std::max(conditions.transfer_factor(static_cast<std::int64_t>(one), network),
                    conditions.transfer_factor(static_cast<std::int64_t>(other), network));
  };
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
    const int stage = ranks_[rank].stage;
    const std::size_t opposite = at_stage(rank, stages_ - 1 - stage);
    std::array<double, kAffected>& factors = factors_.emplace_back();
    factors.fill(1);
    const auto set = [&](Affected affected, double value) {
      factors[static_cast<std::size_t>(affected)] = value;
    };
    set(Affected::to_next, pair(rank, neighbour(rank, true), crossings.after(stage)));
    set(Affected::to_previous, pair(rank, neighbour(rank, false), crossings.after(before(stage))));
    set(Affected::ends, pair(rank, opposite, crossings.after(stages_ - 1)));
  }
  for (const Meeting meeting : kAllMeetings) {
    const auto of_groups = group_factors(conditions, post_of(meeting), crossings.of(meeting));
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
      factors_[rank][static_cast<std::size_t>(affected_by(meeting))] =
          of_groups[semaphore(rank, post_of(meeting))];
    }
  }
}

std::vector<std::size_t> classes_of(const Scenario& scenario,
                                    const World& world,
                                    std::span<const StepCosts> costs) {
  std::vector<std::size_t> classes(world.ranks().size(), 0);
  if (costs.size() == 1) {
    return classes;
  }
  const auto slower = [&](std::size_t one, std::size_t other) {
    const auto pass_time = [&](std::size_t of_class) {
      const BlockCost& layer = costs[of_class].kinds.front();
      return layer.forward.compute + layer.backward.compute;
    };
    return pass_time(one) > pass_time(other);
  };
  const std::vector<std::size_t> first_of_replica = first_classes(scenario);
  std::vector<std::optional<std::size_t>> slowest(world.semaphores());
  for (std::size_t rank = 0; rank < classes.size(); ++rank) {
    auto& of_group = slowest[world.semaphore(rank, Post::tensor)];
    const std::size_t own = first_of_replica[static_cast<std::size_t>(world.ranks()[rank].data)] +
                            scenario.conditions.chip_class(static_cast<std::int64_t>(rank));
    of_group = !of_group || slower(own, *of_group) ? own : *of_group;
  }
  for (std::size_t rank = 0; rank < classes.size(); ++rank) {
    classes[rank] = *slowest[world.semaphore(rank, Post::tensor)];
  }
  return classes;
}

}  // namespace titer
