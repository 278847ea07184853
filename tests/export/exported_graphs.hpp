#pragma once
// Executes exported graphs: what every node waits for has ended, a receive ends with its send, the
// members of a collective start together.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "titer/export/exported_step.hpp"

namespace titer::exported {

inline std::vector<RankGraph> graphs(const ExportedStep& step) {
  std::vector<RankGraph> all;
  for (int rank = 0; rank < step.ranks(); ++rank) {
    all.push_back(step.graph(rank));
  }
  return all;
}

class Execution {
 public:
  Execution(const ExportedStep& step, const std::vector<RankGraph>& graphs)
      : step_(step), graphs_(graphs), ends_(graphs.size()), arrived_(graphs.size()) {
    for (std::size_t rank = 0; rank < graphs.size(); ++rank) {
      ends_[rank].reserve(graphs[rank].size());
      arrived_[rank].resize(step.groups().size());
    }
  }

  /// When all have ended; nothing if some wait for ever.
  std::optional<Ticks> run() {
    for (bool progress = true; progress;) {
      progress = false;
      for (std::size_t rank = 0; rank < graphs_.size(); ++rank) {
        while (ends_[rank].size() < graphs_[rank].size() && take(rank)) {
          progress = true;
        }
      }
    }
    Ticks last = 0;
    for (std::size_t rank = 0; rank < graphs_.size(); ++rank) {
      if (ends_[rank].size() < graphs_[rank].size()) {
        return std::nullopt;
      }
      last = std::max(last, *std::max_element(ends_[rank].begin(), ends_[rank].end()));
    }
    return last;
  }

 private:
  bool take(std::size_t rank) {
    const auto id = static_cast<RankGraph::Id>(ends_[rank].size());
    const GraphNode& node = graphs_[rank].node(id);
    Ticks start = 0;
    for (const RankGraph::Id before : graphs_[rank].after(id)) {
      start = std::max(start, ends_[rank][before]);
    }
    const int self = static_cast<int>(rank);
    if (node.kind == NodeKind::receive) {
      const auto sent = sent_.find({node.peer, self, node.tag});
      if (sent == sent_.end()) {
        return false;
      }
      ends_[rank].push_back(std::max(start, sent->second));
      return true;
    }
    if (node.kind == NodeKind::collective) {
      return meet(rank, id, start);
    }
    ends_[rank].push_back(start + node.duration);
    if (node.kind == NodeKind::send) {
      sent_[{self, node.peer, node.tag}] = start + node.duration;
    }
    return true;
  }

  /// The n-th collective of a rank in a group is the n-th of its other members.
  bool meet(std::size_t rank, RankGraph::Id id, Ticks start) {
    const GraphNode& node = graphs_[rank].node(id);
    const auto group = static_cast<std::size_t>(node.group - 1);
    auto& own = arrived_[rank][group];
    if (own.size() == 0 || own.back().first != id) {
      own.emplace_back(id, start);
    }
    const std::size_t number = own.size();
    Ticks latest = start;
    for (const int member : step_.groups()[group].ranks) {
      const auto& other = arrived_[static_cast<std::size_t>(member)][group];
      if (other.size() < number) {
        return false;
      }
      latest = std::max(latest, other[number - 1].second);
    }
    ends_[rank].push_back(latest + node.duration);
    return true;
  }

  const ExportedStep& step_;
  const std::vector<RankGraph>& graphs_;
  std::vector<std::vector<Ticks>> ends_;
  std::map<std::tuple<int, int, int>, Ticks> sent_;
  std::vector<std::vector<std::vector<std::pair<RankGraph::Id, Ticks>>>> arrived_;
};

inline std::optional<Ticks> time(const ExportedStep& step) {
  const std::vector<RankGraph> all = graphs(step);
  return Execution(step, all).run();
}

}  // namespace titer::exported
