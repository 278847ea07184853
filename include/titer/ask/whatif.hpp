#pragma once
// What would be otherwise.

#include <optional>
#include <string>
#include <vector>

#include "titer/ask/asked.hpp"
#include "titer/simulate/fidelity.hpp"

namespace titer {

/// Term by term, why one scenario is faster than another, and by which inputs.
struct DiffRequest {
  Asked a;
  Asked b;
  Fidelity fidelity = Fidelity::closed;
};
/// Throws InputError.
[[nodiscard]] Answer ask(const DiffRequest& request);

/// What a scenario depends on, how much, and where that changes.
struct SensitivityRequest {
  Asked scenario;
  Fidelity fidelity = Fidelity::closed;
  std::string of = "iteration_time_s";  // a figure of the result
  std::string by = "1%";                // the largest step of a figure
  std::string reach = {};               // "12s" of the iteration time, or "mfu=0.5"
  std::vector<std::string> costs = {};  // "PATH=DOLLARS" of a tenth more of a figure
};
/// Throws InputError.
[[nodiscard]] Answer ask(const SensitivityRequest& request);

}  // namespace titer
