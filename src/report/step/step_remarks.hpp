#pragma once
// What a step's answer says of how it was found: of the links that transfers met on, the algorithms
// that these chose, the events beside a closed form. Nothing where there is nothing to say.

#include <string>

#include "titer/estimate/result.hpp"
#include "titer/scenario/scenario.hpp"
#include "titer/view/figure.hpp"

namespace titer {

/// "400 Gbps", as ports are sold.
[[nodiscard]] std::string gigabits_text(BytesPerSecond bandwidth);
[[nodiscard]] std::string remarks_text(const Scenario& scenario, const StepResult& result);
[[nodiscard]] Figures remark_figures(const Scenario& scenario, const StepResult& result);
/// "tensor all-reduce of 96 MiB: taken: …; …", one after the other; "" where links chose none.
[[nodiscard]] std::string algorithms_text(const StepResult& result);

}  // namespace titer
