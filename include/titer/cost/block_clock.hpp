#pragma once
// The time of a block's kernels, transfers and launches, and what its passes take by it.

#include <array>
#include <optional>

#include "titer/cost/pass_cost.hpp"
#include "titer/hardware/kernel.hpp"
#include "titer/plan/place/placement.hpp"
#include "titer/scenario/scenario.hpp"

namespace titer {

/// How much longer kernels take than the chip's own figures say: the software's doing, and the wait
/// for the slowest of all devices.
struct KernelPace {
  double memory = 1;
  double attention = 1;
  double all = 1;
  double loss = 1;       // instead of `memory`
  double operators = 1;  // likewise
  double mixer = 1;      // besides

  [[nodiscard]] double of(const Kernel& kernel) const {
    switch (kernel.maker) {
      case KernelMaker::loss:
        return all * loss;
      case KernelMaker::operators:
        return all * operators;
      case KernelMaker::mixer:
        return mixer * of(kernel.kind);
      case KernelMaker::kind:
        break;
    }
    return of(kernel.kind);
  }

 private:
  [[nodiscard]] double of(KernelKind kind) const {
    switch (kind) {
      case KernelKind::memory:
        return all * memory;
      case KernelKind::attention:
        return all * attention;
      case KernelKind::matrix:
        return all;
    }
    return all;
  }
};
[[nodiscard]] KernelPace kernel_pace(const Scenario& scenario);

/// By which ranks of a group reach their neighbours, and what a message takes there while every
/// rank sends one to the next.
[[nodiscard]] const Channel& neighbour_channel(const Group& group, const Fabric& fabric);
[[nodiscard]] Seconds neighbour_time(Bytes size, const Group& group, const Fabric& fabric);

/// What block costs depend on.
struct BlockClock {
  KernelClock kernels;
  KernelPace pace{};
  std::array<Group, kLayerGroups> groups;  // by LayerGroup
  std::array<Fabric, kLayerGroups> fabrics;
  TensorOverlap overlap = TensorOverlap::none;
  bool experts_apart = false;    // their exchanges are beside another micro-batch's compute
  double exchange_slowdown = 1;  // of these, over an all-to-all
  Seconds dispatch;              // of the host, to launch a kernel or a graph
  // And where they are known apart, a kernel by its KernelKind, a collective.
  std::array<std::optional<Seconds>, 3> dispatches{};
  std::optional<Seconds> transfer_dispatch{};
  Seconds loop_dispatch{};            // and each further one of a loop over experts
  Seconds batch_dispatch{};           // and to bring a micro-batch
  LayerPartSet graphs = 0;            // the parts of layers that are launched as one
  bool awaits_counts = false;         // of tokens for each expert
  bool awaits_offsets = false;        // of activations
  bool awaits_tensor_groups = false;  // behind their transfers
  double slowdown = 1;                // of compute and transfers beside one another

  [[nodiscard]] const Group& group(LayerGroup of) const {
    return groups[static_cast<std::size_t>(of)];
  }
  [[nodiscard]] const Fabric& fabric(LayerGroup of) const {
    return fabrics[static_cast<std::size_t>(of)];
  }
  /// Of a kernel, at its pace.
  [[nodiscard]] Seconds time(const Kernel& kernel) const {
    return pace.of(kernel) * kernels.time(kernel);
  }
  [[nodiscard]] Seconds transfer_time(const Transfer& transfer) const;
  /// Whether ring overlap cuts this kernel: a product of several ranks, next to their transfer.
  [[nodiscard]] bool tiles(const Kernel& kernel, const Transfer& transfer) const {
    return transfer.exists() && transfer.group == LayerGroup::tensor &&
           overlap == TensorOverlap::ring && kernel.exists() && kernel.kind == KernelKind::matrix &&
           group(LayerGroup::tensor).ranks() > 1;
  }
  [[nodiscard]] Seconds launch(const Kernel& kernel) const {
    return dispatches[static_cast<std::size_t>(kernel.kind)].value_or(dispatch);
  }
  [[nodiscard]] Seconds transfer_launch() const { return transfer_dispatch.value_or(dispatch); }
  /// Of the host, before it launches this forward kernel.
  [[nodiscard]] Seconds preparation(const Operation& op) const {
    return op.begins_batch ? batch_dispatch : Seconds{};
  }
  [[nodiscard]] bool captures(const Operation& op) const { return (graphs & bit(op.part)) != 0; }
  /// Whether the host waits before it launches this forward kernel.
  [[nodiscard]] bool awaits(const Operation& op) const {
    const bool waits = (awaits_counts && op.awaited) || (awaits_offsets && op.brings_offset);
    return waits && !captures(op);
  }
  [[nodiscard]] bool is_apart(const Transfer& transfer) const {
    return experts_apart && transfer.group == LayerGroup::expert;
  }
  /// Whether the transfers of this product's gradients run beside their kernels in bulk: its
  /// input's beside the weight gradient, the re-gather of its input beside the input gradient.
  [[nodiscard]] bool hides(const Operation& op) const {
    return op.column_split && !op.beside && overlap == TensorOverlap::bulk;
  }
  /// One of its t tiles.
  [[nodiscard]] Kernel tile(const Kernel& kernel) const;
  /// Of a transfer, what runs beside its product, cut into tiles; an all-reduce's half.
  [[nodiscard]] static double tiled_share(const Transfer& transfer) {
    return transfer.kind == Collective::all_reduce ? 0.5 : 1.0;
  }
};
[[nodiscard]] BlockClock block_clock(const Scenario& scenario);

/// What the backward pass repeats of a block: everything, or some modules of it.
struct Repeats {
  bool all = false;
  bool by_operation = false;
  Modules modules = 0;
  bool what_is_needed = false;  // what no gradient is made of is left out
  Transfer input{};             // before all of it: what each rank kept a part of

  /// How much of its kernel.
  [[nodiscard]] double of(const Operation& op) const {
    if (what_is_needed && op.ends_layer) {
      return 0.0;
    }
    if (by_operation) {
      return op.repeated;
    }
    return all || (op.modules & modules) != 0 ? 1.0 : 0.0;
  }
};
/// Of a layer of the plan; nothing where no gradients pass through it.
[[nodiscard]] Repeats repeats_of(const Scenario& scenario, const Block& layer);

[[nodiscard]] BlockCost block_cost(const OperationList& operations,
                                   const Repeats& repeats,
                                   const BlockClock& clock);
/// What its transfers count as.
[[nodiscard]] PassComm comm_of(LayerGroup group);
/// Who they are of a plan.
[[nodiscard]] PlanGroup plan_group(LayerGroup group);

}  // namespace titer
