// A plan and a training in the names of Megatron-LM's arguments.

#include <numeric>

#include "launch_settings.hpp"
#include "titer/import/foreign_words.hpp"
#include "titer/plan/plan_fields.hpp"
#include "titer/scenario/settled_plan.hpp"

namespace titer {
namespace {

constexpr std::string_view kTensorPipelineData = "tp-cp-ep-pp-dp";

class PlanSettings {
 public:
  explicit PlanSettings(const Scenario& scenario)
      : scenario_(scenario), plan_(settled_plan(scenario)) {}

  std::vector<LaunchSetting> all() {
    put_degrees();
    put_stages();
    put_experts();
    put_state();
    put_recompute();
    put_offload();
    put_graph();
    list_.put_if(plan_.sequence_parallel && plan_.tensor > 1, "sequence_parallel");
    list_.put_if(plan_.tensor_overlap == TensorOverlap::ring && plan_.tensor > 1,
                 "tp_comm_overlap");
    list_.put_if(rank_order_name(plan_) == rank_order_of(kTensorPipelineData),
                 "use_tp_pp_dp_mapping");
    return list_.take();
  }

 private:
  /// As rank_order_name() says an order for this plan.
  [[nodiscard]] std::string rank_order_of(std::string_view order) const {
    Document document{.root = Value::make_object(), .sources = {}};
    document.root.add("rank_order", Value(order));
    Problems problems;
    Reader in(document, problems);
    Plan other = plan_;
    other.rank_order = read_plan(in).rank_order;
    return rank_order_name(other);
  }

  void put_degrees() {
    list_.put("tensor_model_parallel_size", plan_.tensor);
    list_.put("pipeline_model_parallel_size", plan_.pipeline);
    if (plan_.context > 1) {
      list_.put("context_parallel_size", plan_.context);
      const std::string_view method =
          kContextMethods[static_cast<std::size_t>(plan_.context_method)].name;
      list_.put("cp_comm_type", their_word(kMegatronContextMethods, method).value_or("p2p"));
    }
  }

  void put_stages() {
    const bool lighter = plan_.layers == LayerSplit(LayerRule::lighter_ends);
    const auto* ends = std::get_if<EndLayers>(&plan_.layers);
    if (plan_.pipeline == 1) {
      return;
    }
    const std::int64_t counted = scenario_.model.layers() + (lighter ? 2 : 0);
    const std::int64_t stages = plan_.pipeline * plan_.virtual_stages;
    if (plan_.virtual_stages > 1 && counted % stages == 0) {
      list_.put("num_layers_per_virtual_pipeline_stage", counted / stages);
    }
    list_.put_if(lighter, "account_for_embedding_in_pipeline_split");
    list_.put_if(lighter, "account_for_loss_in_pipeline_split");
    if (ends != nullptr && plan_.virtual_stages == 1) {
      put_known("decoder_first_pipeline_num_layers", ends->first);
      put_known("decoder_last_pipeline_num_layers", ends->last);
    }
  }

  void put_known(std::string name, const std::optional<std::int64_t>& number) {
    if (number) {
      list_.put(std::move(name), *number);
    }
  }

  void put_experts() {
    const Transformer* transformer = scenario_.model.if_transformer();
    if (transformer == nullptr || !transformer->experts) {
      return;
    }
    const ExpertDispatch dispatch = plan_.expert_dispatch.value_or(ExpertDispatch::all_to_all);
    const bool once = dispatch == ExpertDispatch::deduplicated;
    const bool gathers = dispatch == ExpertDispatch::all_gather;
    list_.put("expert_model_parallel_size", plan_.expert);
    list_.put("expert_tensor_parallel_size", plan_.expert_tensor_degree());
    list_.put("moe_token_dispatcher_type", once ? "flex" : gathers ? "allgather" : "alltoall");
    list_.put_if(once, "moe_enable_deepep");
    list_.put_if(plan_.expert_overlap, "overlap_moe_expert_parallel_comm");
    list_.put_if(plan_.shared_expert_overlap, "moe_shared_expert_overlap");
    list_.put_if(plan_.fused_experts, "use_transformer_engine_op_fuser");
  }

  void put_state() {
    list_.put_if(plan_.sharding == Sharding::zero1, "use_distributed_optimizer");
    if (plan_.sharding == Sharding::zero2 || plan_.sharding == Sharding::zero3) {
      list_.put("use_megatron_fsdp", Value(true));
      list_.put("data_parallel_sharding_strategy",
                *their_word(kMegatronShardings, name(plan_.sharding)));
    }
    list_.put_if(*plan_.overlap_grad_reduce, "overlap_grad_reduce");
    list_.put_if(*plan_.overlap_param_gather && plan_.sharding == Sharding::zero1,
                 "overlap_param_gather");
  }

  void put_recompute() {
    if (plan_.recompute == Recompute::full) {
      const bool block = plan_.recompute_layers.has_value();
      list_.put("recompute_granularity", "full");
      list_.put("recompute_method", block ? "block" : "uniform");
      list_.put("recompute_num_layers",
                block ? *plan_.recompute_layers : plan_.recompute_every.value_or(1));
      list_.put_if(plan_.distribute_saved_activations, "distribute_saved_activations");
    } else if (plan_.recompute == Recompute::selective) {
      list_.put("recompute_granularity", "selective");
    } else if (plan_.recompute == Recompute::modules) {
      list_.put("recompute_granularity", "selective");
      list_.put("recompute_modules", modules());
    }
  }

  /// Those that Megatron-LM has a name for.
  [[nodiscard]] Value modules() const {
    Value theirs = Value::make_array();
    const Value ours = find_field(plan_fields(), "recompute")->write(plan_);
    for (const Value& module : ours.items) {
      if (const auto word = their_word(kMegatronModules, module.text)) {
        theirs.push(Value(*word));
      }
    }
    return theirs;
  }

  /// Iterations are captured by Megatron-LM's own graphs, parts of layers by Transformer Engine's.
  void put_graph() {
    const Value ours = find_field(plan_fields(), "cuda_graph")->write(plan_);
    if (ours.text == "none") {
      return;
    }
    Value scopes = Value::make_array();
    const bool whole = ours.kind == Value::Kind::text;
    if (whole) {
      scopes.push(Value("full_iteration"));
    }
    for (const Value& part : ours.items) {
      scopes.push(Value(*their_word(kMegatronGraphScopes, part.text)));
    }
    list_.put("cuda_graph_impl", Value(whole ? "local" : "transformer_engine"));
    list_.put("cuda_graph_scope", std::move(scopes));
  }

  void put_offload() {
    list_.put_if(plan_.offload.optimizer.has_value(), "optimizer_cpu_offload");
    list_.put_if(plan_.offload.activations.has_value(), "cpu_offloading");
    list_.put_if(plan_.offload.activations && plan_.offload.weights, "cpu_offloading_weights");
    if (plan_.offload.layers) {
      list_.put("cpu_offloading_num_layers", *plan_.offload.layers);
    }
  }

  const Scenario& scenario_;
  Plan plan_;
  LaunchList list_;
};

}  // namespace

std::vector<LaunchSetting> megatron_plan_settings(const Scenario& scenario) {
  return PlanSettings(scenario).all();
}

std::vector<LaunchSetting> megatron_training_settings(const Scenario& scenario) {
  const Training& training = scenario.training;
  LaunchList list;
  list.put("micro_batch_size", scenario.plan.micro_batch);
  list.put("global_batch_size", training.global_batch);
  list.put("seq_length", training.sequence);
  list.put_if(training.base_type() == DataType::bf16, "bf16");
  list.put_if(training.base_type() == DataType::fp16, "fp16");
  list.put_if(training.narrow_logits, "fp8_output_proj");
  list.put_if(training.fp8_attention, "fp8_dot_product_attention");
  list.put_if(training.fp8_activation_inputs, "activation_func_fp8_input_store");
  if (training.precision == DataType::fp8) {
    list.put("fp8_format", "hybrid");
    if (training.narrow_scaling == NarrowScaling::block) {
      list.put("fp8_recipe", "mxfp8");
    }
  }
  list.put("optimizer", training.optimizer.name);
  if (scenario.gradient_type() != scenario.stack.gradient_type(training.precision)) {
    list.put_if(scenario.gradient_type() == DataType::bf16, "grad_reduce_in_bf16");
    list.put_if(scenario.gradient_type() == DataType::fp32, "accumulate_allreduce_grads_in_fp32");
  }
  return list.take();
}

std::vector<LaunchSetting> megatron_settings(const Scenario& scenario) {
  std::vector<LaunchSetting> all = megatron_model_settings(scenario);
  for (const auto& more :
       {megatron_plan_settings(scenario), megatron_training_settings(scenario)}) {
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

LaunchNodes launch_nodes(const Scenario& scenario) {
  const std::int64_t devices = scenario.plan.devices();
  const std::int64_t each = std::gcd(devices, std::int64_t{scenario.cluster.devices_per_node});
  return {.nodes = devices / each, .devices_per_node = each};
}

}  // namespace titer
