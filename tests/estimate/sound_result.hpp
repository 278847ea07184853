#pragma once
// What any answer must be, whatever was asked.

#include <cmath>
#include <string>

#include "titer/estimate/result.hpp"

namespace titer {

/// What of a result cannot be; empty: nothing.
inline std::string unsound(const StepResult& result) {
  std::string wrong;
  const auto demand = [&](bool holds, std::string_view what, double value) {
    if (!holds) {
      wrong += (wrong.empty() ? "" : "; ") + std::string(what) + " " + std::to_string(value);
    }
  };
  const auto demand_size = [&](std::string_view what, double value) {
    demand(std::isfinite(value) && value >= 0, what, value);
  };
  const double time = result.iteration_time.si();
  demand(std::isfinite(time) && time > 0, "iteration time", time);
  double sum = 0;
  for (const BreakdownPart& part : kBreakdownParts) {
    demand_size(part.name, (result.breakdown.*part.value).si());
    sum += (result.breakdown.*part.value).si();
  }
  demand(std::abs(sum - time) <= 1e-9 * time, "the sum of the parts", sum);
  for (const CommunicationPart& part : kCommunicationParts) {
    demand_size(part.name, (result.comm_total.*part.value).si());
  }
  demand_size("tokens per second", result.tokens_per_s);
  demand_size("model FLOP/s", result.model_flops_per_device.si());
  for (const double used : {result.mfu_causal, result.mfu, result.hfu}) {
    demand_size("utilisation", used);
  }
  demand(result.mfu_causal <= 1, "mfu (causal)", result.mfu_causal);
  demand(result.mfu <= 2 * result.mfu_causal, "mfu (full)", result.mfu);
  demand(result.hfu >= result.mfu, "hfu", result.hfu);
  demand(result.bubble_ratio >= 0 && result.bubble_ratio < 1, "bubble", result.bubble_ratio);
  demand(!result.memory.empty(), "stages", 0);
  for (const StageMemory& stage : result.memory) {
    for (const MemoryPart& part : kMemoryParts) {
      demand_size(part.name, (stage.*part.value).si());
    }
  }
  demand(result.memory_peak == result.peak_stage().total(), "peak", result.memory_peak.si());
  return wrong;
}

}  // namespace titer
