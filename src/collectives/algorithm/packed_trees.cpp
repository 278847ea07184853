#include "titer/collectives/algorithm/packed_trees.hpp"

#include <algorithm>
#include <cstddef>

#include "titer/units/ensure.hpp"

namespace titer {

namespace {

int parent_of(const RankTree& tree, int rank) {
  return tree.parent[static_cast<std::size_t>(rank)];
}

int deepest(const RankTree& tree) {
  const std::vector<int> depth = depths(tree);
  return *std::ranges::max_element(depth);
}

/// Block b goes up from depth d in round b + D - d, and down from there in round b + D + d.
class TreeRound {
 public:
  TreeRound(Script& script, const RankTree& tree, int lane, int blocks)
      : script_(script),
        tree_(tree),
        depth_(depths(tree)),
        deepest_(*std::ranges::max_element(depth_)),
        lane_(lane),
        blocks_(blocks) {}

  [[nodiscard]] int rounds() const { return 2 * deepest_ - 1 + blocks_; }

  void send(int round, int rank) {
    const int parent = parent_of(tree_, rank);
    if (parent == rank) {
      return;
    }
    const int depth = depth_[static_cast<std::size_t>(rank)];
    send(rank, parent, round - (deepest_ - depth), Arrival::add);
    send(parent, rank, round - (deepest_ + depth - 1), Arrival::replace);
  }

 private:
  void send(int from, int to, int block, Arrival arrival) {
    if (block >= 0 && block < blocks_) {
      script_.send({.from = from,
                    .to = to,
                    .tier = Tier::wire,
                    .lane = static_cast<std::uint16_t>(lane_),
                    .arrival = arrival},
                   Run{lane_ * blocks_ + block, 1});
    }
  }

  Script& script_;
  const RankTree& tree_;
  std::vector<int> depth_;
  int deepest_;
  int lane_;
  int blocks_;
};

}  // namespace

std::vector<int> depths(const RankTree& tree) {
  const auto ranks = static_cast<int>(tree.parent.size());
  std::vector<int> depth;
  for (int rank = 0; rank < ranks; ++rank) {
    int hops = 0;
    for (int at = rank; at != tree.root; at = parent_of(tree, at)) {
      ensure(++hops < ranks, "every rank of a tree has a way to the root");
    }
    depth.push_back(hops);
  }
  return depth;
}

Pipeline PackedTreesAllReduce::pipeline(const Group& group) {
  int most = 0;
  for (const RankTree& tree : group.wiring->trees) {
    most = std::max(most, deepest(tree));
  }
  return {.fill = 2 * most - 1, .parts = static_cast<int>(group.wiring->trees.size())};
}

Bytes PackedTreesAllReduce::volume(Bytes size, const Group& group) {
  std::vector<int> edges(static_cast<std::size_t>(group.ranks()), 0);
  for (const RankTree& tree : group.wiring->trees) {
    for (int rank = 0; rank < group.ranks(); ++rank) {
      const int parent = parent_of(tree, rank);
      if (parent != rank) {
        ++edges[static_cast<std::size_t>(rank)];
        ++edges[static_cast<std::size_t>(parent)];
      }
    }
  }
  // A share through each of its edges, up to the parent or down to a child.
  return *std::ranges::max_element(edges) *
         (size / static_cast<double>(group.wiring->trees.size()));
}

Steps PackedTreesAllReduce::steps(Bytes size, const Group& group, const Fabric& fabric) {
  const int n = group.ranks();
  if (n == 1) {
    return Steps(n, size, 1);
  }
  const auto trees = static_cast<int>(group.wiring->trees.size());
  const int blocks = pipeline(group).blocks(size, fabric.wire);
  Script script(Steps(n, size, trees * blocks), trees);
  for (int t = 0; t < trees; ++t) {
    script.thread(t);
    TreeRound tree(script, group.wiring->trees[static_cast<std::size_t>(t)], t, blocks);
    for (int round = 0; round < tree.rounds(); ++round) {
      for (int rank = 0; rank < n; ++rank) {
        tree.send(round, rank);
      }
      script.next_round();
    }
  }
  return script.take();
}

}  // namespace titer
