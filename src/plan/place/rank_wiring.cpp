#include "rank_wiring.hpp"

#include <algorithm>
#include <cstddef>

#include "titer/units/lists.hpp"

namespace titer {
namespace {

int rank_of(int device, const std::vector<int>& devices) {
  return static_cast<int>(std::ranges::find(devices, device) - devices.begin());
}

}  // namespace

std::vector<std::vector<int>> directed_rings(const RingPacking& packing,
                                             const std::vector<int>& devices) {
  std::vector<std::vector<int>> rings;
  for (const std::vector<int>& cycle : packing.rings) {
    const std::vector<int> ring =
        each_of(cycle, [&](const int device) { return rank_of(device, devices); });
    rings.push_back(ring);
    if (devices.size() > 2) {
      rings.emplace_back(ring.rbegin(), ring.rend());
    }
  }
  return rings;
}

std::vector<RankTree> rank_trees(const TreePacking& packing, const std::vector<int>& devices) {
  std::vector<RankTree> trees;
  for (const SpanningTree& tree : packing.trees) {
    RankTree ranks{.root = rank_of(tree.root, devices), .parent = std::vector<int>(devices.size())};
    ranks.parent[static_cast<std::size_t>(ranks.root)] = ranks.root;
    for (const TreeLink& link : tree.links) {
      ranks.parent[static_cast<std::size_t>(rank_of(link.child, devices))] =
          rank_of(link.parent, devices);
    }
    trees.insert(trees.end(), static_cast<std::size_t>(tree.copies), ranks);
  }
  return trees;
}

}  // namespace titer
