// DeepSpeed's configuration: batches, number formats, and what data-parallel ranks split.

#include "launch_settings.hpp"
#include "titer/scenario/settled_plan.hpp"

namespace titer {
namespace {

void put_place(std::string_view section, const std::optional<HostPlace>& place, LaunchList& list) {
  if (place) {
    list.put(std::string(section) + ".device", *place == HostPlace::host ? "cpu" : "nvme");
  }
}

}  // namespace

std::vector<LaunchSetting> deepspeed_settings_of(const Scenario& scenario) {
  const Plan plan = settled_plan(scenario);
  const DataType type = scenario.training.base_type();
  LaunchList list;
  list.put("train_batch_size", scenario.training.global_batch);
  list.put("train_micro_batch_size_per_gpu", plan.micro_batch);
  list.put("gradient_accumulation_steps", scenario.micro_batches());
  list.put("zero_optimization.stage",
           plan.shards() ? static_cast<std::int64_t>(plan.sharding) : std::int64_t{0});
  list.put("zero_optimization.overlap_comm", Value(*plan.overlap_grad_reduce));
  put_place("zero_optimization.offload_optimizer", plan.offload.optimizer, list);
  put_place("zero_optimization.offload_param", plan.offload.weights, list);
  list.put("bf16.enabled", Value(type == DataType::bf16));
  list.put("fp16.enabled", Value(type == DataType::fp16));
  list.put("data_types.grad_accum_dtype", name(scenario.gradient_type()));
  if (plan.tensor > 1) {
    list.put("tensor_parallel.autotp_size", plan.tensor);
  }
  list.put_if(plan.offload.activations.has_value(), "activation_checkpointing.cpu_checkpointing");
  list.put("optimizer.type",
           scenario.training.optimizer.name == "adam" ? "AdamW" : scenario.training.optimizer.name);
  return list.take();
}

}  // namespace titer
