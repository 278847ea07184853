// Collectives of parameters and gradients beside a block that has transfers of its own: as costs
// have it they go on beside its kernels alone, so that they are cut where it waits for a transfer.

#include <algorithm>

#include "export_writer.hpp"

namespace titer {
namespace {

/// Of a part of a block, item by item.
class KernelRoom {
 public:
  void add_transfer(const PassItem& item, bool is_over) {
    ends_ = ends_ || (!is_over && is_waited_for(item));
    apart_ += item.apart ? item.time : Seconds{};
    guest_ = item.beside ? item.time : Seconds{};
  }
  void add_kernel(const PassItem& item, bool is_over) {
    kernels_ += item.time;
    if (!ends_ && !is_over && !item.aside) {
      room_ += std::max(Seconds{}, item.time - guest_);
    }
    guest_ = {};
  }
  [[nodiscard]] Ticks free() const {
    const double share = apart_ > Seconds{} ? std::max(0.0, 1.0 - apart_ / kernels_) : 1.0;
    return to_ticks(share * room_);
  }

 private:
  Seconds room_;
  Seconds guest_;  // beside the next kernel
  Seconds apart_;
  Seconds kernels_;
  bool ends_ = false;
};

}  // namespace

/// Devices of several classes, and a stage's two copies, would cut theirs at different places: the
/// members of a group have the same collectives in the same order.
bool ExportedStep::Writer::cuts_moves(const PassRow& row) const {
  const int number = row.begun - 1;
  return !concurrent_ && step_.classes() == 1 && costs_.placement != Placement::two_ways &&
         !scenario_.plan.offload.any() &&
         std::ranges::any_of(row.pieces, [&](const PassPiece& piece) {
           return piece.number == number && is_waited_for(*piece.item);
         });
}

void ExportedStep::Writer::move_beside(PassRow& row, int number, MoveTime when) {
  if (!cuts_moves(row)) {
    if (const auto id = add_moves(row, number, when, NodeKind::collective, row.frontier)) {
      row.moving.push_back(*id);
    }
    return;
  }
  for (const MoveNode& of : moves_[row.blocks[static_cast<std::size_t>(number)].kind]) {
    if (of.node.kind == NodeKind::collective && of.when == when) {
      row.waiting.push_back({.when = when, .role = of.role, .node = move_node(row, number, of)});
    }
  }
}

/// What is cut stops where the block waits for a transfer of its own, and goes on behind it.
void ExportedStep::Writer::go_on_beside(PassRow& row, const PassItem& item) {
  if (is_waited_for(item)) {
    join_moves(row);
  } else if (row.beside_kernels.empty() && !row.waiting.empty()) {
    move_waiting(row, room_beside(row));
  }
}

/// What kernels from the row's next piece on take up to the next transfer that they wait for, but
/// for what is beside them already.
Ticks ExportedStep::Writer::room_beside(const PassRow& row) {
  const PassPiece& first = row.pieces[row.next - 1];
  KernelRoom room;
  for (std::size_t i = 0; i < row.pieces.size(); ++i) {
    const PassPiece& piece = row.pieces[i];
    if (piece.number != first.number || piece.part != first.part) {
      continue;
    }
    if (piece.item->is_transfer()) {
      room.add_transfer(*piece.item, i < row.next);
    } else {
      room.add_kernel(*piece.item, i + 1 < row.next);
    }
  }
  return room.free();
}

/// As much of it as there is room for, one after the other.
void ExportedStep::Writer::move_waiting(PassRow& row, Ticks room) {
  auto next = row.waiting.begin();
  for (; next != row.waiting.end() && room > 0; ++next) {
    GraphNode& left = next->node;
    GraphNode part = left;
    part.duration = std::min(left.duration, room);
    const bool all = part.duration == left.duration;
    if (!all) {
      part.bytes =
          static_cast<double>(part.duration) / static_cast<double>(left.duration) * left.bytes;
      left.duration -= part.duration;
      left.bytes -= part.bytes;
    }
    room -= part.duration;
    Frontier after = row.frontier;
    if (moved_last_) {
      add_once(after, *moved_last_);
    }
    if (const auto id = add_collective(part, next->role, after)) {
      moved_last_ = id;
      row.beside_kernels = {*id};
    }
    if (!all) {
      break;
    }
  }
  row.waiting.erase(row.waiting.begin(), next);
}

/// What follows waits for what went on beside the kernels before.
void ExportedStep::Writer::join_moves(PassRow& row) {
  for (const RankGraph::Id id : std::exchange(row.beside_kernels, {})) {
    add_once(row.frontier, id);
    row.open.reset();
  }
}

}  // namespace titer
