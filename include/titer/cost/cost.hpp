#pragma once
// The durations of a step: what every pass, send and synchronisation of it takes by itself. The
// closed form and the event simulation both start from these.

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "titer/cost/each_pass.hpp"
#include "titer/hardware/kernel.hpp"
#include "titer/plan/place/placement.hpp"
#include "titer/plan/stage_blocks.hpp"
#include "titer/scenario/scenario.hpp"

namespace titer {

/// What the transfers of a pass count as.
enum class PassComm : std::uint8_t {
  tensor,
  context,
  expert,
  data,  // parameters and gradients that are moved by every pass
  host,  // copies to and from the memory of the host
};
inline constexpr std::size_t kPassComms = 5;
inline constexpr std::array<PassComm, kPassComms> kAllPassComms = {
    PassComm::tensor, PassComm::context, PassComm::expert, PassComm::data, PassComm::host};

/// A time for each of them.
class CommTimes {
 public:
  [[nodiscard]] Seconds& operator[](PassComm comm) { return of_[static_cast<std::size_t>(comm)]; }
  [[nodiscard]] Seconds operator[](PassComm comm) const {
    return of_[static_cast<std::size_t>(comm)];
  }
  [[nodiscard]] Seconds sum() const {
    Seconds sum;
    for (const Seconds time : of_) {
      sum += time;
    }
    return sum;
  }
  CommTimes& operator+=(const CommTimes& other) {
    for (std::size_t i = 0; i < of_.size(); ++i) {
      of_[i] += other.of_[i];
    }
    return *this;
  }
  CommTimes& operator-=(const CommTimes& other) { return *this += -1.0 * other; }
  friend CommTimes operator*(double factor, CommTimes times) {
    for (Seconds& time : times.of_) {
      time = factor * time;
    }
    return times;
  }

 private:
  std::array<Seconds, kPassComms> of_{};
};

/// One pass (forward, backward or recomputation) of a block on one rank.
struct PassCost {
  Seconds compute;      // its kernels, or their launches where the host is slower
  CommTimes exposed;    // communication that nothing hides
  CommTimes transfers;  // all of it
  Seconds launched{};   // compute, were nothing beside it in the gaps between launches
  Seconds host{};       // launches alone
  // What another micro-batch's pass beside it (Action::overlapped) hides, and by how much its
  // compute is longer for that.
  CommTimes hidden_by_other{};
  Seconds slowed_by_other{};

  [[nodiscard]] Seconds comm() const { return exposed.sum(); }
  [[nodiscard]] Seconds comm_total() const { return transfers.sum(); }
  [[nodiscard]] Seconds busy() const { return compute + comm(); }
  /// With such a pass beside it.
  [[nodiscard]] PassCost overlapped() const {
    PassCost both = *this;
    both.compute += slowed_by_other;
    both.exposed -= hidden_by_other;
    both.hidden_by_other = {};
    both.slowed_by_other = {};
    return both;
  }
  [[nodiscard]] PassCost of(const Action& action) const {
    return action.overlapped ? overlapped() : *this;
  }
  PassCost& operator+=(const PassCost& other) {
    compute += other.compute;
    exposed += other.exposed;
    transfers += other.transfers;
    launched += other.launched;
    host += other.host;
    hidden_by_other += other.hidden_by_other;
    slowed_by_other += other.slowed_by_other;
    return *this;
  }
  friend PassCost operator*(double factor, const PassCost& cost) {
    return {factor * cost.compute,
            factor * cost.exposed,
            factor * cost.transfers,
            factor * cost.launched,
            factor * cost.host,
            factor * cost.hidden_by_other,
            factor * cost.slowed_by_other};
  }
};

/// A layer, the embedding or the output head: one micro-batch on one rank.
using BlockCost = EachPass<PassCost>;

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

/// The ranks that hold the same parameters as a rank of the pipeline: its replicas; with two copies
/// of the model in opposite ways also those of the rank as far from the other end.
struct SyncGroup {
  Group group;
  Fabric fabric;
};
/// Of experts only those ranks that have the same.
struct SyncGroups {
  SyncGroup dense;
  SyncGroup experts;
  // Of both those that split among them what is sharded, and those that have the same shard.
  SyncGroup dense_shard;
  SyncGroup dense_copies;
  SyncGroup expert_shard;
  SyncGroup expert_copies;
};

/// What a stage does after its last backward pass, one after the other.
struct StageTail {
  Seconds gradient_sync;  // over the data-parallel group
  Seconds optimizer;
  Seconds parameter_sync;       // ZeRO-1: gather of the updated parameters
  Seconds expert_gradients{};   // of gradient_sync, what experts take among their own replicas
  Seconds expert_parameters{};  // of parameter_sync, likewise
  Seconds host{};               // between both: states of the optimizer from and to the host
  Seconds meeting{};            // behind all: what islands send one another

  [[nodiscard]] Seconds total() const {
    return gradient_sync + optimizer + host + parameter_sync + meeting;
  }
};

/// A part of a chunk's gradients that is synchronised by itself, beside the backward passes.
struct GradientBucket {
  // The share of the chunk's backward pass (or of its weight-gradient part) after which its
  // gradients are complete; of the pass of the last micro-batch, the others only add to them.
  double ready = 1;
  Seconds sync;    // over the data-parallel group
  Seconds gather;  // ZeRO-1: of its updated parameters, where that runs beside the first forward
  DeviceParameters parameters{};  // whose gradients it has
  int blocks = 0;  // of the stage, in the order of its backward pass: head, layers, embedding
  Seconds expert_sync{};    // of `sync`, what experts take among their own replicas
  Seconds expert_gather{};  // of `gather`, likewise
};

/// What the optimizer does matrix by matrix, of a rank of the pipeline.
struct MatrixUpdate {
  DeviceParameters parameters{};  // of these matrices, of all ranks that share them out
  Seconds time{};                 // of the rank that has most of them
};

/// All durations of one step.
struct StepCosts {
  PipelineShape shape;
  Placement placement = Placement::loop;
  int stages = 1;  // of the model: what a micro-batch passes
  ModelBlocks blocks;
  StageBlocks contents;          // of each stage of the model
  std::vector<BlockCost> kinds;  // of layers
  BlockCost embedding;
  BlockCost head;
  SyncGroups groups;                                // of the first rank of the pipeline
  double slowdown = 1;                              // of compute and transfers beside one another
  std::array<bool, kPassComms> comm_leaves_node{};  // of passes' transfers, whether they do
  std::vector<Seconds> send;           // from rank i to the next (the last to the first), one way
  std::vector<char> send_leaves_node;  // whether that does
  Seconds embedding_sync;              // first and last stage share the token table (p > 1, tied)
  std::vector<DeviceParameters> trained;  // per rank of the pipeline, of all its stages
  std::vector<StageTail> tails;           // likewise
  // Of each stage of the model, in the order in which the backward pass fills them; none where the
  // tail synchronises everything.
  std::vector<std::vector<GradientBucket>> buckets;
  std::vector<std::vector<GradientBucket>> unused_buckets;  // their memory while there are none

  /// Whether two stages have the same passes: none is an end of the model.
  [[nodiscard]] bool alike(int stage, int other) const {
    return std::min(stage, other) > 0 && std::max(stage, other) + 1 < stages &&
           contents.same(stage, other);
  }
  /// The passes of one stage of the model.
  [[nodiscard]] BlockCost chunk(int stage) const;
  /// A forward of `stage` and a backward of the stage as far from the end, done together: the
  /// transfers of each run beside the compute of the other. Recomputation is included.
  [[nodiscard]] PassCost pair(int stage) const;
  /// What a rank sends on from a stage that it has: its activation, or its input's gradient;
  /// nothing at the model's ends, after a weight gradient, and within a rank.
  struct Message {
    int to = 0;             // rank
    std::size_t after = 0;  // the rank before the boundary that it crosses, index of `send`
  };
  [[nodiscard]] std::optional<Message> message_after(StagePlace place, Pass pass) const;
  [[nodiscard]] Seconds send_after(StagePlace place, Pass pass) const {
    const auto message = message_after(place, pass);
    return message ? send[message->after] : Seconds{};
  }
  /// Whether it needs links that the synchronisation of gradients needs, too.
  [[nodiscard]] bool meets_sync(const Message& message) const {
    return meets_sync(send_leaves_node[message.after] != 0);
  }
  /// How much of what a pass exposes does.
  [[nodiscard]] Seconds meeting_sync(const PassCost& pass) const;

 private:
  [[nodiscard]] bool meets_sync(bool leaves_node) const;
};

/// Fills `costs` (no allocation once its vectors are large enough). REQUIRES a valid scenario.
void step_costs(const Scenario& scenario, StepCosts& costs);

/// A micro-batch's activation at a stage boundary, whole: the most that a layer hands on, for a
/// transformer 2 b s h bytes at 16 bit. [E7b]
[[nodiscard]] Bytes boundary_bytes(const ModelBlocks& blocks);
/// What joins a rank of one stage to the rank at the same place of another: the two as a group. On
/// a torus the way between all such pairs, which send at once.
struct StageWay {
  Group pair;
  Channel channel;

  [[nodiscard]] Seconds send_time(Bytes size) const;
};
/// Between `stage` and the next one (the first again after the last), for messages of about
/// `probe`.
[[nodiscard]] StageWay stage_way(const Scenario& scenario, int stage, Bytes probe);
/// What one rank sends of it, and whether the receivers put the parts together.
struct StageMessage {
  Bytes size;
  bool regathered = false;
};
[[nodiscard]] StageMessage stage_message(const Scenario& scenario, const ModelBlocks& blocks);
/// Memory traffic of the optimizer step per parameter of the device's shard, and per parameter
/// whose gradient it must look at (norm, reset).
struct OptimizerTraffic {
  Bytes per_updated;
  Bytes per_gradient;
  int kernels = 1;
};
[[nodiscard]] OptimizerTraffic optimizer_traffic(const Scenario& scenario);
/// Of memory, per parameter, where one kernel or a host's processors update it.
[[nodiscard]] Bytes update_bytes(const Scenario& scenario);

}  // namespace titer
