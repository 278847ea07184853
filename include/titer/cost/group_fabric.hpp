#pragma once
// What a plan's group can send over, with the algorithms that cluster and stack name.

#include "titer/plan/place/placement.hpp"
#include "titer/scenario/scenario.hpp"

namespace titer {

/// The stack's, which runs the collectives, before the cluster's.
[[nodiscard]] inline NamedAlgorithms named_algorithms(const Scenario& scenario) {
  return scenario.cluster.collectives.with(scenario.stack.collectives);
}

[[nodiscard]] inline Fabric group_fabric(const Scenario& scenario, const GroupPlace& at) {
  Fabric fabric = at.fabric(scenario.cluster);
  fabric.named = named_algorithms(scenario);
  return fabric;
}

}  // namespace titer
