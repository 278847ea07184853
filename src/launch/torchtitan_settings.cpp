// Settings of torchtitan, which knows models by the names of its code.

#include <algorithm>

#include "launch_settings.hpp"
#include "titer/import/foreign_words.hpp"
#include "titer/scenario/settled_plan.hpp"

namespace titer {
namespace {

void put_model(const Scenario& scenario, LaunchList& list) {
  const auto* known =
      std::ranges::find(kTorchtitanFlavors, scenario.model.name(), &TorchtitanFlavor::shipped);
  if (known != kTorchtitanFlavors.end()) {
    list.put("model.name", known->model);
    list.put("model.flavor", known->flavor);
  }
}

void put_float8(const Scenario& scenario, LaunchList& list) {
  const Training& training = scenario.training;
  if (training.precision != DataType::fp8) {
    return;
  }
  const bool blocks = training.narrow_scaling == NarrowScaling::block;
  Value converters = Value::make_array();
  converters.push(blocks ? "mx" : "float8");
  list.put("model.converters", std::move(converters));
  list.put_if(scenario.plan.splits().weights && scenario.gathers_narrow_weights(),
              "float8.enable_fsdp_float8_all_gather");
  if (training.narrow_scaling == NarrowScaling::row) {
    list.put("float8.recipe_name", "rowwise");
  }
}

void put_data_parallelism(const Plan& plan, LaunchList& list) {
  const bool shards = plan.sharding == Sharding::zero3;
  const std::int64_t shard = shards ? plan.shard.value_or(plan.data) : 1;
  list.put("parallelism.data_parallel_replicate_degree",
           std::max(plan.data / shard, std::int64_t{1}));
  list.put("parallelism.data_parallel_shard_degree", shard);
  if (shards) {
    list.put("parallelism.fsdp_reshard_after_forward",
             plan.reshard_after_forward ? "always" : "never");
  }
}

void put_pipeline(const Plan& plan, LaunchList& list) {
  list.put("parallelism.pipeline_parallel_degree", plan.pipeline);
  if (plan.pipeline == 1) {
    return;
  }
  const bool interleaved = interleaves(plan.schedule) && plan.virtual_stages > 1;
  const auto* known =
      std::ranges::find_if(kTorchtitanSchedules, [&](const TorchtitanSchedule& schedule) {
        return schedule.ours == name(plan.schedule) && (schedule.has_chunks || !interleaved);
      });
  if (known != kTorchtitanSchedules.end()) {
    list.put("parallelism.pipeline_parallel_schedule", known->theirs);
  }
}

void put_recomputation(Recompute recompute, LaunchList& list) {
  const bool by_operation = recompute == Recompute::operations;
  list.put("activation_checkpoint.mode",
           recompute == Recompute::full ? "full"
           : by_operation               ? "selective"
                                        : "none");
  if (by_operation) {
    list.put("activation_checkpoint.selective_ac_option", "op");
  }
}

}  // namespace

std::vector<LaunchSetting> torchtitan_settings(const Scenario& scenario) {
  const Plan plan = settled_plan(scenario);
  const Training& training = scenario.training;
  LaunchList list;
  put_model(scenario, list);
  put_float8(scenario, list);
  const bool has_parts = plan.pipeline > 1;  // in which the pipeline takes the batch
  list.put("training.local_batch_size",
           has_parts ? training.global_batch / plan.data : plan.micro_batch);
  list.put("training.global_batch_size", training.global_batch);
  list.put("training.seq_len", training.sequence);
  list.put("training.mixed_precision_param",
           training.base_type() == DataType::fp32 ? "float32" : "bfloat16");
  list.put("training.mixed_precision_reduce",
           scenario.gradient_type() == DataType::bf16 ? "bfloat16" : "float32");
  put_data_parallelism(plan, list);
  list.put("parallelism.tensor_parallel_degree", plan.tensor);
  list.put_if(plan.tensor > 1 && plan.tensor_overlap == TensorOverlap::ring,
              "parallelism.enable_async_tensor_parallel");
  put_pipeline(plan, list);
  if (has_parts) {
    list.put("parallelism.pipeline_parallel_microbatch_size", plan.micro_batch);
  }
  list.put("parallelism.context_parallel_degree", plan.context);
  if (plan.expert > 1) {
    list.put("parallelism.expert_parallel_degree", plan.expert);
    list.put("parallelism.expert_tensor_parallel_degree", plan.expert_tensor_degree());
  }
  put_recomputation(plan.recompute, list);
  list.put("optimizer.name", training.optimizer.name == "adam" ? "AdamW" : training.optimizer.name);
  return list.take();
}

}  // namespace titer
