#pragma once
// Shallower trees out of the same links.

#include <vector>

#include "forest.hpp"
#include "titer/topology/tree_packing.hpp"

namespace titer::packing {

/// The trees of the links whose `home` they are (kNowhere: a free link), rooted at their centres,
/// after links were exchanged among them and for free ones as long as that made them shallower.
/// Members become the devices of `group`.
[[nodiscard]] std::vector<SpanningTree> shallow_trees(const std::vector<Link>& links,
                                                      std::vector<Index> home,
                                                      Index trees,
                                                      const std::vector<int>& group);

}  // namespace titer::packing
