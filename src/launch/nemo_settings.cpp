// Megatron's settings as NeMo and Megatron-Bridge have them: the same ones in sections, some turned
// round or by other names.

#include "launch_settings.hpp"
#include "titer/input/known_settings.hpp"
#include "titer/units/lists.hpp"

namespace titer {
namespace {

/// As configs/settings has them: what others tell is nothing there, and what is off is on where it
/// is turned round; the rest is in "model" by its own name.
void put_renamed(const std::vector<LaunchSetting>& settings,
                 std::string_view program,
                 LaunchList& list) {
  const Value names = known_settings(program, "launch");
  const Value turned = known_settings(program, "launch_turned");
  for (const LaunchSetting& setting : settings) {
    const Value* const theirs = names.find(setting.name);
    if (theirs == nullptr && turned.find(setting.name) == nullptr) {
      list.put("model." + setting.name, setting.value);
    } else if (theirs != nullptr && !theirs->text.empty()) {
      list.put(theirs->text, setting.value);
    }
  }
  for (const auto& [name, theirs] : turned.members) {
    list.put(theirs.text, Value(!includes(settings, name, &LaunchSetting::name)));
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
  put_renamed(settings, "nemo", list);
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
  put_renamed(settings, "megatron-bridge", list);
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
