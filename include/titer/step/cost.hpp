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

/// A layer, the embedding or the output head: one micro-batch on one rank. The backward pass is
/// either whole or in two parts, by the schedule.
struct BlockCost {
  PassCost forward;
  PassCost backward;
  PassCost recompute;  // before a backward pass, or before its input-gradient part
  PassCost input_gradient;
  PassCost weight_gradient;

  /// Recomputation is counted apart.
  [[nodiscard]] const PassCost& of(Pass pass) const;
  BlockCost& operator+=(const BlockCost& other) {
    forward += other.forward;
    backward += other.backward;
    recompute += other.recompute;
    input_gradient += other.input_gradient;
    weight_gradient += other.weight_gradient;
    return *this;
  }
  friend BlockCost operator*(double factor, const BlockCost& cost) {
    return {factor * cost.forward,
            factor * cost.backward,
            factor * cost.recompute,
            factor * cost.input_gradient,
            factor * cost.weight_gradient};
  }
};

/// What block costs depend on.
struct BlockClock {
  KernelClock kernels;
  Group tensor_group;
  Fabric tensor_fabric;
  TensorOverlap overlap = TensorOverlap::none;
  Seconds dispatch;
  double slowdown = 1;  // of compute and transfers beside one another

  [[nodiscard]] Seconds transfer_time(const Transfer& transfer) const;
  /// Whether ring overlap cuts this kernel: a product of several ranks.
  [[nodiscard]] bool tiles(const Kernel& kernel) const {
    return overlap == TensorOverlap::ring && kernel.exists() && kernel.kind == KernelKind::matrix &&
           tensor_group.ranks() > 1;
  }
  /// One of its t tiles.
  [[nodiscard]] Kernel tile(Kernel kernel) const;
  /// Of a transfer, what runs beside its product, cut into tiles; an all-reduce's half.
  [[nodiscard]] static double tiled_share(const Transfer& transfer) {
    return transfer.kind == Collective::all_reduce ? 0.5 : 1.0;
  }
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

/// A part of a chunk's gradients that is synchronised by itself, beside the backward passes.
struct GradientBucket {
  // The share of the chunk's backward pass (or of its weight-gradient part) after which its
  // gradients are complete; of the pass of the last micro-batch, the others only add to them.
  double ready = 1;
  Seconds sync;    // over the data-parallel group
  Seconds gather;  // ZeRO-1: of its updated parameters, where that runs beside the first forward
  double parameters = 0;  // whose gradients it has
  int blocks = 0;  // of the stage, in the order of its backward pass: head, layers, embedding
};

/// All durations of one step.
struct StepCosts {
  PipelineShape shape;
  Placement placement = Placement::loop;
  int stages = 1;  // of the model: what a micro-batch passes
  ModelOperations operations;
  BlockCost layer;
  BlockCost embedding;
  BlockCost head;
  std::vector<double> layers;    // of each stage of the model
  double slowdown = 1;           // of compute and transfers beside one another
  std::vector<Seconds> send;     // from rank i to the next (the last to the first), one way
  Seconds embedding_sync;        // first and last stage share the token table (p > 1, tied)
  std::vector<StageTail> tails;  // per rank of the pipeline
  // Of each stage of the model, in the order in which the backward pass fills them; none where the
  // tail synchronises everything.
  std::vector<std::vector<GradientBucket>> buckets;

  /// The passes of one stage of the model.
  [[nodiscard]] BlockCost chunk(int stage) const;
  /// A forward of `stage` and a backward of the stage as far from the end, done together: the
  /// transfers of each run beside the compute of the other. Recomputation is included.
  [[nodiscard]] PassCost pair(int stage) const;
  /// What sending on from a stage takes, from the rank that has it: its activation, or its input's
  /// gradient; nothing at the model's ends, after a weight gradient, and within a rank.
  [[nodiscard]] Seconds send_after(StagePlace place, Pass pass) const;
};

/// Fills `costs` (no allocation once its vectors are large enough). REQUIRES a valid scenario.
void step_costs(const Scenario& scenario, StepCosts& costs);

/// A micro-batch's activation at a stage boundary, whole: 2 b s h bytes at 16 bit. [E7b]
[[nodiscard]] Bytes boundary_bytes(const Scenario& scenario);
/// What one rank sends of it, and whether the receivers put the parts together.
struct StageMessage {
  Bytes size;
  bool regathered = false;
};
[[nodiscard]] StageMessage stage_message(const Scenario& scenario);
/// Memory traffic of the optimizer step per parameter of the device's shard, and per parameter
/// whose gradient it must look at (norm, reset).
struct OptimizerTraffic {
  Bytes per_updated;
  Bytes per_gradient;
};
[[nodiscard]] OptimizerTraffic optimizer_traffic(const Scenario& scenario);

}  // namespace titer
