#pragma once
// Why a prediction is what it is.

#include <span>

#include "titer/ask/asked.hpp"
#include "titer/simulate/fidelity.hpp"

namespace titer {

/// Every term of the closed form: formula, numbers, value and source; on the links of the network
/// also the algorithms that are chosen there.
struct ExplainRequest {
  Asked scenario;
  std::vector<std::string> measured = {};  // tables of runs or products to learn figures from
  Fidelity fidelity = Fidelity::closed;    // or network
  bool for_report = false;                 // with what reports alone show, inputs
};
[[nodiscard]] std::span<const Option<ExplainRequest>> explain_options();
/// Throws InputError.
[[nodiscard]] Answer ask(const ExplainRequest& request);

}  // namespace titer
