#include "titer/step/exported_step.hpp"

#include <algorithm>
#include <utility>

#include "export_writer.hpp"
#include "sync_cost.hpp"

namespace titer {
namespace {

/// Of two ranks of a pipeline.
GroupWays ways_of_pair(const Scenario& scenario, int first, int second) {
  const Cluster& cluster = scenario.cluster;
  if (first / cluster.devices_per_node != second / cluster.devices_per_node) {
    return {.group = {.per_node = 1, .nodes = 2}, .fabric = {.network = cluster.network_channel()}};
  }
  const Channel channel =
      cluster.pair_channel(first % cluster.devices_per_node, second % cluster.devices_per_node);
  return {.group = {.per_node = 2, .nodes = 1}, .fabric = {.node = channel}};
}

}  // namespace

ExportedStep::ExportedStep(Scenario scenario, ExportDetail detail)
    : scenario_(std::move(scenario)), detail_(detail) {
  for (const Dimension dimension : scenario_.plan.rank_order) {
    strides_[static_cast<std::size_t>(dimension)] =
        place(scenario_.plan, dimension, scenario_.cluster.devices_per_node).stride;
  }
  step_costs(scenario_, costs_);
  const BlockClock clock = block_clock(scenario_);
  layer_ = block_items(costs_.operations.layer, costs_.layer, scenario_.plan.recompute, clock);
  embedding_ = block_items(costs_.operations.embedding, costs_.embedding, Recompute::none, clock);
  head_ = block_items(costs_.operations.head, costs_.head, Recompute::none, clock);
  fill_ways();
  fill_groups();
}

// Tensor groups, the ends, and the data groups of one rank of the pipeline or of each.
void ExportedStep::fill_ways() {
  const GroupPlace tensor =
      place(scenario_.plan, Dimension::tensor, scenario_.cluster.devices_per_node);
  ways_.push_back({.group = tensor.group, .fabric = tensor.fabric(scenario_.cluster)});
  const auto both = ends();
  ways_.push_back(both ? ways_of_pair(scenario_,
                                      rank_at({.pipeline = both->front()}),
                                      rank_at({.pipeline = both->back()}))
                       : GroupWays{});
  const int different = costs_.placement == Placement::two_ways ? costs_.shape.stages : 1;
  for (int rank = 0; rank < different; ++rank) {
    const SyncGroup data = sync_group(scenario_, costs_.placement, rank);
    ways_.push_back({.group = data.group, .fabric = data.fabric});
  }
}

std::size_t ExportedStep::ways_of(GroupRole role, int pipeline) const {
  switch (role) {
    case GroupRole::tensor:
      return 0;
    case GroupRole::ends:
      return 1;
    case GroupRole::data:
      break;
  }
  return costs_.placement == Placement::two_ways ? 2 + static_cast<std::size_t>(pipeline) : 2;
}

RankPlace ExportedStep::place_of_rank(int rank) const {
  const auto along = [&](Dimension dimension) {
    return rank / stride(dimension) % static_cast<int>(scenario_.plan.degree(dimension));
  };
  return {.pipeline = along(Dimension::pipeline),
          .tensor = along(Dimension::tensor),
          .data = along(Dimension::data)};
}

int ExportedStep::rank_at(const RankPlace& place) const {
  return place.pipeline * stride(Dimension::pipeline) + place.tensor * stride(Dimension::tensor) +
         place.data * stride(Dimension::data);
}

std::optional<std::array<int, 2>> ExportedStep::ends() const {
  const int first = place_of(costs_.placement, 0, 0, costs_.shape).rank;
  const int last = place_of(costs_.placement, costs_.stages - 1, 0, costs_.shape).rank;
  if (first == last || costs_.embedding_sync <= Seconds{}) {
    return std::nullopt;
  }
  return std::array{first, last};
}

// Groups are numbered role by role; within a role by the rank that its first member has where only
// the other dimensions count.
std::optional<int> ExportedStep::group_of(int rank, GroupRole role) const {
  const RankPlace at = place_of_rank(rank);
  const auto p = static_cast<int>(scenario_.plan.pipeline);
  const auto t = static_cast<int>(scenario_.plan.tensor);
  const auto d = static_cast<int>(scenario_.plan.data);
  const bool two_ways = costs_.placement == Placement::two_ways;
  const int model = two_ways ? std::min(at.pipeline, p - 1 - at.pipeline) : at.pipeline;
  const bool copies = d > 1 || (two_ways && p > 1);
  const int tensor_groups = t > 1 ? p * d : 0;
  const int data_groups = copies ? (two_ways ? p / 2 : p) * t : 0;
  switch (role) {
    case GroupRole::tensor:
      return t > 1 ? std::optional(1 + at.pipeline * d + at.data) : std::nullopt;
    case GroupRole::data:
      return copies ? std::optional(1 + tensor_groups + model * t + at.tensor) : std::nullopt;
    case GroupRole::ends:
      break;
  }
  const auto both = ends();
  if (!both || (at.pipeline != both->front() && at.pipeline != both->back())) {
    return std::nullopt;
  }
  return 1 + tensor_groups + data_groups + at.data * t + at.tensor;
}

void ExportedStep::fill_groups() {
  for (const GroupRole role : kGroupRoles) {
    for (int rank = 0; rank < ranks(); ++rank) {
      const auto number = group_of(rank, role);
      if (!number) {
        continue;
      }
      const auto count = static_cast<std::size_t>(*number);
      groups_.resize(std::max(groups_.size(), count));
      groups_[count - 1].number = *number;
      groups_[count - 1].role = role;
      groups_[count - 1].ways = ways_of(
          role,
          place_of_rank(groups_[count - 1].ranks.empty() ? rank : groups_[count - 1].ranks.front())
              .pipeline);
      groups_[count - 1].ranks.push_back(rank);
    }
  }
}

double ExportedStep::most_nodes() const {
  const double layers = *std::max_element(costs_.layers.begin(), costs_.layers.end());
  const auto longest = [](const BlockItems& block) {
    return static_cast<double>(block.recompute.size() +
                               std::max({block.forward.size() + block.backward.size(),
                                         block.forward.size() + block.input_gradient.size() +
                                             block.weight_gradient.size()}));
  };
  const bool by_pass = detail_ == ExportDetail::pass;
  const double of_chunk =
      by_pass ? 6.0 * static_cast<double>(kCollectives.size())
              : layers * (longest(layer_) + 2.0) + longest(embedding_) + longest(head_);
  // Receive, gather and send of three passes; the tail.
  const double passes = micro_batches_per_chunk(costs_.placement, costs_.shape) *
                        static_cast<double>(chunks_per_rank(costs_.placement, costs_.shape));
  return passes * (of_chunk + 9.0) +
         2.0 * chunks_per_rank(costs_.placement, costs_.shape) * (layers + 3.0) + 4.0;
}

RankGraph ExportedStep::graph(int rank) const {
  ensure(rank >= 0 && rank < ranks(), "a rank of the step has a graph");
  return Writer(*this, rank).run();
}

}  // namespace titer
