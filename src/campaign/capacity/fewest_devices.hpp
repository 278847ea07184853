#pragma once
// The fewest devices of usual sizes that keep a deadline.

#include <vector>

#include "titer/campaign/capacity.hpp"

namespace titer {

/// The points that were tried, fewest devices first; one that keeps the deadline has as few as any
/// usual size that does. Where no size does, these are some of them, and not all were tried.
/// REQUIRES tokens and a deadline.
[[nodiscard]] std::vector<CapacityPoint> try_for_fewest(const CapacityQuestion& question,
                                                        const PlanFinder& plan);

}  // namespace titer
