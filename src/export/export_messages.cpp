// What of an exported step is sent by some ranks only: to servers and back, through the first rank,
// between parts of images.

#include <algorithm>

#include "export_writer.hpp"
#include "titer/plan/image_parts.hpp"

namespace titer {

std::vector<int> ExportedStep::nodes() const {
  std::vector<int> nodes;
  nodes.reserve(static_cast<std::size_t>(devices()) + static_cast<std::size_t>(servers()));
  for (int rank = 0; rank < devices(); ++rank) {
    nodes.push_back(rank / scenario_.cluster.devices_per_node);
  }
  for (int server = 0; server < servers(); ++server) {
    nodes.push_back(nodes.back() + 1);
  }
  return nodes;
}

std::vector<RankMessage> ExportedStep::messages(const GraphNode& node, int rank) const {
  const std::vector<int>& ranks = group(node.group).ranks;
  std::vector<RankMessage> list;
  switch (node.senders) {
    case Senders::all:
      break;
    case Senders::first:
    case Senders::others: {
      const bool from_first = node.senders == Senders::first;
      if (rank != ranks.front()) {
        return {{.sends = !from_first, .peer = ranks.front(), .bytes = node.bytes}};
      }
      for (auto other = std::next(ranks.begin()); other != ranks.end(); ++other) {
        list.push_back({.sends = from_first, .peer = *other, .bytes = node.bytes});
      }
      break;
    }
    case Senders::neighbours: {
      const auto self = std::ranges::find(ranks, rank);
      const Bytes each = node.bytes / most_parts_beside(scenario_.plan);
      for (const bool sends : {true, false}) {
        for (const int other :
             parts_beside(scenario_.plan, static_cast<int>(self - ranks.begin()))) {
          list.push_back(
              {.sends = sends, .peer = ranks[static_cast<std::size_t>(other)], .bytes = each});
        }
      }
      break;
    }
  }
  return list;
}

/// Each server has its part of all parameters, and all workers send it their gradients of these.
RankGraph ExportedStep::server_graph() const {
  RankGraph graph;
  Frontier gathered;
  const SyncGroups places = sync_groups(scenario_, costs_.placement, 0);
  const MoveClock clock(scenario_, places);
  for (const Move& move : clock.moves()) {
    if (move.among != MoveAmong::servers) {
      continue;
    }
    const bool pushed = move.when == MoveTime::complete;
    GraphNode node = {.kind = pushed ? NodeKind::receive : NodeKind::send,
                      .part = TaskPart::data_comm,
                      .what = move.text->what,
                      .duration = pushed ? 0 : to_ticks(clock.time(move, costs_.trained.front())),
                      .bytes = costs_.trained.front().total() * move.each / servers()};
    for (int worker = 0; worker < devices(); ++worker) {
      node.peer = worker;
      const RankGraph::Id id = graph.add(node, pushed ? Frontier() : gathered);
      if (pushed) {
        gathered.push_back(id);
      }
    }
  }
  return graph;
}

/// To or from each server its part of all, at once.
Frontier ExportedStep::Writer::add_served(const Move& move,
                                          const DeviceParameters& parameters,
                                          Frontier after) {
  const bool pushed = move.when == MoveTime::complete;
  GraphNode node = {.kind = pushed ? NodeKind::send : NodeKind::receive,
                    .part = TaskPart::data_comm,
                    .what = move.text->what,
                    .duration = pushed ? to_ticks(clock_.time(move, parameters)) : 0,
                    .bytes = parameters.total() * move.each / step_.servers()};
  Frontier through = pushed ? Frontier() : after;
  for (int server = 0; server < step_.servers(); ++server) {
    node.peer = step_.devices() + server;
    through.push_back(graph_.add(node, pushed ? after : Frontier()));
  }
  return through;
}

/// What a pass begins with comes from the root, what it ends with goes there.
void ExportedStep::Writer::add_root_moves(bool ends, PassRow& row) {
  for (const RootMove& of : root_.moves) {
    const RootWay way = root_way(of.move.when, row.action.pass);
    if (!way.here || way.to_root != ends) {
      continue;
    }
    const bool back = of.move.when == MoveTime::there_and_back && !ends;
    GraphNode node = about(row, TaskPart::data_comm);
    node.what = back ? of.move.text->back : of.move.text->what;
    node.collective = of.move.collective;
    node.senders = ends ? Senders::others : Senders::first;
    node.duration = to_ticks(of.time);
    node.bytes = of.size;
    if (const auto id = add_collective(node, GroupRole::data, row.frontier)) {
      row.frontier = {*id};
    }
  }
}

}  // namespace titer
