#pragma once
// The rings and trees that were found on the wires among some devices, told by their ranks.

#include <vector>

#include "titer/collectives/group.hpp"
#include "titer/topology/tree_packing.hpp"

namespace titer {

/// Both directions of every ring, as orders of ranks.
[[nodiscard]] std::vector<std::vector<int>> directed_rings(const RingPacking& packing,
                                                           const std::vector<int>& devices);
/// The trees of a packing, as those of ranks.
[[nodiscard]] std::vector<RankTree> rank_trees(const TreePacking& packing,
                                               const std::vector<int>& devices);

}  // namespace titer
