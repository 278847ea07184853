#pragma once
// Names that all views of a capacity plan use.

#include <string>

#include "titer/plan/plan.hpp"

namespace titer {

/// "none", "selective", "mlp" where that is the only module, otherwise "modules"; "full".
[[nodiscard]] std::string recompute_name(const Plan& plan);

}  // namespace titer
