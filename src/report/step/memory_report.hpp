#pragma once
// The memory of a result, and what would make it fit.

#include <vector>

#include "titer/estimate/result.hpp"
#include "titer/search/fit_advice.hpp"
#include "titer/view/text_view.hpp"

namespace titer {

[[nodiscard]] Figures memory_figures(const StepResult& result,
                                     const std::vector<FitAdvice>& advice);
[[nodiscard]] TextView memory_text(const StepResult& result, const std::vector<FitAdvice>& advice);

}  // namespace titer
