#pragma once
// What a pass occupies its rank for, in ticks.

#include "titer/cost/cost.hpp"
#include "titer/engine/task_graph.hpp"

namespace titer {

/// Its compute and what it exposes, which become whole ticks one by one, as the tasks of the event
/// simulation are.
inline Ticks round_to_ticks(PassCost& cost) {
  Ticks sum = to_ticks(cost.compute);
  cost.compute = to_seconds(sum);
  for (const PassComm comm : kAllPassComms) {
    Seconds& exposed = cost.exposed[comm];
    if (exposed != Seconds{}) {  // one that is no time is a defect, which to_ticks() reports
      const Ticks ticks = to_ticks(exposed);
      exposed = to_seconds(ticks);
      sum += ticks;
    }
  }
  return sum;
}
[[nodiscard]] inline Ticks busy_ticks(PassCost cost) { return round_to_ticks(cost); }

}  // namespace titer
