#include "titer/step/world.hpp"

#include <algorithm>

#include "sync_cost.hpp"

namespace titer {
namespace {

std::size_t at(Dimension dimension) { return static_cast<std::size_t>(dimension); }

}  // namespace

Crossings::Crossings(const Scenario& scenario) {
  const int devices = scenario.cluster.devices_per_node;
  tensor = place(scenario.plan, Dimension::tensor, devices).group.nodes > 1;
  const Placement placed = placement(scenario.plan.schedule);
  for (int rank = 0; rank < static_cast<int>(scenario.plan.pipeline); ++rank) {
    data = data || sync_group(scenario, placed, rank).group.nodes > 1;
  }
  const GroupPlace pipeline = place(scenario.plan, Dimension::pipeline, devices);
  for (int stage = 0; stage < static_cast<int>(scenario.plan.pipeline); ++stage) {
    boundary.push_back(leaves_node(pipeline, stage, devices));
  }
}

World::World(const Scenario& scenario, bool every_rank)
    : stages_(static_cast<int>(scenario.plan.pipeline)),
      two_ways_(placement(scenario.plan.schedule) == Placement::two_ways) {
  const Plan& plan = scenario.plan;
  if (every_rank) {
    members_ = {.tensor = static_cast<int>(plan.tensor), .data = static_cast<int>(plan.data)};
    number(plan);
  } else {
    stride_[at(Dimension::pipeline)] = 1;
    for (int stage = 0; stage < stages_; ++stage) {
      ranks_.push_back({.stage = stage, .stands_for = plan.tensor * plan.data});
    }
  }
  place_semaphores();
  members_.data *= two_ways_ ? 2 : 1;
  if (!scenario.conditions.uniform()) {
    find_factors(scenario);
  }
}

std::size_t World::index(int stage, int tensor, int data) const {
  return static_cast<std::size_t>(stage) * stride_[at(Dimension::pipeline)] +
         static_cast<std::size_t>(tensor) * stride_[at(Dimension::tensor)] +
         static_cast<std::size_t>(data) * stride_[at(Dimension::data)];
}

std::size_t World::neighbour(std::size_t rank, bool onward) const {
  const TimelineRank& own = ranks_[rank];
  return index((own.stage + (onward ? 1 : stages_ - 1)) % stages_, own.tensor, own.data);
}

std::size_t World::first_of(std::size_t rank, Affected affected) const {
  const TimelineRank& own = ranks_[rank];
  switch (affected) {
    case Affected::tensor:
      return index(own.stage, 0, own.data);
    case Affected::data:
      return index(own.stage, own.tensor, 0);
    case Affected::ends:
      return index(0, own.tensor, own.data);
    case Affected::nothing:
    case Affected::compute:
    case Affected::to_previous:
    case Affected::to_next:
      break;
  }
  return rank;
}

void World::number(const Plan& plan) {
  std::size_t stride = 1;
  for (const Dimension dimension : plan.rank_order) {
    stride_[at(dimension)] = stride;
    stride *= static_cast<std::size_t>(plan.degree(dimension));
  }
  const auto coordinate = [&](std::size_t rank, Dimension dimension) {
    return static_cast<int>(rank / stride_[at(dimension)] %
                            static_cast<std::size_t>(plan.degree(dimension)));
  };
  for (std::size_t rank = 0; rank < static_cast<std::size_t>(plan.devices()); ++rank) {
    ranks_.push_back({.stage = coordinate(rank, Dimension::pipeline),
                      .tensor = coordinate(rank, Dimension::tensor),
                      .data = coordinate(rank, Dimension::data)});
  }
}

void World::place_semaphores() {
  const auto t = static_cast<std::size_t>(members_.tensor);
  const auto d = static_cast<std::size_t>(members_.data);
  const std::size_t tensor_groups = kOwnPosts * ranks_.size();
  const std::size_t data_groups = tensor_groups + 2 * static_cast<std::size_t>(stages_) * d;
  const std::size_t ends = data_groups + static_cast<std::size_t>(stages_) * t;
  semaphores_ = ends + t * d;
  const auto own = [](std::size_t rank, Post post) {
    return static_cast<SemaphoreId>(kOwnPosts * rank + static_cast<std::size_t>(post));
  };
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
    const auto stage = static_cast<std::size_t>(ranks_[rank].stage);
    const auto tensor = static_cast<std::size_t>(ranks_[rank].tensor);
    const auto data = static_cast<std::size_t>(ranks_[rank].data);
    const std::size_t previous = neighbour(rank, false);
    const std::size_t next = neighbour(rank, true);
    std::array<SemaphoreId, kPosts>& posts = posts_.emplace_back();
    for (std::size_t post = 0; post < kOwnPosts; ++post) {
      posts[post] = own(rank, static_cast<Post>(post));
    }
    const auto set = [&](Post post, std::size_t semaphore) {
      posts[static_cast<std::size_t>(post)] = static_cast<SemaphoreId>(semaphore);
    };
    set(Post::previous_done, own(previous, Post::done));
    set(Post::next_done, own(next, Post::done));
    set(Post::to_previous, own(previous, Post::from_next));
    set(Post::to_next, own(next, Post::from_previous));
    set(Post::tensor_begin, tensor_groups + 2 * (stage * d + data));
    set(Post::tensor, tensor_groups + 2 * (stage * d + data) + 1);
    const auto opposite = static_cast<std::size_t>(stages_) - 1 - stage;
    const std::size_t first_copy = two_ways_ ? std::min(stage, opposite) : stage;
    set(Post::data_group, data_groups + first_copy * t + tensor);
    set(Post::ends, ends + data * t + tensor);
  }
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
  const auto tensor = group_factors(conditions, Post::tensor, crossings.tensor);
  const auto data = group_factors(conditions, Post::data_group, crossings.data);
  const auto pair = [&](std::size_t one, std::size_t other, bool network) {
    return std::max(conditions.transfer_factor(static_cast<std::int64_t>(one), network),
                    conditions.transfer_factor(static_cast<std::int64_t>(other), network));
  };
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
    const TimelineRank& own = ranks_[rank];
    const std::size_t opposite = index(stages_ - 1 - own.stage, own.tensor, own.data);
    std::array<double, kAffected>& factors = factors_.emplace_back();
    factors.fill(1);
    const auto set = [&](Affected affected, double value) {
      factors[static_cast<std::size_t>(affected)] = value;
    };
    set(Affected::tensor, tensor[semaphore(rank, Post::tensor)]);
    set(Affected::data, data[semaphore(rank, Post::data_group)]);
    set(Affected::to_next, pair(rank, neighbour(rank, true), crossings.after(own.stage)));
    set(Affected::to_previous,
        pair(rank, neighbour(rank, false), crossings.after(before(own.stage))));
    set(Affected::ends, pair(rank, opposite, crossings.after(stages_ - 1)));
  }
}

}  // namespace titer
