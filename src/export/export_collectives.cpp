// The collectives of an exported step, and what follows its passes.

#include <algorithm>

#include "export_writer.hpp"
#include "titer/collectives/choice.hpp"
#include "titer/cost/sync_cost.hpp"

namespace titer {

/// Of a stage of the model; whole passes have one.
std::vector<GradientBucket> ExportedStep::Writer::buckets_of(int stage) const {
  if (costs_.buckets.empty()) {
    return {};
  }
  std::vector<GradientBucket> buckets = costs_.buckets[static_cast<std::size_t>(stage)];
  if (step_.detail_ == ExportDetail::pass && !buckets.empty()) {
    for (std::size_t i = 1; i < buckets.size(); ++i) {
      buckets.front().parameters += buckets[i].parameters;
      buckets.front().blocks += buckets[i].blocks;
    }
    buckets.resize(1);
  }
  return buckets;
}

/// So many blocks of the pass are through.
void ExportedStep::Writer::complete_blocks(PassRow& row, int count) {
  if (row.buckets.empty()) {
    return;
  }
  auto bucket = row.buckets.begin();
  for (; bucket != row.buckets.end() && row.synchronised + bucket->blocks <= count; ++bucket) {
    synchronise(*bucket, row);
    row.synchronised += bucket->blocks;
  }
  row.buckets.erase(row.buckets.begin(), bucket);
  if (row.buckets.empty() && row.stage >= opposite(row.stage)) {
    flush_held();
  }
}

/// With two ways, the ranks of a group come to their two stages in opposite orders: gradients of
/// the later stage go first on all of them.
void ExportedStep::Writer::synchronise(const GradientBucket& bucket, const PassRow& row) {
  GraphNode node = about(row, TaskPart::data_comm);
  node.what = "bucket of gradients";
  node.micro_batch.reset();
  if (holds_ && costs_.placement == Placement::two_ways && row.stage < opposite(row.stage)) {
    held_.push_back({.node = node, .parameters = bucket.parameters, .after = row.frontier});
  } else {
    add_synchronisation(node, MoveTime::complete, bucket.parameters, {}, row.frontier);
  }
}

void ExportedStep::Writer::flush_held() {
  holds_ = false;
  for (const Held& held : held_) {
    add_synchronisation(held.node, MoveTime::complete, held.parameters, {}, held.after);
  }
  held_.clear();
}

Ticks ExportedStep::Writer::transfer_ticks(const GraphNode& node, int group) const {
  const GroupWays& ways = step_.ways(step_.group(group));
  return to_ticks(exchange_time(node.collective, node.bytes, ways.group, ways.fabric));
}

std::optional<RankGraph::Id> ExportedStep::Writer::add_collective(GraphNode node,
                                                                  GroupRole role,
                                                                  Frontier after) {
  const auto number = step_.group_of(rank_, role);
  if (!number) {
    return std::nullopt;
  }
  node.kind = NodeKind::collective;
  node.group = *number;
  if (node.duration == 0) {
    node.duration = transfer_ticks(node, *number);
  }
  const auto last = last_collective_.find(role);
  if ((concurrent_ || synchronises(role)) && last != last_collective_.end()) {
    add_once(after, last->second);
  }
  return last_collective_[role] = graph_.add(node, after);
}

Frontier ExportedStep::Writer::add_sum(const GraphNode& node, GroupRole role, Frontier after) {
  if (scenario_.plan.shard && summed_last_) {
    add_once(after, *summed_last_);
  }
  const auto id = add_collective(node, role, after);
  if (!id) {
    return after;
  }
  summed_last_ = id;
  return {*id};
}

Frontier ExportedStep::Writer::add_sums(GraphNode node,
                                        const Move& move,
                                        const DeviceParameters& parameters,
                                        SyncLeft& left,
                                        Frontier after) {
  for (const MovePart& part : parts_of(move, parameters, places_)) {
    Ticks& rest = part.experts ? left.experts : left.others;
    node.collective = move.collective;
    node.bytes = part.size;
    node.duration = left.is_all ? rest : std::min(rest, to_ticks(time_of(move, part)));
    rest -= node.duration;
    after = add_sum(node, step_.role_of(plan_group(scenario_, move, part)), after);
  }
  return after;
}

Frontier ExportedStep::Writer::add_synchronisation(GraphNode node,
                                                   MoveTime when,
                                                   const DeviceParameters& parameters,
                                                   const SyncTicks& ticks,
                                                   Frontier after) {
  const Ticks of_experts = std::min(ticks.all, ticks.experts);
  SyncLeft left = {.others = ticks.all - of_experts, .experts = of_experts};
  // The closed form rounds what comes before the sums of equal shards with them.
  const bool ends_sums = !scenario_.plan.shard || ticks.all == 0;
  const std::string_view what = node.what;
  for (const Move& move : clock_.moves()) {
    if (move.when != when) {
      continue;
    }
    if (move.among == MoveAmong::servers) {
      after = add_served(move, parameters, after);
      continue;
    }
    const bool copies = move.among == MoveAmong::copies;
    node.what = copies ? move.text->what : what;
    left.is_all = copies || ends_sums;
    after = add_sums(node, move, parameters, left, after);
  }
  return after;
}

/// ZeRO-1's gathers beside the first forward passes, bucket by bucket: what is complete last in the
/// backward pass is needed first. On all ranks of a group the stages are in the order of the model.
void ExportedStep::Writer::gather_parameters() {
  std::map<int, int> chunk_of;  // by stage
  for (int chunk = 0; chunk < static_cast<int>(gathers_.size()); ++chunk) {
    chunk_of[stage_of(costs_.placement, place_of_chunk(chunk), costs_.shape)] = chunk;
  }
  for (const auto& [stage, chunk] : chunk_of) {
    auto& gathers = gathers_[static_cast<std::size_t>(chunk)];
    const std::vector<GradientBucket> buckets = buckets_of(stage);
    int block = 0;
    for (auto bucket = buckets.rbegin(); bucket != buckets.rend(); ++bucket) {
      const GraphNode node{
          .part = TaskPart::data_comm, .what = "bucket of parameters", .stage = stage};
      for (const RankGraph::Id id :
           add_synchronisation(node, MoveTime::updated, bucket->parameters, {}, {})) {
        gathers.push_back({.id = id, .block = block});
      }
      block += bucket->blocks;
    }
    std::ranges::reverse(gathers);
  }
}

/// Gradients of the token table between its two stages, of all parameters over the data-parallel
/// ranks, the optimizer, and the gather of its result.
void ExportedStep::Writer::add_tail() {
  const auto rank = static_cast<std::size_t>(at_.pipeline);
  const StageTail& times = costs_.tails[rank];
  const DeviceParameters& parameters = costs_.trained[rank];
  flush_held();  // if the opposite stage has no parameters
  if (const auto id = add_collective({.part = TaskPart::pipeline_comm,
                                      .what = "token table",
                                      .duration = to_ticks(costs_.embedding_sync),
                                      .bytes = token_table_gradient(scenario_, costs_.blocks)},
                                     GroupRole::ends,
                                     frontier_)) {
    frontier_ = {*id};
  }
  if (costs_.buckets.empty()) {
    frontier_ = add_synchronisation(
        {.part = TaskPart::data_comm, .what = "gradients"},
        MoveTime::complete,
        parameters,
        {.all = to_ticks(times.gradient_sync), .experts = to_ticks(times.expert_gradients)},
        frontier_);
  }
  for (const auto& [role, last] : last_collective_) {
    if (synchronises(role) && (!costs_.buckets.empty() || moved_last_)) {
      add_once(frontier_, last);
    }
  }
  const Bytes moved =
      MoveClock(scenario_, places_)
          .optimizer_bytes(parameters, matrix_update(scenario_, costs_, at_.pipeline));
  // Servers update what they have, and so does the root.
  const bool others_do = root_.ranks > 1 && rank_ > 0;
  if (scheme_of(scenario_.plan.sharding).updates && !others_do) {
    frontier_ = {graph_.add({.part = TaskPart::optimizer,
                             .what = "step",
                             .duration = to_ticks(times.optimizer),
                             .bytes = moved},
                            frontier_)};
  }
  if (times.host > Seconds{}) {
    frontier_ = {add_copy({.kind = NodeKind::copy,
                           .part = TaskPart::host_copy,
                           .what = "optimizer state",
                           .duration = to_ticks(times.host)},
                          frontier_)};
  }
  if (!scenario_.overlap_param_gather()) {
    frontier_ = add_synchronisation(
        {.part = TaskPart::data_comm, .what = "parameters"},
        MoveTime::updated,
        parameters,
        {.all = to_ticks(times.parameter_sync), .experts = to_ticks(times.expert_parameters)},
        frontier_);
  }
  add_meeting(parameters, times.meeting);
}

/// A step's share of what islands send one another once in many: of its bytes, and of its time.
void ExportedStep::Writer::add_meeting(const DeviceParameters& parameters, Seconds time) {
  const auto is_exchange = [](const Move& move) {
    return move.when == MoveTime::met && has_parts(move);
  };
  const Moves& moves = clock_.moves();
  const auto* const move = std::ranges::find_if(moves, is_exchange);
  if (move == moves.end() || time <= Seconds{}) {
    return;
  }
  const MoveParts parts = parts_of(*move, parameters, places_);
  Bytes all;
  for (const MovePart& part : parts) {
    all += part.size;
  }
  Ticks left = to_ticks(time);
  for (const MovePart& part : parts) {
    const bool is_last = &part == &*std::prev(parts.end());
    // A stage whose layers are all frozen meets for nothing.
    const double share = all > Bytes{} ? part.size / all : 0.0;
    const Ticks own = std::min(left, to_ticks(share * time));
    frontier_ = add_sum({.part = TaskPart::data_comm,
                         .collective = move->collective,
                         .what = part.experts ? move->text->of_experts : move->text->what,
                         .duration = is_last ? left : own,
                         .bytes = part.size / move->every},
                        part.experts ? GroupRole::expert_shard_copies : GroupRole::shard_copies,
                        frontier_);
    left -= own;
  }
}

}  // namespace titer
