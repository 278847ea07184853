#pragma once
// The durations of a step: what every pass, send and synchronisation of it takes by itself. The
// closed form and the event simulation both start from these.

#include <vector>

#include "titer/hardware/kernel.hpp"
#include "titer/model/transformer_layer.hpp"
#include "titer/plan/placement.hpp"
#include "titer/step/scenario.hpp"

namespace titer {

/// One pass (forward, backward or recomputation) of a block on one rank.
struct PassCost {
  Seconds compute;     // its kernels, or their launches where the host is slower
  Seconds comm;        // tensor-parallel communication that nothing hides
  Seconds comm_total;  // all of it

  PassCost& operator+=(const PassCost& other) {
    compute += other.compute;
    comm += other.comm;
    comm_total += other.comm_total;
    return *this;
  }
  friend PassCost operator*(double factor, const PassCost& cost) {
    return {factor * cost.compute, factor * cost.comm, factor * cost.comm_total};
  }
};

/// A layer, the embedding or the output head: one micro-batch on one rank.
struct BlockCost {
  PassCost forward;
  PassCost backward;
  PassCost recompute;

  BlockCost& operator+=(const BlockCost& other) {
    forward += other.forward;
    backward += other.backward;
    recompute += other.recompute;
    return *this;
  }
  friend BlockCost operator*(double factor, const BlockCost& cost) {
    return {factor * cost.forward, factor * cost.backward, factor * cost.recompute};
  }
};

/// What block costs depend on.
struct BlockClock {
  KernelClock kernels;
  Group tensor_group;
  Fabric tensor_fabric;
  TensorOverlap overlap = TensorOverlap::none;
  Seconds dispatch;

  [[nodiscard]] Seconds transfer_time(const Transfer& transfer) const;
};
[[nodiscard]] BlockClock block_clock(const Scenario& scenario);

/// `recompute` says what the backward pass repeats of this block.
[[nodiscard]] BlockCost block_cost(const OperationList& operations,
                                   Recompute recompute,
                                   const BlockClock& clock);

/// What a stage does after its last backward pass, one after the other.
struct StageTail {
  Seconds gradient_sync;  // over the data-parallel group
  Seconds optimizer;
  Seconds parameter_sync;  // ZeRO-1: gather of the updated parameters
};

/// All durations of one step.
struct StepCosts {
  PipelineShape shape;
  ModelOperations operations;
  BlockCost layer;
  BlockCost embedding;
  BlockCost head;
  double layers_per_chunk = 0;
  std::vector<Seconds> send;     // from stage i to the next (the last to the first), one way
  Seconds embedding_sync;        // first and last stage share the token table (p > 1, tied)
  std::vector<StageTail> tails;  // per stage

  /// One pass of virtual stage `stage` of p v.
  [[nodiscard]] BlockCost chunk(int stage) const;
  /// What sending on from virtual stage `stage` takes: its activation, or (backward) its input's
  /// gradient; nothing at the pipeline's ends.
  [[nodiscard]] Seconds send_after(int stage, bool backward) const;
};

/// Fills `costs` (no allocation once its vectors are large enough). REQUIRES a valid scenario.
void step_costs(const Scenario& scenario, StepCosts& costs);

/// A micro-batch's activation at a stage boundary, whole: 2 b s h bytes at 16 bit. [E7b]
[[nodiscard]] Bytes boundary_bytes(const Scenario& scenario);
/// Memory traffic of the optimizer step per parameter of the device's shard, and per parameter
/// whose gradient it must look at (norm, reset).
struct OptimizerTraffic {
  Bytes per_updated;
  Bytes per_gradient;
};
[[nodiscard]] OptimizerTraffic optimizer_traffic(const Scenario& scenario);

}  // namespace titer
