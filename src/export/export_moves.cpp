// Parameters and gradients that come with the passes of an exported step, where the closed form has
// them: a block's parameters beside the block before it, its gradients beside the next one's.

#include <cmath>
#include <utility>

#include "export_writer.hpp"

namespace titer {
namespace {

std::string_view what_of(const Move& move, const MovePart& part) {
  return part.experts ? move.text->of_experts : move.text->what;
}

}  // namespace

void ExportedStep::Writer::list_moves() {
  for (const BlockMoves& block : block_moves(scenario_, costs_, clock_)) {
    std::vector<MoveNode>& nodes = moves_.emplace_back();
    for (const BlockMove& of : block) {
      const Move& move = *of.move;
      if (move.among == MoveAmong::host) {
        nodes.push_back({.when = move.when,
                         .node = {.kind = NodeKind::copy,
                                  .part = TaskPart::host_copy,
                                  .what = move.text->what,
                                  .duration = to_ticks(of.time)}});
        continue;
      }
      if (!has_parts(move)) {
        continue;  // through the root, with the whole pass
      }
      for (const MovePart& part : parts_of(move, of.parameters, places_)) {
        nodes.push_back({.when = move.when,
                         .role = step_.role_of(plan_group(scenario_, move, part)),
                         .node = {.kind = NodeKind::collective,
                                  .part = TaskPart::data_comm,
                                  .collective = move.collective,
                                  .what = what_of(move, part),
                                  .duration = to_ticks(time_of(move, part)),
                                  .bytes = part.size}});
      }
    }
  }
}

std::optional<RankGraph::Id> ExportedStep::Writer::add_moves(
    const PassRow& row, int number, MoveTime when, NodeKind kind, Frontier after) {
  const RowBlock& block = row.blocks[static_cast<std::size_t>(number)];
  std::optional<RankGraph::Id> last;
  for (const MoveNode& of : moves_[block.kind]) {
    // What a forward pass put out comes back before the backward pass.
    const bool back = of.when == MoveTime::there_and_back && when == MoveTime::backward;
    if (of.node.kind != kind || (of.when != when && !back)) {
      continue;
    }
    const GraphNode node = move_node(row, number, of);
    if (kind == NodeKind::copy) {
      last = add_copy(node, after);
      after = {*last};
      continue;
    }
    if (moved_last_) {
      add_once(after, *moved_last_);
    }
    if (scenario_.plan.offload.weights && copied_last_ && when != MoveTime::gradients) {
      add_once(after, *copied_last_);  // what is gathered comes from the host first
    }
    if (const auto id = add_collective(node, of.role, after)) {
      last = moved_last_ = id;
      after = {*id};
    }
  }
  return last;
}

RankGraph::Id ExportedStep::Writer::add_copy(const GraphNode& node, Frontier after) {
  if (copied_last_) {
    add_once(after, *copied_last_);
  }
  copied_last_ = graph_.add(node, after);
  return *copied_last_;
}

GraphNode ExportedStep::Writer::move_node(const PassRow& row, int number, const MoveNode& of) {
  GraphNode node = of.node;
  node.layer = row.blocks[static_cast<std::size_t>(number)].layer;
  node.stage = row.stage;
  node.micro_batch = row.action.micro_batch;
  return node;
}

void ExportedStep::Writer::begin_blocks(PassRow& row, int count) {
  while (row.begun < count) {
    begin_block(row, row.begun++);
  }
}

/// The first block of a pass has what it needs while the pass before it ends, or while its stage
/// waits for its input; the model's first block waits for its own.
void ExportedStep::Writer::begin_block(PassRow& row, int number) {
  const bool forward = row.action.pass == Pass::forward;
  if (!forward && !sends_gradient(row.action.pass)) {
    return;
  }
  fetch(row, number, NodeKind::copy);
  fetch(row, number, NodeKind::collective);
  if (forward && scenario_.plan.offload.prefetch) {
    // What the block before has made, beside this one: as long as its own.
    const auto id = add_moves(row, number, MoveTime::there_and_back, NodeKind::copy, row.frontier);
    if (id) {
      row.moving.push_back(*id);
    }
  }
  if (number + 1 == row.count()) {
    ahead_ = row.frontier;
  }
}

void ExportedStep::Writer::fetch(PassRow& row, int number, NodeKind kind) {
  const bool forward = row.action.pass == Pass::forward;
  const MoveTime when = forward ? MoveTime::forward : MoveTime::backward;
  const bool prefetches =
      kind == NodeKind::copy ? scenario_.plan.offload.prefetch : scenario_.plan.prefetch;
  if (!prefetches || number == 0) {
    const bool waits = !prefetches || (forward && row.stage == 0);
    if (const auto id = add_moves(row, number, when, kind, waits ? row.frontier : ahead_)) {
      add_once(row.frontier, *id);
    }
  }
  if (!prefetches || number + 1 == row.count()) {
    return;
  }
  if (kind == NodeKind::collective) {
    move_beside(row, number + 1, when);
  } else if (const auto id = add_moves(row, number + 1, when, kind, row.frontier)) {
    row.moving.push_back(*id);
  }
}

/// Gradients of the blocks before, beside the one that begins to make its own.
void ExportedStep::Writer::begin_gradients(PassRow& row) {
  if (!makes_gradients(row.action.pass)) {
    return;
  }
  for (; scenario_.overlap_grad_reduce() && row.reduced + 1 < row.begun; ++row.reduced) {
    move_beside(row, row.reduced, MoveTime::gradients);
  }
  if (scenario_.plan.offload.prefetch) {
    copy_gradients(row, row.begun - 1, true);
  }
}

void ExportedStep::Writer::copy_gradients(PassRow& row, int before, bool beside) {
  for (; scenario_.plan.offload.gradients && row.copied < before; ++row.copied) {
    Frontier after = row.frontier;
    if (moved_last_) {
      add_once(after, *moved_last_);  // ranks add them up first
    }
    const auto id = add_moves(row, row.copied, MoveTime::gradients, NodeKind::copy, after);
    if (id && beside) {
      row.moving.push_back(*id);
    } else if (id) {
      row.frontier = {*id};
    }
  }
}

void ExportedStep::Writer::end_block(PassRow& row) {
  join_moves(row);
  move_waiting(row, kMaxTicks);
  join_moves(row);
  for (const RankGraph::Id id : std::exchange(row.moving, {})) {
    add_once(row.frontier, id);
  }
  if (row.action.pass == Pass::forward && !scenario_.plan.offload.prefetch) {
    if (const auto id =
            add_moves(row, row.begun - 1, MoveTime::there_and_back, NodeKind::copy, row.frontier)) {
      row.frontier = {*id};
    }
  }
  if (makes_gradients(row.action.pass) && !scenario_.overlap_grad_reduce()) {
    add_gradients(row);
  }
  if (makes_gradients(row.action.pass) && !scenario_.plan.offload.prefetch) {
    copy_gradients(row, row.begun, false);
  }
}

/// Those of the model's first block are waited for, others go on beside the next pass.
void ExportedStep::Writer::end_pass(PassRow& row) {
  if (makes_gradients(row.action.pass)) {
    const Frontier passed = row.frontier;
    add_gradients(row);
    copy_gradients(row, row.begun, false);
    if (row.stage > 0) {
      row.frontier = passed;
    }
  }
}

/// Of all blocks that are through, one after the other.
void ExportedStep::Writer::add_gradients(PassRow& row) {
  for (; row.reduced < row.begun; ++row.reduced) {
    if (const auto id =
            add_moves(row, row.reduced, MoveTime::gradients, NodeKind::collective, row.frontier)) {
      row.frontier = {*id};
    }
  }
}

/// What is moved with a whole pass, or its recomputation: as much of it beside the compute as the
/// closed form hides there, or the rest.
void ExportedStep::Writer::add_moves_of(TaskPart part, bool beside, PassRow& row) {
  const auto all_of = [&](TaskPart one) { return cost_of(one, row).transfers[PassComm::data]; };
  const Seconds exposed = cost_of(part, row).exposed[PassComm::data];
  const Seconds moved = beside ? all_of(part) - exposed : exposed;
  const double share = moved / (all_of(part_of(row.action.pass)) + all_of(TaskPart::recompute));
  if (moved <= Seconds{}) {
    return;
  }
  const MoveSums sums = moves_of(row);
  Ticks listed = 0;
  for (const auto& [kind, node] : sums) {
    listed += node.duration;
  }
  for (const auto& [kind, whole] : sums) {
    GraphNode node = whole;
    node.bytes = share * whole.bytes;
    node.duration = std::llround(static_cast<double>(to_ticks(moved)) *
                                 static_cast<double>(whole.duration) / static_cast<double>(listed));
    add_move_of(node, kind.second, beside, row);
  }
}

/// The same of what is copied, one copy for all of it.
void ExportedStep::Writer::add_copies_of(TaskPart part, bool beside, PassRow& row) {
  const PassCost here = cost_of(part, row);
  const Seconds exposed = here.exposed[PassComm::host];
  const Seconds moved = beside ? here.transfers[PassComm::host] - exposed : exposed;
  if (moved <= Seconds{}) {
    return;
  }
  GraphNode node = about(row, TaskPart::host_copy);
  node.kind = NodeKind::copy;
  node.what = "pass";
  node.duration = to_ticks(moved);
  const RankGraph::Id id = add_copy(node, row.frontier);
  if (beside) {
    row.moving.push_back(id);
  } else {
    row.frontier = {id};
  }
}

void ExportedStep::Writer::add_move_of(const GraphNode& node,
                                       GroupRole role,
                                       bool beside,
                                       PassRow& row) {
  Frontier after = beside && row.beside ? Frontier{*row.beside} : row.frontier;
  if (moved_last_) {
    add_once(after, *moved_last_);
  }
  const auto id = add_collective(node, role, after);
  if (!id) {
    return;
  }
  moved_last_ = id;
  if (beside) {
    row.beside = id;
  } else {
    row.frontier = {*id};
  }
}

/// All that its blocks move with the pass.
ExportedStep::Writer::MoveSums ExportedStep::Writer::moves_of(const PassRow& row) const {
  MoveSums sums;
  for (const RowBlock& block : row.blocks) {
    for (const MoveNode& of : moves_[block.kind]) {
      if (of.node.kind == NodeKind::collective && comes_with(of.when, row.action.pass)) {
        const auto [known, is_new] = sums.try_emplace({of.when, of.role}, of.node);
        GraphNode& sum = known->second;
        sum.stage = row.stage;
        sum.micro_batch = row.action.micro_batch;
        sum.bytes += is_new ? Bytes{} : of.node.bytes;
        sum.duration += is_new ? 0 : of.node.duration;
      }
    }
  }
  return sums;
}

}  // namespace titer
