#include "titer/plan/placement.hpp"

#include <algorithm>

namespace titer {

GroupPlace place(const Plan& plan, Dimension dimension, int devices_per_node) {
  std::int64_t stride = 1;
  for (const Dimension other : plan.rank_order) {
    if (other == dimension) {
      break;
    }
    stride *= plan.degree(other);
  }
  const auto ranks = static_cast<int>(plan.degree(dimension));
  const std::int64_t stretch = stride * ranks;
  GroupPlace placed;
  placed.stride = static_cast<int>(stride);
  placed.stretches = plan.devices() / stretch;
  const bool tiles_a_node = stretch <= devices_per_node && devices_per_node % stretch == 0;
  const bool one_node_holds_all = plan.devices() <= devices_per_node;
  if (tiles_a_node || one_node_holds_all) {
    placed.group = {.per_node = ranks, .nodes = 1};
    placed.stride_in_node = placed.stride;
  } else if (stride < devices_per_node && devices_per_node % stride == 0 &&
             stretch % devices_per_node == 0) {
    const auto per_node = static_cast<int>(devices_per_node / stride);
    placed.group = {.per_node = per_node, .nodes = ranks / per_node};
    placed.stride_in_node = placed.stride;
  } else {
    placed.group = {.per_node = 1, .nodes = ranks};
  }
  return placed;
}

bool leaves_node(const GroupPlace& pipeline, int from, int devices_per_node) {
  const std::int64_t stages = pipeline.group.ranks();
  const std::int64_t here = from;
  const std::int64_t to = (here + 1) % stages;
  // Stretches begin alike after as many of them as a node has devices.
  const std::int64_t different = std::min<std::int64_t>(pipeline.stretches, devices_per_node);
  for (std::int64_t stretch = 0; stretch < different; ++stretch) {
    // The first rank of the one stage and the last of the other decide: with them on one node, so
    // are all pairs between.
    const std::int64_t start = stretch * stages * pipeline.stride;
    const std::int64_t first = start + std::min(here, to) * pipeline.stride;
    const std::int64_t last = start + (std::max(here, to) + 1) * pipeline.stride - 1;
    if (first / devices_per_node != last / devices_per_node) {
      return true;
    }
  }
  return false;
}

}  // namespace titer
