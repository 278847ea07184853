// Plans that need too much memory, told before their times are known.

#include <algorithm>

#include "search_worker.hpp"
#include "titer/units/lists.hpp"

namespace titer {

/// What the rank that needs most has for activations and outside the tensors, however the state is
/// kept.
Bytes SearchWorker::any_state() {
  MemoryNeeds needs = memory_needs(scenario_, costs_->blocks);
  needs.step = {};  // by how the state is kept
  memory_.find(scenario_.plan, needs, costs_->contents, stages_);
  Bytes most;
  for (const StageMemory& stage : stages_) {
    most = std::max(most, needs.runtime + stage.activations + stage.working);
  }
  return most;
}

Asked what_is_asked(const Search& search) {
  const auto& objectives = search.objectives;
  const bool by_time = std::ranges::any_of(objectives, [](Objective objective) {
    return objective != Objective::memory && objective != Objective::devices;
  });
  const bool is_memory = includes(objectives, Objective::memory);
  const SearchLimits& limits = search.limits;
  const bool is_limited = limits.most_time || limits.least_tokens_per_s || limits.least_mfu;
  return {.times = by_time || is_limited || !is_memory, .memory = is_memory};
}

}  // namespace titer
