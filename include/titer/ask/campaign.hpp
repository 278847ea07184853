#pragma once
// Training over time, and what it takes.

#include "titer/ask/asked.hpp"
#include "titer/simulate/fidelity.hpp"

namespace titer {

/// How many devices a training run needs for a deadline or a budget, with failures, cost, energy
/// and carbon.
struct CapacityRequest {
  Asked question;       // or a run, which the changes complete
  bool search = false;  // the best of all plans for each number of devices, not the scenario's
  unsigned threads = 1;
};
/// Good: some number of devices will do. Throws InputError.
[[nodiscard]] Answer ask(const CapacityRequest& request);

/// Phases on changing devices, jobs that share devices, federated rounds, or devices that follow
/// queries.
struct CourseRequest {
  Asked course;
  Fidelity fidelity = Fidelity::closed;
};
/// Good: all of it fits in memory. Throws InputError.
[[nodiscard]] Answer ask(const CourseRequest& request);

}  // namespace titer
