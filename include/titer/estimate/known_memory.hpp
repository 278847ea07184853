#pragma once
// The memory of one plan after another: a search comes back to plans that differ in ways to overlap
// and in where their groups lie, which memory has nothing to do with.

#include <array>
#include <vector>

#include "titer/cost/cost.hpp"
#include "titer/plan/memory/memory.hpp"

namespace titer {

/// Finds memory as MemoryFinder does, and keeps that of the last few plans.
class KnownMemory {
 public:
  /// Of every rank; valid until the next call. `same_layers`: the blocks are those of the call
  /// before, and nothing but the plan is otherwise. REQUIRES blocks, contents and shape in `costs`.
  const std::vector<StageMemory>& find(const Scenario& scenario,
                                       const StepCosts& costs,
                                       bool same_layers);

 private:
  struct Known {
    Plan plan;
    PipelineShape shape;
    bool receives_ahead = false;
    std::vector<StageMemory> stages;
  };

  MemoryFinder finder_;
  std::array<Known, 8> known_;  // as many as a search goes back to
  std::size_t count_ = 0;       // of those that hold
  std::size_t next_ = 0;        // to be replaced
};

}  // namespace titer
