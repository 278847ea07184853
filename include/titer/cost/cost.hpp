#pragma once
// The durations of a step: what every pass, send and synchronisation of it takes by itself. The
// closed form and the event simulation both start from these.

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "titer/cost/block_clock.hpp"
#include "titer/plan/stage_blocks.hpp"

namespace titer {

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
