#pragma once
// What a pass occupies its rank for, in ticks.

#include "titer/engine/task_graph.hpp"
#include "titer/step/cost.hpp"

namespace titer {

/// Its compute and what it exposes, rounded one by one, as the tasks of the event simulation are.
[[nodiscard]] inline Ticks busy_ticks(const PassCost& cost) {
  Ticks sum = to_ticks(cost.compute);
  for (const PassComm comm : kAllPassComms) {
    sum += to_ticks(cost.exposed[comm]);
  }
  return sum;
}

}  // namespace titer
