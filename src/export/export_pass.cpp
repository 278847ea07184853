// From the pieces of a pass to nodes, as detailed as wanted.

#include <algorithm>
#include <utility>

#include "export_writer.hpp"

namespace titer {
namespace {

/// Of what layers exchange: parts of images go to those beside them.
Senders senders_of(Collective kind) {
  return kind == Collective::send_recv ? Senders::neighbours : Senders::all;
}

bool is_of(const PassItem& item, Collective kind, LayerGroup group) {
  return item.is_transfer() && item.transfer.kind == kind && item.transfer.group == group;
}

}  // namespace

void ExportedStep::Writer::advance(PassRow& row) {
  if (step_.detail_ == ExportDetail::pass) {
    add_whole(row);
    return;
  }
  wait_for_gathers(row);
  begin_blocks(row, row.pieces[row.next].number + 1);
  const PassPiece& piece = row.pieces[row.next++];
  const bool repeats = piece.part == TaskPart::recompute;
  const bool is_first = row.next == 1 || row.pieces[row.next - 2].number < piece.number;
  if (is_first || row.pieces[row.next - 2].part != piece.part) {
    join_apart(row);
    join_moves(row);
    row.block_begin = row.frontier;
  }
  if (!repeats && (is_first || row.pieces[row.next - 2].part == TaskPart::recompute)) {
    begin_gradients(row);
  }
  if (!piece.item->aside && row.meets_aside) {
    join_apart(row);
  }
  go_on_beside(row, *piece.item);
  if (piece.item->is_transfer()) {
    add_transfer(piece, row);
  } else {
    add_kernel(piece, row);
  }
  if (!row.done() && row.pieces[row.next].number > piece.number) {
    row.open.reset();
    join_apart(row);
    end_block(row);
    complete_blocks(row, row.pieces[row.next].number);
  }
}

/// What follows waits for what ran beside the block's kernels.
void ExportedStep::Writer::join_apart(PassRow& row) {
  for (auto* const transfer : {&row.apart, &row.meets_aside}) {
    if (*transfer) {
      add_once(row.frontier, **transfer);
      transfer->reset();
      row.open.reset();
    }
  }
}

/// Those that the next piece needs.
void ExportedStep::Writer::wait_for_gathers(PassRow& row) {
  while (!row.gathers.empty() && row.gathers.back().block <= row.pieces[row.next].number) {
    add_once(row.frontier, row.gathers.back().id);
    row.gathers.pop_back();
    row.open.reset();
  }
}

void ExportedStep::Writer::add_kernel(const PassPiece& piece, PassRow& row) {
  PassRow::Computed& computed = row.computed[piece.part];
  computed.exact += piece.item->time;
  const Ticks duration = to_ticks(computed.exact) - computed.rounded;
  computed.rounded += duration;
  const bool joins = row.open && !row.beside && step_.detail_ == ExportDetail::layer &&
                     graph_.node(*row.open).part == piece.part;
  if (!joins) {
    GraphNode node = about(row, piece.part);
    node.what = step_.detail_ == ExportDetail::operation ? piece.item->name : piece.block;
    node.layer = piece.layer;
    row.open = graph_.add(node, row.frontier);
    row.frontier = {*row.open};
  }
  computed.last = *row.open;
  GraphNode& node = graph_.node(*row.open);
  node.duration += duration;
  node.flops += piece.item->kernel.flops;
  node.bytes += piece.item->kernel.bytes;
  if (row.beside) {
    row.frontier.push_back(*row.beside);
    row.beside.reset();
    row.open.reset();
  }
}

/// After what a transfer may begin: the pass so far, or, apart from the block's kernels, the
/// transfer before it of the same kind.
Frontier ExportedStep::Writer::before_transfer(const PassRow& row, bool apart) {
  if (!apart) {
    return row.frontier;
  }
  return row.apart ? Frontier{*row.apart} : row.block_begin;
}

void ExportedStep::Writer::add_transfer(const PassPiece& piece, PassRow& row) {
  const LayerGroup group = piece.item->transfer.group;
  GraphNode node = about(row, part_of(comm_of(group)));
  node.what = piece.item->name;
  node.layer = piece.layer;
  node.collective = piece.item->transfer.kind;
  node.senders = senders_of(node.collective);
  node.bytes = piece.item->transfer.size;
  node.duration = to_ticks(piece.item->time);
  const bool apart = piece.item->apart;
  const auto id =
      add_collective(node, step_.role_of(plan_group(group)), before_transfer(row, apart));
  if (!id) {
    return;  // tables that one rank has all of are sent to nobody
  }
  if (apart) {
    row.apart = *id;
    return;
  }
  row.open.reset();
  if (piece.item->beside) {
    row.beside = *id;
  } else if (piece.item->meets_aside) {
    row.meets_aside = *id;
  } else {
    row.frontier = {*id};
  }
}

/// All of a pass, part by part.
void ExportedStep::Writer::add_whole(PassRow& row) {
  wait_for_gathers(row);
  row.next = row.pieces.size();
  for (const TaskPart part : {TaskPart::recompute, part_of(row.action.pass)}) {
    add_kernels_of(part, row);
    add_moves_of(part, false, row);
    add_copies_of(part, false, row);
  }
}

void ExportedStep::Writer::add_kernels_of(TaskPart part, PassRow& row) {
  GraphNode node = about(row, part);
  node.what = "pass";
  Seconds time;
  for (const PassPiece& piece : row.pieces) {
    if (piece.part == part && !piece.item->is_transfer()) {
      time += piece.item->time;
      node.flops += piece.item->kernel.flops;
      node.bytes += piece.item->kernel.bytes;
    }
  }
  if (time <= Seconds{}) {
    return;
  }
  node.duration = to_ticks(time);
  const RankGraph::Id compute = graph_.add(node, row.frontier);
  row.computed[part] = {.exact = time, .rounded = node.duration, .last = compute};
  add_transfers_of(part, true, row);
  add_moves_of(part, true, row);
  add_copies_of(part, true, row);
  if (row.beside) {
    row.frontier = {*row.beside, compute};
    row.beside.reset();
  } else {
    row.frontier = {compute};
  }
  for (const RankGraph::Id id : std::exchange(row.moving, {})) {
    add_once(row.frontier, id);
  }
  add_transfers_of(part, false, row);
}

/// Of a whole pass, or of what it recomputes, if anything.
PassCost ExportedStep::Writer::cost_of(TaskPart part, const PassRow& row) const {
  const BlockCost cost = costs_.chunk(row.stage);
  if (part != TaskPart::recompute) {
    return cost.of(row.action.pass).of(row.action);
  }
  return sends_gradient(row.action.pass) ? cost.recompute.of(row.action) : PassCost{};
}

/// What of a transfer is beside the kernels of its pass: of those beside a stream of its own as
/// much as costs have it of all of their kind.
double ExportedStep::Writer::share_beside(const PassItem& item,
                                          TaskPart part,
                                          const PassRow& row) const {
  if (!item.meets_aside) {
    return item.beside || item.apart ? 1.0 : 0.0;
  }
  const PassCost here = cost_of(part, row);
  const PassComm comm = comm_of(item.transfer.group);
  Seconds all;
  for (const PassPiece& piece : row.pieces) {
    all += piece.part == part && piece.item->meets_aside ? piece.item->time : Seconds{};
  }
  return (here.transfers[comm] - here.exposed[comm]) / all;
}

/// One collective for all of one kind among the same ranks.
void ExportedStep::Writer::add_transfers_of(TaskPart part, bool beside, PassRow& row) {
  for (std::size_t group = 0; group < kLayerGroups; ++group) {
    add_transfers_of(part, static_cast<LayerGroup>(group), beside, row);
  }
}

GraphNode ExportedStep::Writer::transfers_of(
    TaskPart part, LayerGroup group, Collective kind, bool beside, const PassRow& row) const {
  GraphNode node = about(row, part_of(comm_of(group)));
  node.what = "pass";
  node.collective = kind;
  node.senders = senders_of(kind);
  Seconds time;
  for (const PassPiece& piece : row.pieces) {
    if (piece.part == part && is_of(*piece.item, kind, group)) {
      const double hidden = share_beside(*piece.item, part, row);
      const double share = beside ? hidden : 1.0 - hidden;
      node.bytes += share * piece.item->transfer.size;
      time += share * piece.item->time;
    }
  }
  node.duration = to_ticks(time);
  return node;
}

void ExportedStep::Writer::add_transfers_of(TaskPart part,
                                            LayerGroup group,
                                            bool beside,
                                            PassRow& row) {
  for (const Collective kind : kCollectives) {
    const GraphNode node = transfers_of(part, group, kind, beside, row);
    if (node.duration == 0) {  // or no more than rounding makes of a difference
      continue;
    }
    const auto id = add_collective(
        node, step_.role_of(plan_group(group)), row.beside ? Frontier{*row.beside} : row.frontier);
    if (beside) {
      row.beside = id;
    } else {
      row.frontier = {*id};
    }
  }
}

void ExportedStep::Writer::finish(PassRow& row) {
  if (row.beside) {
    add_once(row.frontier, *row.beside);
    row.beside.reset();
  }
  join_apart(row);
  if (step_.detail_ != ExportDetail::pass) {
    begin_blocks(row, row.count());
    end_block(row);
    end_pass(row);
  }
  settle(row);
  add_root_moves(true, row);
  complete_blocks(row, row.count());
}

/// The sum of a block's kernels in doubles may be a tick off what the closed form rounds.
void ExportedStep::Writer::settle(PassRow& row) {
  for (auto& [part, computed] : row.computed) {
    Ticks& last = graph_.node(computed.last).duration;
    last = std::max(Ticks{0}, last + to_ticks(cost_of(part, row).compute) - computed.rounded);
  }
}

}  // namespace titer
