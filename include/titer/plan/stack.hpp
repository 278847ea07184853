#pragma once
// What the training software decides (configs/stacks/<name>.json).

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "titer/collectives/named.hpp"
#include "titer/hardware/data_type.hpp"
#include "titer/hardware/evidence.hpp"
#include "titer/model/slice.hpp"
#include "titer/plan/measured_support.hpp"
#include "titer/plan/memory/optimizer.hpp"

namespace titer {

/// Which tensor-parallel collectives run beside compute.
enum class TensorOverlap {
  none,
  // A column-split product's backward collectives run beside its own gradient products.
  bulk,
  // A product and its collective are cut into t tiles: each but the last is sent around the ring
  // while the next one is computed.
  ring,
};

inline constexpr std::array<Choice<TensorOverlap>, 3> kTensorOverlaps = {
    {{"none", TensorOverlap::none}, {"bulk", TensorOverlap::bulk}, {"ring", TensorOverlap::ring}}};

[[nodiscard]] constexpr std::string_view name(TensorOverlap overlap) {
  return kTensorOverlaps[static_cast<std::size_t>(overlap)].name;
}

/// How a stage sends to the next one.
enum class PipelineSend {
  blocking,    // it computes on when the message is through
  overlapped,  // beside its compute, one message after the other
  batched,     // sends and receives of a rank between two passes start together, and it computes on
               // when all of them are through
};
inline constexpr std::array<Choice<PipelineSend>, 3> kPipelineSends = {
    {{"blocking", PipelineSend::blocking},
     {"overlapped", PipelineSend::overlapped},
     {"batched", PipelineSend::batched}}};
[[nodiscard]] constexpr std::string_view name(PipelineSend send) {
  return kPipelineSends[static_cast<std::size_t>(send)].name;
}

/// What the software holds of a device's memory besides parameters, gradients, optimizer state and
/// activations. Nothing where a stack says nothing.
struct StackMemory {
  Bytes context;                  // of the device: kernels loaded, before any tensor is there
  Bytes communicator;             // of a process group
  Bytes sends;                    // of the messages between pipeline stages
  double allocator_overhead = 0;  // reserved beyond what is allocated, over the latter
  bool weight_gradient_dummies = false;  // (plan/overhead.hpp)
  bool flat_gradients = false;
  bool gathers_by_matrix = false;  // zero3, each matrix beside the product before it
  // Of weights in the type of fp8 and of fp4 products.
  NarrowWeights fp8_weights = NarrowWeights::beside;
  NarrowWeights fp4_weights = NarrowWeights::beside;
  bool keeps_wide_inputs = false;      // of such products, and converts them again backward
  bool shards_master_weights = false;  // zero3 has no other shards, and casts what it gathers
  bool keeps_narrow_results = false;   // of attention and of such products (Slice::narrow_results)
  std::optional<Bytes> logit{};        // of a logit while the loss is computed
  Bytes step{};                        // of a parameter while a rank updates it
};

/// For which chips the software's fused attention is written.
enum class AttentionGeneration {
  own,      // for each (FlashAttention 3 and 4, cuDNN)
  flash_2,  // for the A100, also where it runs on later chips
};
inline constexpr std::array<Choice<AttentionGeneration>, 2> kAttentionGenerations = {
    {{"own", AttentionGeneration::own}, {"flash-2", AttentionGeneration::flash_2}}};

/// How the software's kernels differ from the best that the chip is known for, and the times of
/// equal devices from one another.
struct StackKernels {
  double memory_traffic = 1;  // time of a layer's memory-bound kernels, over what must be moved
  AttentionGeneration attention = AttentionGeneration::own;
  double attention_slowdown = 1;  // of fused attention, over the chip's rate of its generation
  std::optional<double> loss_traffic{};  // of the loss's kernels, likewise; otherwise as the others
  // Of what no kernel fuses, over what its operators move one by one; otherwise as the others.
  std::optional<double> operator_traffic{};
  double mixer_slowdown = 1;  // of mixers' own kernels, besides
  // Of materialised scores, the fused softmax takes a multiple of so many heads, of all sequences
  // of a rank together; others go through memory kernel by kernel, in fp32.
  std::int64_t softmax_heads = 1;
  bool recomputes_what_is_needed = false;  // a compiler leaves the rest of a repeated pass out
  bool fuses_casts = false;                // to fp8, with what makes the numbers
  bool concatenates_shards = false;        // zero3, once they are gathered; gradients before that
  // Relative standard deviation of a device's compute: all wait for the slowest of them.
  double straggling = 0;
};

/// Shares of a predicted time between which four of five measured ones lie.
struct ErrorShares {
  double low = 1;
  double high = 1;
};

struct Stack {
  std::string name;
  std::string title;
  Seconds dispatch;  // of the host, to launch a kernel
  // Of its kinds, where they are known apart: operators differ in what the host does before them.
  std::optional<Seconds> matrix_dispatch{};
  std::optional<Seconds> attention_dispatch{};
  std::optional<Seconds> memory_dispatch{};
  std::optional<Seconds> transfer_dispatch{};  // of a collective
  Seconds loop_dispatch{};  // and each further one of an operation that goes expert by expert
  Seconds
      batch_dispatch{};  // and to bring a micro-batch: read it, send it to ranks, make its masks
  bool awaits_counts =
      false;  // where no token is dropped, the host reads how many each expert gets
  bool awaits_offsets = false;        // an activation's offset is sent to the device as it is used
  bool awaits_tensor_groups = false;  // no lead of the host outlasts a transfer of a tensor group
  TensorOverlap tensor_overlap = TensorOverlap::none;
  PipelineSend pipeline_send = PipelineSend::blocking;
  std::optional<PipelineSend>
      interleaved_send{};  // with several chunks per rank; otherwise as above
  ExpertDispatch expert_dispatch = ExpertDispatch::all_to_all;
  double deduplication_slowdown = 1;  // of exchanges, over an all-to-all of as many bytes
  bool overlap_grad_reduce = false;   // gradients are synchronised in buckets, beside the backward
  bool overlap_param_gather = false;  // sharded parameters are gathered beside the first forward
  bool broadcasts_updates = false;    // each rank broadcasts its shard of them, one after the other
  double bucket_parameters = 0;       // whose gradients make a bucket, and
  double bucket_parameters_per_rank = 0;  // no fewer than these for each data-parallel rank
  double overlap_slowdown = 1;  // compute beside communication takes this much longer, and it too
  // A stage sends 1/t of an activation per rank, and the receivers gather it inside their node.
  bool pipeline_scatter_gather = false;
  AlgorithmNumbers collectives{};  // that it asks its library for, where they apply
  std::array<DataType, kDataTypes.size()> gradient{};  // of each training precision
  Bytes runtime_memory;  // outside the tensors, whatever the plan: workspaces
  StackMemory memory;
  StackKernels kernels;
  // Of results of each grade (index); none where this software was not compared with measurements.
  std::array<std::optional<ErrorShares>, 3> errors{};
  double run_errors = 1;                // left of the errors of public runs, by runs of one's own
  std::vector<SupportCell> measured{};  // public runs; none of software that is not shipped
  EvidenceList evidence;

  [[nodiscard]] DataType gradient_type(DataType precision) const {
    return gradient[static_cast<std::size_t>(precision)];
  }
  [[nodiscard]] NarrowWeights narrow_weights(DataType precision) const {
    return precision == DataType::fp4 ? memory.fp4_weights : memory.fp8_weights;
  }
  /// Parameters whose gradients make a bucket, synchronised over so many ranks.
  [[nodiscard]] double bucket(double ranks) const {
    return std::max(bucket_parameters, ranks * bucket_parameters_per_rank);
  }
};

[[nodiscard]] Stack read_stack(Reader& in);

}  // namespace titer
