#pragma once
// How a model is laid over devices: parallel degrees, schedule, recomputation, sharding, rank
// order.

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <tuple>

#include "titer/input/reader.hpp"
#include "titer/model/layer.hpp"
#include "titer/model/slice.hpp"
#include "titer/plan/batch_shares.hpp"
#include "titer/plan/layers.hpp"
#include "titer/plan/local_steps.hpp"
#include "titer/plan/memory/offload.hpp"
#include "titer/plan/schedule/schedule.hpp"
#include "titer/plan/stack.hpp"

namespace titer {

enum class Recompute {
  none,
  selective,   // core attention: scores, softmax, dropout, context [Korthikanti 2022]
  full,        // every layer from its input
  operations,  // all but attention and every second product [torchtitan, selective "op"]
  modules,     // the parts of a layer that the plan lists
};
inline constexpr std::array<Choice<Recompute>, 5> kRecomputes = {
    {{"none", Recompute::none},
     {"selective", Recompute::selective},
     {"full", Recompute::full},
     {"operations", Recompute::operations},
     {"modules", Recompute::modules}}};
/// With the modules, where it names some.
using Recomputation = std::tuple<Recompute, Modules>;
[[nodiscard]] constexpr std::string_view name(Recompute recompute) {
  return kRecomputes[static_cast<std::size_t>(recompute)].name;
}

/// Whether a graph has whole iterations: no host launches what is in it.
inline constexpr LayerPartSet kWholeIteration = (1U << kLayerParts) - 1U;
[[nodiscard]] constexpr bool captures_all(LayerPartSet graph) { return graph == kWholeIteration; }

/// What data-parallel ranks split among them. [Rajbhandari 2020] Weight-update sharding [Xu et al.
/// 2020] is zero1: gradients reduce-scattered, a shard updated, and its weights gathered in the
/// type that the model multiplies with. FSDP is zero3, and HSDP zero3 in groups of `shard` ranks.
enum class Sharding {
  none,
  zero1,             // optimizer state: gradients are reduce-scattered, parameters gathered
  zero2,             // gradients too: reduce-scattered by every backward pass
  zero3,             // parameters too: gathered by every pass, layer by layer
  parameter_server,  // workers send gradients to servers and take weights back (E13)
  // One process for all devices (nn.DataParallel): in every pass the first one hands out weights
  // and inputs and takes gradients back; it alone updates the weights.  [seed 004, F55]
  data_parallel_root,
};

/// The states of a parameter of which each rank has a part.
struct SplitStates {
  bool optimizer = false;
  bool gradients = false;
  bool weights = false;
};
/// In the order of their numbers. Of a data-parallel root the memory is that of the root, which has
/// most.
struct ShardingKind {
  std::string_view name;
  SplitStates splits{};
};
inline constexpr auto kShardingKinds =
    std::to_array<ShardingKind>({{"none"},
                                 {"zero1", {.optimizer = true}},
                                 {"zero2", {.optimizer = true, .gradients = true}},
                                 {"zero3", {.optimizer = true, .gradients = true, .weights = true}},
                                 {"parameter-server"},
                                 {"data-parallel-root"}});
/// Each by its name, then those with another one.
template <std::size_t N>
[[nodiscard]] constexpr auto sharding_choices(const std::array<Choice<Sharding>, N>& more) {
  std::array<Choice<Sharding>, kShardingKinds.size() + N> choices{};
  for (std::size_t i = 0; i < choices.size(); ++i) {
    choices[i] = i < kShardingKinds.size()
                     ? Choice<Sharding>{kShardingKinds[i].name, static_cast<Sharding>(i)}
                     : more[i - kShardingKinds.size()];
  }
  return choices;
}
inline constexpr auto kShardings = sharding_choices(std::array<Choice<Sharding>, 0>());
inline constexpr auto kShardingNames = sharding_choices(std::to_array<Choice<Sharding>>(
    {{"fsdp", Sharding::zero3}, {"hsdp", Sharding::zero3}, {"weight-update", Sharding::zero1}}));
[[nodiscard]] constexpr std::string_view name(Sharding sharding) {
  return kShardingKinds[static_cast<std::size_t>(sharding)].name;
}

/// What adds up the gradients of data-parallel ranks.  [trap T16, E11]
enum class GradientCollective {
  all_reduce,      // every rank has all sums: needed without sharding; early zero1 (DeepSpeed 0.1)
  reduce_scatter,  // every rank has those of its shard
  reduce,          // the same by a reduce to each rank in turn, as zero2 first did
};
inline constexpr std::array<Choice<GradientCollective>, 3> kGradientCollectives = {
    {{"all-reduce", GradientCollective::all_reduce},
     {"reduce-scatter", GradientCollective::reduce_scatter},
     {"reduce", GradientCollective::reduce}}};
[[nodiscard]] constexpr std::string_view name(GradientCollective collective) {
  return kGradientCollectives[static_cast<std::size_t>(collective)].name;
}

enum class Dimension { tensor, context, data, pipeline };
inline constexpr std::size_t kDimensions = 4;

/// A product of degrees; the largest number there is where a plan asks for more than can be
/// counted.
[[nodiscard]] inline std::int64_t counted_product(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? std::numeric_limits<std::int64_t>::max()
                                                : product;
}

struct Plan {
  std::int64_t pipeline = 1;  // p
  std::int64_t tensor = 1;    // t
  std::int64_t data = 1;      // d
  std::int64_t context = 1;   // cp
  // Experts are shared out over ranks that are data-, context- and tensor-parallel for the rest of
  // the model: no further devices.
  std::int64_t expert = 1;                          // ep
  std::optional<std::int64_t> expert_tensor{};      // etp; otherwise t
  std::optional<ExpertDispatch> expert_dispatch{};  // otherwise the stack's
  bool expert_overlap =
      false;  // tokens go to experts and back beside another micro-batch's compute
  bool shared_expert_overlap = false;  // experts of all tokens compute meanwhile
  bool fused_experts = false;          // activations and casts within the experts' products
  std::int64_t virtual_stages = 1;     // v
  std::int64_t micro_batch = 1;        // b
  BatchShares batch_shares{};          // where b is only the mean of all data ranks
  LayerSplit layers = LayerRule::even;
  Schedule schedule{};
  Recompute recompute = Recompute::none;
  Modules recomputed = 0;  // of Recompute::modules
  // Of full recomputation: layers whose input is kept together, and how many of a stage's layers
  // are recomputed at all; otherwise one and all.
  std::optional<std::int64_t> recompute_every{};
  std::optional<std::int64_t> recompute_layers{};
  bool distribute_saved_activations = false;  // tensor ranks keep a part each of such an input
  ContextMethod context_method = ContextMethod::ring;
  std::int64_t context_inner = 1;  // neighbouring ranks of the hierarchical method's all-to-all
  bool context_balanced = true;
  std::int64_t image_columns = 1;  // images are cut into t / image_columns rows of so many parts
  bool sequence_parallel = false;
  LayerPartSet cuda_graph = 0;  // what is launched as one
  Sharding sharding = Sharding::none;
  std::optional<GradientCollective> gradient_collective{};  // otherwise what the sharding needs
  std::optional<std::int64_t> shard{};  // ranks that split among them; otherwise all [HSDP]
  bool reshard_after_forward = true;    // zero3: gathered again by the backward pass
  // zero2, zero3: gradients are handed on by every backward pass, or kept whole and reduced once
  // (FSDP's no_sync, as under pipelines).
  bool reduce_every_pass = true;
  bool prefetch = true;                   // zero3: while the block before is computed
  std::optional<std::int64_t> servers{};  // of the sharding parameter-server
  Offload offload{};
  std::optional<LocalSteps> local_steps{};  // otherwise all ranks meet in every step
  // Neighbouring ranks first: "tp-cp-dp-pp" puts a tensor group on neighbouring devices.
  std::array<Dimension, kDimensions> rank_order = {
      Dimension::tensor, Dimension::context, Dimension::data, Dimension::pipeline};
  std::optional<AttentionKernel> attention{};     // otherwise the model's
  std::optional<int> micro_batch_group{};         // of interleaving; otherwise p
  std::optional<TensorOverlap> tensor_overlap{};  // these four: otherwise the stack's
  std::optional<PipelineSend> pipeline_send{};
  std::optional<bool> overlap_grad_reduce{};
  std::optional<bool> overlap_param_gather{};

  [[nodiscard]] std::int64_t devices() const { return counted_product(pipeline, stage_devices()); }
  /// Of one pipeline rank.
  [[nodiscard]] std::int64_t stage_devices() const {
    return counted_product(counted_product(tensor, context), data);
  }
  /// Ranks that have the same parameters but for experts, on one pipeline rank: d cp.
  [[nodiscard]] std::int64_t replicas() const { return data * context; }
  /// Whether some ranks have the same parameters.
  [[nodiscard]] bool has_copies() const {
    return replicas() > 1 || expert_tensor_degree() != tensor;
  }
  /// Of these so many in a row split what is sharded and add up gradients by themselves, where not
  /// all do: a shard's, or an island's.
  [[nodiscard]] std::optional<std::int64_t> group() const {
    return local_steps ? replicas() / local_steps->islands : shard;
  }
  [[nodiscard]] std::int64_t expert_tensor_degree() const { return expert_tensor.value_or(tensor); }
  /// Ranks that have all experts between them: ep etp.
  [[nodiscard]] std::int64_t expert_ranks() const { return expert * expert_tensor_degree(); }
  /// Ranks that have the same experts: t cp d / (ep etp).
  [[nodiscard]] std::int64_t expert_replicas() const { return stage_devices() / expert_ranks(); }
  /// Whether the state of the optimizer is split.
  [[nodiscard]] bool shards() const { return splits().optimizer; }
  [[nodiscard]] SplitStates splits() const {
    return kShardingKinds[static_cast<std::size_t>(sharding)].splits;
  }
  [[nodiscard]] GradientCollective gradient_exchange() const {
    return gradient_collective.value_or(shards() ? GradientCollective::reduce_scatter
                                                 : GradientCollective::all_reduce);
  }
  /// Whether every backward pass hands on its gradients.
  [[nodiscard]] bool reduces_every_pass() const { return reduce_every_pass && splits().gradients; }
  [[nodiscard]] bool gathers_every_pass() const { return splits().weights; }
  /// What is recomputed of a layer.
  [[nodiscard]] Modules recomputed_modules() const;
  [[nodiscard]] std::int64_t degree(Dimension dimension) const;
};

[[nodiscard]] Plan read_plan(Reader& in);
/// "tp-dp-pp"; with cp and ep where their degrees are not 1.
[[nodiscard]] std::string rank_order_name(const Plan& plan);

}  // namespace titer
