// Megatron's settings as NeMo and Megatron-Bridge have them: the same ones in sections, some turned
// round or by other names.

#include <algorithm>
#include <array>

#include "launch_settings.hpp"
#include "titer/units/lists.hpp"

namespace titer {
namespace {

/// What stands for a setting of Megatron-LM's.
struct SectionName {
  std::string_view megatron;
  std::string_view theirs;  // "": nothing, as others tell it
  bool is_turned = false;   // on where the other is off
};

/// The rest is in "model" by its own name. [NeMo, examples/nlp/language_modeling/conf]
constexpr std::array<SectionName, 25> kNemoNames = {
    {{"group_query_attention", ""},
     {"swiglu", ""},
     {"disable_bias_linear", "model.bias", true},
     {"untie_embeddings_and_output_weights", "model.share_embeddings_and_output_weights", true},
     {"vocab_size", "model.override_vocab_size"},
     {"attention_backend", ""},
     {"num_experts", "model.num_moe_experts"},
     {"seq_length", "model.encoder_seq_length"},
     {"expert_tensor_parallel_size", "model.expert_tensor_model_parallel_size"},
     {"num_layers_per_virtual_pipeline_stage", ""},
     {"recompute_granularity", "model.activations_checkpoint_granularity"},
     {"recompute_method", "model.activations_checkpoint_method"},
     {"recompute_num_layers", "model.activations_checkpoint_num_layers"},
     {"tp_comm_overlap", "model.ub_tp_comm_overlap"},
     {"use_distributed_optimizer", ""},
     {"use_megatron_fsdp", ""},
     {"data_parallel_sharding_strategy", ""},
     {"overlap_grad_reduce", "model.optim.overlap_grad_sync"},
     {"overlap_param_gather", "model.optim.overlap_param_sync"},
     {"bf16", ""},
     {"fp16", ""},
     {"fp8_format", ""},
     {"optimizer", ""},
     {"moe_enable_deepep", ""},
     {"add_qkv_bias", "model.add_qkv_bias"}}};

/// [Megatron-Bridge, ConfigContainer]
constexpr std::array<SectionName, 24> kBridgeNames = {
    {{"group_query_attention", ""},
     {"swiglu", "model.gated_linear_unit"},
     {"disable_bias_linear", "model.add_bias_linear", true},
     {"untie_embeddings_and_output_weights", "model.share_embeddings_and_output_weights", true},
     {"max_position_embeddings", ""},
     {"num_experts", "model.num_moe_experts"},
     {"num_layers_per_virtual_pipeline_stage", ""},
     {"micro_batch_size", "train.micro_batch_size"},
     {"global_batch_size", "train.global_batch_size"},
     {"use_distributed_optimizer", "ddp.use_distributed_optimizer"},
     {"use_megatron_fsdp", "ddp.use_megatron_fsdp"},
     {"data_parallel_sharding_strategy", "ddp.data_parallel_sharding_strategy"},
     {"overlap_grad_reduce", "ddp.overlap_grad_reduce"},
     {"overlap_param_gather", "ddp.overlap_param_gather"},
     {"tp_comm_overlap", "comm_overlap.tp_comm_overlap"},
     {"overlap_moe_expert_parallel_comm", "comm_overlap.overlap_moe_expert_parallel_comm"},
     {"optimizer", "optimizer.optimizer"},
     {"optimizer_cpu_offload", "optimizer.optimizer_cpu_offload"},
     {"use_tp_pp_dp_mapping", "dist.use_tp_pp_dp_mapping"},
     {"bf16", ""},
     {"fp16", ""},
     {"fp8_format", ""},
     {"grad_reduce_in_bf16", ""},
     {"accumulate_allreduce_grads_in_fp32", ""}}};

bool has(const std::vector<LaunchSetting>& settings, std::string_view name) {
  return includes(settings, name, &LaunchSetting::name);
}

/// By the table; what is off there is on in it where it is turned round.
template <std::size_t N>
void put_renamed(const std::vector<LaunchSetting>& settings,
                 const std::array<SectionName, N>& names,
                 LaunchList& list) {
  for (const LaunchSetting& setting : settings) {
    const auto known = std::ranges::find_if(
        names, [&](const SectionName& name) { return name.megatron == setting.name; });
    if (known == names.end()) {
      list.put("model." + setting.name, setting.value);
    } else if (!known->theirs.empty() && !known->is_turned) {
      list.put(std::string(known->theirs), setting.value);
    }
  }
  for (const SectionName& name : names) {
    if (name.is_turned) {
      list.put(std::string(name.theirs), Value(!has(settings, name.megatron)));
    }
  }
}

void put_chunks(const Scenario& scenario, LaunchList& list) {
  if (scenario.plan.pipeline > 1 && scenario.plan.virtual_stages > 1) {
    list.put("model.virtual_pipeline_model_parallel_size", scenario.plan.virtual_stages);
  }
}

/// "bf16", "16", "32": of products, but for fp8 ones.
std::string_view plain_precision(const Scenario& scenario) {
  switch (scenario.training.base_type()) {
    case DataType::bf16:
      return "bf16-mixed";
    case DataType::fp16:
      return "16-mixed";
    default:
      return "32";
  }
}

}  // namespace

std::vector<LaunchSetting> nemo_settings(const Scenario& scenario) {
  const std::vector<LaunchSetting> settings = megatron_settings(scenario);
  const Transformer& model = *scenario.model.if_transformer();
  const LaunchNodes nodes = launch_nodes(scenario);
  const Sharding sharding = scenario.plan.sharding;
  const bool zero1 = sharding == Sharding::zero1;
  LaunchList list;
  list.put("trainer.num_nodes", nodes.nodes);
  list.put("trainer.devices", nodes.devices_per_node);
  list.put("trainer.precision", plain_precision(scenario));
  put_renamed(settings, kNemoNames, list);
  list.put("model.activation", model.gated ? "fast-swiglu" : "gelu");
  list.put("model.transformer_engine", Value(true));
  list.put("model.use_flash_attention",
           Value(scenario.slice().attention == AttentionKernel::flash));
  put_chunks(scenario, list);
  if (scenario.training.precision == DataType::fp8) {
    list.put("model.fp8", Value(true));
    list.put("model.fp8_hybrid", Value(true));
  }
  if (sharding == Sharding::zero2 || sharding == Sharding::zero3) {
    list.put("model.fsdp", Value(true));
    list.put("model.fsdp_sharding_strategy", sharding == Sharding::zero2 ? "grad" : "full");
  }
  list.put("model.optim.name",
           std::string(zero1 ? "distributed_fused_" : "fused_") +
               std::string(scenario.training.optimizer.name));
  return list.take();
}

std::vector<LaunchSetting> bridge_settings(const Scenario& scenario) {
  const std::vector<LaunchSetting> settings = megatron_settings(scenario);
  LaunchList list;
  put_renamed(settings, kBridgeNames, list);
  put_chunks(scenario, list);
  list.put("dataset.seq_length", scenario.training.sequence);
  const DataType type = scenario.training.base_type();
  if (type == DataType::bf16 || type == DataType::fp16) {
    const bool fp8 = scenario.training.precision == DataType::fp8;
    list.put("mixed_precision",
             std::string(name(type)) + (fp8 ? "_with_fp8_delayed_scaling_mixed" : "_mixed"));
  }
  return list.take();
}

}  // namespace titer
