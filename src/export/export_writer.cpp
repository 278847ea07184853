#include "export_writer.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "titer/estimate/model_state.hpp"
#include "titer/units/lists.hpp"

namespace titer {
namespace {

constexpr std::string_view kEmbeddingBlock = "embedding";
constexpr std::string_view kHeadBlock = "output head";

/// The next block of a pass; `repeats` is whether it is computed again where a plan says so.
void list_block(const BlockItems& items,
                std::string_view name,
                const RowBlock& block,
                PassRow& row,
                bool repeats = true) {
  const auto add = [&](const PassItems& of, TaskPart part) {
    for (const PassItem& item : of) {
      row.pieces.push_back({&item, part, name, block.layer, row.count()});
    }
  };
  if (repeats && sends_gradient(row.action.pass)) {
    add(items.recompute, TaskPart::recompute);
  }
  add(items.of(row.action.pass), part_of(row.action.pass));
  row.blocks.push_back(block);
}

}  // namespace

void add_once(Frontier& frontier, RankGraph::Id id) {
  if (!includes(frontier, id)) {
    frontier.push_back(id);
  }
}

ExportedStep::Writer::Writer(const ExportedStep& step, int rank)
    : step_(step),
      scenario_(step.seen_by(rank).scenario),
      costs_(step.seen_by(rank).costs),
      at_(step.place_of_rank(rank)),
      rank_(rank),
      actions_(actions(step.scenario_.plan.schedule, at_.pipeline, step.costs_.shape)),
      last_of_chunk_(static_cast<std::size_t>(chunks_per_rank(costs_.placement, costs_.shape))),
      gathers_(last_of_chunk_.size()),
      places_(sync_groups(scenario_, costs_.placement, at_.pipeline)),
      clock_(scenario_, places_) {
  if (scenario_.plan.sharding == Sharding::data_parallel_root) {
    root_ = root_moves(scenario_, costs_);
  }
  list_moves();
  for (std::size_t i = 0; i < actions_.size(); ++i) {
    if (makes_gradients(actions_[i].pass)) {
      last_of_chunk_[static_cast<std::size_t>(actions_[i].chunk)] = i;
    }
  }
}

RankGraph ExportedStep::Writer::run() {
  if (scenario_.overlap_param_gather()) {
    gather_parameters();
  }
  for (std::size_t i = 0; i < actions_.size(); i += done_together(actions_, i)) {
    if (done_together(actions_, i) == 2) {
      do_pair(i);
    } else {
      do_one(i);
    }
  }
  add_tail();
  if (const Seconds input = input_time(scenario_); input > Seconds{}) {
    graph_.add({.kind = NodeKind::input,
                .part = TaskPart::host_copy,
                .what = "input",
                .duration = to_ticks(input)},
               {});
  }
  if (!scenario_.conditions.devices.empty()) {
    slow_down();
  }
  return std::move(graph_);
}

/// By what its own devices are slower, and of transfers the slowest of those that take part.
void ExportedStep::Writer::slow_down() {
  const Conditions& conditions = scenario_.conditions;
  const int per_node = scenario_.cluster.devices_per_node;
  for (RankGraph::Id id = 0; id < graph_.size(); ++id) {
    GraphNode& node = graph_.node(id);
    double factor = 1;
    if (node.kind == NodeKind::compute) {
      factor = conditions.compute_factor(rank_, 0, 0);
    } else if (node.kind == NodeKind::collective) {
      const RankGroup& group = step_.group(node.group);
      const bool network = step_.ways(group).group.nodes > 1;
      for (const int member : group.ranks) {
        factor = std::max(factor, conditions.transfer_factor(member, network));
      }
    } else if (node.kind == NodeKind::send) {
      const bool network = node.peer / per_node != rank_ / per_node;
      factor = std::max(conditions.transfer_factor(rank_, network),
                        conditions.transfer_factor(node.peer, network));
    }
    const double time = factor * static_cast<double>(node.duration);
    node.duration = std::llround(std::min(time, static_cast<double>(kMaxTicks)));
  }
}

GraphNode ExportedStep::Writer::about(const PassRow& row, TaskPart part) const {
  return {.part = part, .stage = row.stage, .micro_batch = row.action.micro_batch};
}

PassRow ExportedStep::Writer::row_of(std::size_t index) {
  const Action& action = actions_[index];
  PassRow row{.action = action,
              .stage = stage_of(costs_.placement, place_of_chunk(action.chunk), costs_.shape)};
  const auto chunk = static_cast<std::size_t>(action.chunk);
  if (last_of_chunk_[chunk] == index) {
    row.buckets = buckets_of(row.stage);
  }
  if (action.pass == Pass::forward) {
    row.gathers = std::exchange(gathers_[chunk], {});
  }
  list_blocks(row);
  row.frontier = inputs(action, row.stage);
  add_root_moves(false, row);
  return row;
}

void ExportedStep::Writer::list_blocks(PassRow& row) const {
  const auto layers = static_cast<std::int32_t>(costs_.contents.layers(row.stage));
  std::int32_t first = 0;
  for (int before = 0; before < row.stage; ++before) {
    first += static_cast<std::int32_t>(costs_.contents.layers(before));
  }
  const ModelItems& items = step_.seen_by(rank_).items_of(row.action);
  const bool forward = row.action.pass == Pass::forward;
  const RowBlock embedding{.kind = costs_.kinds.size()};
  const RowBlock head{.kind = costs_.kinds.size() + 1};
  const bool embeds = row.stage == 0;
  if (forward && embeds) {
    list_block(items.embedding, kEmbeddingBlock, embedding, row);
  }
  if (!forward && row.stage == costs_.stages - 1) {
    list_block(items.head, kHeadBlock, head, row);
  }
  const std::int64_t repeated =
      repeated_layers(scenario_.plan, layers, row.stage == 0 ? costs_.blocks.front : 0);
  for (std::int32_t i = 0; i < layers; ++i) {
    const std::int32_t place = forward ? i : layers - 1 - i;
    const auto kind = static_cast<std::size_t>(kind_of(costs_.blocks.order, first + place));
    list_block(
        items.kinds[kind], "layer", {.kind = kind, .layer = first + place}, row, place < repeated);
  }
  if (forward && row.stage == costs_.stages - 1) {
    list_block(items.head, kHeadBlock, head, row);
  }
  if (!forward && embeds) {
    list_block(items.embedding, kEmbeddingBlock, embedding, row);
  }
}

Frontier ExportedStep::Writer::inputs(const Action& action, std::int32_t stage) {
  Frontier frontier = frontier_;
  const auto received = receive(action, stage);
  if (!received) {
    return frontier;
  }
  frontier.push_back(*received);
  if (stage_message(scenario_, costs_.blocks).regathered) {
    GraphNode gather{.part = TaskPart::pipeline_comm,
                     .collective = Collective::all_gather,
                     .what = "parts of a message",
                     .stage = stage,
                     .micro_batch = action.micro_batch,
                     .bytes = boundary_bytes(costs_.blocks)};
    frontier = {*add_collective(gather, GroupRole::tensor, frontier)};
  }
  return frontier;
}

// Tags: one for every message along the model, and one for every message back.
std::optional<RankGraph::Id> ExportedStep::Writer::receive(const Action& action,
                                                           std::int32_t stage) {
  const bool forward = action.pass == Pass::forward;
  const int from = forward ? stage - 1 : stage + 1;
  if (action.pass == Pass::weight_gradient || from < 0 || from == costs_.stages) {
    return std::nullopt;
  }
  const StagePlace place = place_of(costs_.placement, from, action.chunk, costs_.shape);
  if (place.rank == at_.pipeline) {
    return std::nullopt;
  }
  const int way = forward ? 0 : costs_.stages;
  const GraphNode node{
      .kind = NodeKind::receive,
      .part = TaskPart::pipeline_comm,
      .what = forward ? "activation" : "gradient",
      .stage = stage,
      .micro_batch = action.micro_batch,
      .bytes = stage_message(scenario_, costs_.blocks).size,
      .peer = step_.rank_at(
          {.pipeline = place.rank, .tensor = at_.tensor, .data = at_.data, .context = at_.context}),
      .tag = (way + from) * costs_.shape.micro_batches + action.micro_batch};
  return graph_.add(node, {});
}

void ExportedStep::Writer::send(const PassRow& row) {
  const bool forward = row.action.pass == Pass::forward;
  const StagePlace place = place_of_chunk(row.action.chunk);
  const Seconds whole = costs_.send_after(place, row.action.pass);
  if (whole <= Seconds{}) {
    return;
  }
  const int to = forward ? row.stage + 1 : row.stage - 1;
  const int way = forward ? 0 : costs_.stages;
  const StageMessage message = stage_message(scenario_, costs_.blocks);
  GraphNode node = about(row, TaskPart::pipeline_comm);
  node.kind = NodeKind::send;
  node.what = forward ? "activation" : "gradient";
  node.bytes = message.size;
  node.peer =
      step_.rank_at({.pipeline = place_of(costs_.placement, to, place.chunk, costs_.shape).rank,
                     .tensor = at_.tensor,
                     .data = at_.data,
                     .context = at_.context});
  node.tag = (way + row.stage) * costs_.shape.micro_batches + row.action.micro_batch;
  node.duration = to_ticks(whole);
  if (message.regathered) {
    GraphNode gather = node;
    gather.collective = Collective::all_gather;
    gather.bytes = boundary_bytes(costs_.blocks);
    node.duration -=
        std::min(node.duration, transfer_ticks(gather, *step_.group_of(rank_, GroupRole::tensor)));
  }
  Frontier after = row.frontier;
  const bool overlapped = scenario_.pipeline_send() == PipelineSend::overlapped;
  if (overlapped && last_send_) {
    add_once(after, *last_send_);
  }
  last_send_ = graph_.add(node, after);
  if (!overlapped) {
    std::erase_if(frontier_, [&](RankGraph::Id id) { return includes(after, id); });
    frontier_.push_back(*last_send_);
  }
}

void ExportedStep::Writer::do_one(std::size_t index) {
  PassRow row = row_of(index);
  while (!row.done()) {
    advance(row);
  }
  finish(row);
  frontier_ = row.frontier;
  send(row);
}

void ExportedStep::Writer::do_pair(std::size_t index) {
  concurrent_ = true;
  std::array<PassRow, 2> rows = {row_of(index), row_of(index + 1)};
  while (!rows[0].done() || !rows[1].done()) {
    const bool second =
        rows[0].done() || (!rows[1].done() && rows[1].progress() < rows[0].progress());
    advance(rows[second ? 1 : 0]);
  }
  frontier_.clear();
  for (PassRow& row : rows) {
    finish(row);
    for (const RankGraph::Id id : row.frontier) {
      add_once(frontier_, id);
    }
  }
  concurrent_ = false;
  for (const PassRow& row : rows) {
    send(row);
  }
}

}  // namespace titer
