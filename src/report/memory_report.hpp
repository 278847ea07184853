#pragma once
// The memory of a result, and what would make it fit, as text and JSON.

#include <span>
#include <string>

#include "titer/input/document.hpp"
#include "titer/search/fit_advice.hpp"
#include "titer/step/result.hpp"

namespace titer {

[[nodiscard]] Value json_bytes(Bytes bytes);
[[nodiscard]] Value memory_json(const StepResult& result, std::span<const FitAdvice> advice);
[[nodiscard]] std::string memory_text(const StepResult& result, std::span<const FitAdvice> advice);

}  // namespace titer
