#include "titer/scenario/scenario.hpp"

#include <algorithm>
#include <array>

#include "titer/plan/place/placement.hpp"

namespace titer {
namespace {

/// Without adapters and with them.
using KindNames = std::array<std::string_view, 2>;

KindNames kinds_of(const Transformer& model) {
  if (model.denoiser) {
    return {"denoiser", "denoiser with adapters"};
  }
  if (!model.causal) {
    return {"encoder", "encoder with adapters"};
  }
  if (model.mixer) {
    return {"hybrid", "hybrid with adapters"};
  }
  return model.experts ? KindNames{"mixture of experts", "mixture of experts with adapters"}
                       : KindNames{"dense", "dense with adapters"};
}

}  // namespace

std::string_view Scenario::kind() const {
  if (const Transformer* transformer = model.if_transformer()) {
    return kinds_of(*transformer)[training.adapters ? 1 : 0];
  }
  return model.if_dlrm() != nullptr ? "recommendation" : "layered";
}

PipelineShape Scenario::shape() const {
  return {.stages = static_cast<int>(plan.pipeline),
          .micro_batches = static_cast<int>(micro_batches()),
          .virtual_stages = static_cast<int>(plan.virtual_stages),
          .group = plan.micro_batch_group,
          .overlaps = plan.expert_overlap};
}

namespace {

/// What routing makes of the micro-batches of all ranks that have a layer's experts between them,
/// which lie in so many places.
ExpertLoad load_of(const Experts& experts,
                   const Plan& plan,
                   std::int64_t sequence,
                   std::int64_t places) {
  if (experts.count % plan.expert != 0) {
    return {};  // refused by validate()
  }
  const std::int64_t of_replica = plan.micro_batch * sequence / plan.context;
  return expert_load(experts.routing,
                     experts.count,
                     experts.per_token,
                     places,
                     std::max<std::int64_t>(1, of_replica * plan.expert_ranks() / plan.tensor));
}

/// Of a token, without those for further experts of a rank or, across nodes, of a node.
double copies_sent(const Experts& experts, const Scenario& scenario, const ExpertLoad& load) {
  if (scenario.plan.expert == 1 || scenario.cluster.torus() != nullptr) {
    return load.ranks_per_token;
  }
  const Group ranks = place(scenario.plan, PlanGroup::expert, scenario.cluster).group;
  return ranks.nodes > 1 && experts.count % ranks.nodes == 0
             ? load_of(experts, scenario.plan, scenario.training.sequence, ranks.nodes)
                   .ranks_per_token
             : load.ranks_per_token;
}

}  // namespace

Slice Scenario::slice() const {
  const Transformer* transformer = model.if_transformer();
  Slice slice{
      .micro_batch = plan.micro_batch,
      .sequence = training.sequence,
      .images = images(),
      .tensor = plan.tensor,
      .image_columns = plan.image_columns,
      .sequence_parallel = plan.sequence_parallel && plan.tensor > 1,
      .type = training.base_type(),
      .attention = plan.attention.value_or(transformer != nullptr ? transformer->attention
                                                                  : AttentionKernel::flash),
      .softmax_heads = stack.kernels.softmax_heads,
      .attended_length = training.attended_length,
      .context = plan.context,
      .context_method = plan.context_method,
      .context_inner = plan.context_inner,
      .context_balanced = plan.context_balanced,
      .expert = plan.expert,
      .expert_tensor = plan.expert_tensor_degree(),
      .narrow_results = stack.memory.keeps_narrow_results,
      .fuses_casts = stack.kernels.fuses_casts,
      .casts_again = stack.memory.keeps_wide_inputs,
      .casts_apart = training.narrow_scaling == NarrowScaling::row ||
                     (stack.memory.keeps_wide_inputs && !training.scales_fp8_by_tensor()),
      .casts_weights = casts_weights(),
      .scales_rows = training.narrow_scaling == NarrowScaling::row,
      .transposes_weights =
          training.transposes_narrow_weights && !cluster.chip.reads_narrow_columns,
      .reads_columns = training.scales_fp8_by_tensor() && cluster.chip.reads_narrow_columns,
      .shared_aside = plan.shared_expert_overlap,
      .fused_experts = plan.fused_experts,
      .narrow_logits = training.narrow_logits,
      .fp8_attention = training.fp8_attention,
      .fp8_activation_inputs = training.fp8_activation_inputs,
      .product_type = training.narrow_products() ? std::optional(training.precision) : std::nullopt,
      .kept_input =
          stack.memory.keeps_wide_inputs ? size_of(training.base_type()) : training.narrow_number(),
      .adapters = training.adapters,
      .logit = stack.memory.logit};
  if (transformer != nullptr && transformer->experts) {
    const Experts& experts = *transformer->experts;
    const ExpertLoad load = load_of(experts, plan, training.sequence, plan.expert);
    // Both over what k experts of every token would be.
    const double wanted = load.per_token / static_cast<double>(experts.per_token);
    slice.expert_load = load.busiest * wanted;
    slice.expert_kept = load.kept * wanted;
    if (expert_dispatch() == ExpertDispatch::deduplicated) {
      slice.expert_sent = copies_sent(experts, *this, load) / load.per_token;
    }
    slice.gathers_tokens = expert_dispatch() == ExpertDispatch::all_gather;
  }
  return slice;
}

TensorTypes Scenario::tensor_types() const {
  const bool masters = stack.memory.shards_master_weights && plan.splits().weights;
  const DataType master = training.master_precision.value_or(DataType::fp32);
  return {.weight = masters ? master : training.weight_type(),
          .gradient = gradient_type(),
          .state = training.state_precision.value_or(DataType::fp32),
          .master = master,
          .narrow = narrow_copies(),
          .gathered = training.weight_type()};
}

std::optional<NarrowCopies> Scenario::narrow_copies() const {
  if (!training.narrow_products()) {
    return std::nullopt;
  }
  const bool is_one = cluster.chip.reads_narrow_columns || training.transposes_narrow_weights;
  return NarrowCopies{
      .held = training.narrow_weights.value_or(stack.narrow_weights(training.precision)),
      .number = training.narrow_number(),
      .layouts = training.scales_fp8_by_tensor() && is_one ? 1 : 2};
}

/// Blocks and rows are gathered wide and cut behind that. [Megatron-LM, fp8_param_gather with
/// mxfp8; torchao]
bool Scenario::gathers_narrow_weights() const {
  const std::optional<NarrowCopies> narrow = narrow_copies();
  return narrow && training.narrow_scaling == NarrowScaling::tensor &&
         training.precision != DataType::fp4 &&
         (narrow->held == NarrowWeights::instead || narrow->held == NarrowWeights::gathered);
}

Bytes Scenario::weight_message() const {
  if (training.weight_messages) {
    return message_bytes(*training.weight_messages);
  }
  return gathers_narrow_weights() ? size_of(training.precision)
                                  : message_bytes(training.weight_type());
}

bool Scenario::casts_weights() const {
  const std::optional<NarrowCopies> narrow = narrow_copies();
  if (!narrow) {
    return false;
  }
  return narrow->held == NarrowWeights::cast ||
         (narrow->held == NarrowWeights::gathered &&
          !(plan.splits().weights && gathers_narrow_weights()));
}

void scenario_blocks(const Scenario& scenario, ModelBlocks& blocks) {
  list_blocks(scenario.model, scenario.slice(), blocks);
  // Copies of what is updated in place would have to be kept alike.
  const bool alone = scenario.model.if_dlrm() != nullptr && scenario.plan.expert_replicas() == 1;
  for (Block& kind : blocks.kinds) {
    kind.frozen = false;
    kind.backward = true;
    kind.in_place = kind.in_place && alone;
  }
  blocks.head.frozen = false;
  blocks.head.backward = true;
  blocks.embedding.frozen = false;
  blocks.embedding.backward = true;
  freeze(blocks, scenario.training.frozen);
  if (scenario.training.frozen_tower) {
    freeze_tower(blocks);
  }
  if (scenario.training.adapters) {
    freeze_base(blocks);
  }
}

std::int64_t adapter_parameters(const Scenario& scenario) {
  if (!scenario.training.adapters) {
    return 0;
  }
  ModelBlocks blocks;
  scenario_blocks(scenario, blocks);
  return adapter_parameters(blocks);
}

}  // namespace titer
