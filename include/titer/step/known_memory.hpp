#pragma once
// The memory of one plan after another: a search comes back to plans that differ in ways to overlap
// and in where their groups lie, which memory has nothing to do with.

#include <array>
#include <vector>

#include "titer/plan/memory.hpp"
#include "titer/step/cost.hpp"

namespace titer {

/// What the memory of a plan depends on, beside the blocks of its layers.
struct MemoryKeys {
  PipelineShape shape;
  Schedule schedule;
  LayerSplit layers;
  std::int64_t data = 0;
  std::optional<std::int64_t> shard;
  std::optional<std::int64_t> recompute_every;
  std::optional<std::int64_t> recompute_layers;
  Sharding sharding = Sharding::none;
  Offload offload;
  bool reshard_after_forward = true;
  bool reduce_every_pass = true;
  bool prefetch = true;
  bool receives_ahead = false;
};

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
    MemoryKeys keys;
    std::vector<StageMemory> stages;
  };

  MemoryFinder finder_;
  std::array<Known, 8> known_;  // as many as a search goes back to
  std::size_t count_ = 0;       // of those that hold
  std::size_t next_ = 0;        // to be replaced
};

}  // namespace titer
