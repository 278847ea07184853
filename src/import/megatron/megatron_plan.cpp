// A plan and training in Megatron's names.

#include <array>

#include "import/import_parts.hpp"
#include "titer/import/foreign_words.hpp"

namespace titer {
namespace {

constexpr DegreeKeys kMegatronKeys = {.tensor = "tensor_model_parallel_size",
                                      .pipeline = "pipeline_model_parallel_size",
                                      .context = "context_parallel_size",
                                      .expert = "expert_model_parallel_size",
                                      .devices = "trainer.devices",
                                      .micro_batch = "micro_batch_size",
                                      .global_batch = "global_batch_size"};

class MegatronPlan {
 public:
  explicit MegatronPlan(const ImportTask& task)
      : task_(task), in_(task.in), plan_(task.into.plan) {}

  void read() {
    read_degrees();
    put_megatron_stages(task_, degrees_);
    read_sharding();
    put_megatron_recompute(task_, degrees_);
    read_rest();
    put_megatron_training(task_, degrees_, kMegatronKeys);
    read_dispatch();
    put_megatron_graph(task_);
    take_only(task_, "attention_type", {"multihead"});
    skip_without_object(task_, degrees_);
    remark_on_megatron(task_);
  }

 private:
  /// A degree that is not given is 1; one that is left open is not known.
  std::optional<std::int64_t> degree(std::string_view key) {
    const auto found = in_.integer(key, 1, kMostDegree);
    return found || in_.has(key) ? found : std::optional<std::int64_t>(1);
  }

  void read_degrees() {
    degrees_.tensor = degree("tensor_model_parallel_size");
    degrees_.pipeline = degree("pipeline_model_parallel_size");
    degrees_.context = degree("context_parallel_size");
    degrees_.expert = degree("expert_model_parallel_size");
    const bool is_one =
        task_.defaults.is_deepspeed && !in_.is_on("enable_expert_tensor_parallelism");
    const bool tells = in_.has("expert_tensor_parallel_size") || is_one;
    degrees_.expert_tensor = is_one ? std::optional<std::int64_t>(1)
                                    : in_.integer("expert_tensor_parallel_size", 1, kMostDegree);
    degrees_.devices = devices();
    put_degree(task_, "pipeline", kMegatronKeys.pipeline, degrees_.pipeline);
    put_degree(task_, "tensor", kMegatronKeys.tensor, degrees_.tensor);
    put_degree(task_, "context", kMegatronKeys.context, degrees_.context);
    const bool is_named = !task_.into.shipped.empty() && degrees_.expert.value_or(2) > 1;
    if (is_named || (task_.into.model && task_.into.model->experts)) {
      const std::string_view of_experts =
          tells ? "expert_tensor_parallel_size" : kMegatronKeys.tensor;
      put_degree(task_, "expert", kMegatronKeys.expert, degrees_.expert);
      put_degree(
          task_, "expert_tensor", of_experts, tells ? degrees_.expert_tensor : degrees_.tensor);
    } else if (degrees_.expert.value_or(1) > 1) {
      in_.fail(kMegatronKeys.expert, "expected 1, for a model without experts");
    }
    check_degrees(task_, degrees_, kMegatronKeys);
    put(plan_, "data", degrees_.data);
    check_model();
  }

  /// All devices, by whoever tells: the option, the launcher, NeMo's trainer.
  std::optional<std::int64_t> devices() {
    const auto product = [&](std::string_view nodes_key, std::string_view each_key) {
      const auto nodes = in_.integer(nodes_key, 1, kMostDegree);
      const auto each = in_.integer(each_key, 1, kMostDegree);
      return each && (nodes || !in_.has(nodes_key)) ? std::optional(nodes.value_or(1) * *each)
                                                    : std::nullopt;
    };
    const auto launched = product("nnodes", "nproc_per_node");
    const auto spawned = product("num_nodes", "num_gpus");
    const auto trained = product("trainer.num_nodes", "trainer.devices");
    const auto processes = in_.integer("num_processes", 1, kMostDegree);
    const auto world = in_.integer("world_size", 1, kMostDegree);
    for (const auto& told : {task_.options.devices, trained, launched, spawned, world, processes}) {
      if (told) {
        return told;
      }
    }
    return std::nullopt;
  }

  void check_model() {
    if (!task_.into.model) {
      return;
    }
    const Transformer& model = *task_.into.model;
    const std::int64_t tensor = degrees_.tensor.value_or(1);
    if (model.heads % tensor != 0) {
      in_.fail(kMegatronKeys.tensor,
               "expected a divisor of the " + std::to_string(model.heads) + " attention heads");
    }
    if (model.experts && model.experts->count % degrees_.expert.value_or(1) != 0) {
      in_.fail(kMegatronKeys.expert,
               "expected a divisor of the " + std::to_string(model.experts->count) + " experts");
    }
    const auto sequence = in_.integer("seq_length", 1);
    if (sequence && *sequence % degrees_.context.value_or(1) != 0) {
      in_.fail(kMegatronKeys.context,
               "expected a divisor of the " + std::to_string(*sequence) + " tokens of a sequence");
    }
  }

  /// What DeepSpeed's configuration tells, in a file of its own, but for the stage.
  void read_deepspeed_sharding() {
    constexpr std::array<std::string_view, 4> stages = {"none", "zero1", "zero2", "zero3"};
    const auto stage = in_.integer("zero_stage", 0, 3);
    plan_.add("sharding", Value(stage ? stages[static_cast<std::size_t>(*stage)] : kLeftOpen));
  }

  /// By the switches of Megatron's own FSDP, PyTorch's and NeMo's, else of the distributed
  /// optimizer.
  std::string_view sharding_of_switches() {
    const bool fsdp = in_.any_on({"use_megatron_fsdp", "use_custom_fsdp"});
    const std::string optimizer = in_.word("optim.name").value_or("");
    const bool sharded = in_.is_on("use_distributed_optimizer") ||
                         optimizer.find("distributed") != std::string::npos;
    const auto strategy = in_.word("data_parallel_sharding_strategy");
    const std::string nemo = in_.word("fsdp_sharding_strategy").value_or("full");
    if (in_.is_on("use_torch_fsdp2")) {
      if (in_.is_on("torch_fsdp2_no_reshard_after_forward")) {
        plan_.add("reshard_after_forward", Value(false));
      }
      return "zero3";
    }
    in_.skip(kSwitchedOff, "torch_fsdp2_*");
    if (in_.is_on("fsdp")) {
      if (nemo == "hybrid") {
        in_.leave_out("fsdp_sharding_strategy", "plan.shard tells how many ranks split");
      }
      return nemo == "grad" ? "zero2" : "zero3";
    }
    if (!fsdp || !strategy) {
      return sharded ? "zero1" : "none";
    }
    const auto known = our_word(kMegatronShardings, *strategy);
    if (!known) {
      in_.fail("data_parallel_sharding_strategy",
               "expected no_shard, optim, optim_grads or optim_grads_params");
    }
    return known.value_or("none");
  }

  void read_sharding() {
    if (task_.defaults.is_deepspeed) {
      read_deepspeed_sharding();
      return;
    }
    const std::string_view sharding = sharding_of_switches();
    plan_.add("sharding", Value(sharding));
    overlap("overlap_grad_reduce", "optim.overlap_grad_sync");
    const auto groups = in_.integer("num_distributed_optimizer_instances", 1, kMostDegree);
    if (sharding != "none" && groups.value_or(1) > 1 && degrees_.data.value_or(0) % *groups == 0) {
      plan_.add("shard", degrees_.data ? Value(*degrees_.data / *groups) : Value(kLeftOpen));
    }
    take_only(task_, "outer_dp_sharding_strategy", {"no_shard"});
    if (sharding == "zero1" || sharding == "none") {
      read_param_gather();
    } else if (in_.is_on("overlap_param_gather")) {
      assume(task_, "overlap_param_gather", "what is split is gathered ahead, layer by layer");
    }
  }

  /// By the buckets of gradients, and of releases that asked for no overlap of these not at all.
  void read_param_gather() {
    overlap("overlap_param_gather", "optim.overlap_param_sync");
    Value* const gathers = plan_.find("overlap_param_gather");
    if (gathers->boolean && !plan_.find("overlap_grad_reduce")->boolean) {
      *gathers = Value(false);
      assume(task_, "overlap_param_gather", "taken off, as --overlap-grad-reduce is");
    }
  }

  /// Off unless switched on.
  void overlap(std::string_view key, std::string_view nemo_key) {
    const bool on = in_.any_on({key, nemo_key});
    plan_.add(std::string(key), Value(on));
  }

  void read_rest() {
    plan_.add("sequence_parallel", Value(in_.is_on("sequence_parallel")));
    if (task_.defaults.is_deepspeed && degrees_.context.value_or(1) > 1) {
      plan_.add("context_method", Value("ulysses"));
    } else if (const auto method = in_.word("cp_comm_type")) {
      const auto known = our_word(kMegatronContextMethods, *method);
      if (!known) {
        in_.fail("cp_comm_type", "expected p2p, all_gather, a2a or a2a+p2p");
      } else if (degrees_.context.value_or(2) > 1) {
        plan_.add("context_method", Value(*known));
        read_inner_context(*known);
      }
    }
    if (in_.any_on({"tp_comm_overlap", "ub_tp_comm_overlap"})) {
      plan_.add("tensor_overlap", Value("ring"));
      in_.skip("how each product is sent beside another, as the stack's figures hold",
               "tp_comm_overlap_cfg* ub_tp_comm_overlap_cfg*");
    }
    if (in_.is_on("use_tp_pp_dp_mapping")) {
      plan_.add("rank_order", Value("tp-cp-ep-pp-dp"));
    }
    read_sends();
  }

  /// Ranks that split the heads, the first of the sizes.
  void read_inner_context(std::string_view method) {
    constexpr std::string_view key = "hierarchical_context_parallel_sizes";
    const std::vector<std::string> sizes = listed_words(task_, key);
    if (method != "hierarchical" || sizes.empty()) {
      return;
    }
    const Value inner(sizes.front());
    in_.replace(key, inner);
    put(plan_, "context_inner", in_.integer(key, 1, kMostDegree));
  }

  /// Interleaved stages send beside compute, unless told otherwise.
  void read_sends() {
    const bool is_off = in_.is_on("no_overlap_p2p_communication");
    const auto told =
        in_.flag(in_.has("overlap_p2p_comm") ? "overlap_p2p_comm" : "overlap_p2p_communication");
    if (plan_.find("virtual_stages") != nullptr && (told || is_off)) {
      plan_.add("pipeline_send", Value(told.value_or(!is_off) ? "overlapped" : "blocking"));
    }
    in_.skip("how what is sent is called", "batch_p2p_comm align_*");
  }

  /// How tokens reach their experts. The flexible dispatcher's backends (DeepEP, HybridEP) send one
  /// copy of a token to a rank.
  void read_dispatch() {
    constexpr std::string_view dispatcher = "moe_token_dispatcher_type";
    const auto told = in_.word(dispatcher);
    const bool has_several = degrees_.expert.value_or(1) > 1;
    if (!told && task_.defaults.gathers_tokens && has_several) {
      task_.into.assumed.push_back(
          task_.file + ": moe_token_dispatcher_type: allgather, as Megatron-Core takes by itself");
    }
    take_only(task_, dispatcher, {"alltoall", "flex", "alltoall_seq", "allgather"});
    static_cast<void>(in_.word("moe_flex_dispatcher_backend"));  // all of them alike
    const bool sends_once = in_.is_on("moe_enable_deepep");
    if (told == "flex" || (sends_once && told != "allgather")) {
      plan_.add("expert_dispatch", Value(name(ExpertDispatch::deduplicated)));
    } else if (told == "allgather" || (!told && task_.defaults.gathers_tokens && has_several)) {
      plan_.add("expert_dispatch", Value(name(ExpertDispatch::all_gather)));
    }
    if (in_.is_on("overlap_moe_expert_parallel_comm")) {
      plan_.add("expert_overlap", Value(true));
    }
    const Transformer& model = *task_.into.model;
    if (in_.is_on("moe_shared_expert_overlap") && model.experts && model.experts->shared_ffn > 0) {
      plan_.add("shared_expert_overlap", Value(true));
    }
    if (in_.is_on("use_transformer_engine_op_fuser")) {
      plan_.add("fused_experts", Value(true));
    }
  }

  const ImportTask& task_;
  Settings& in_;
  Value& plan_;
  Degrees degrees_;
};

}  // namespace

void megatron_plan(const ImportTask& task) { MegatronPlan(task).read(); }

}  // namespace titer
