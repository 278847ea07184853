// A plan and training in Megatron's names.

#include <algorithm>
#include <array>
#include <charconv>

#include "import_parts.hpp"

namespace titer {
namespace {

constexpr DegreeKeys kMegatronKeys = {.tensor = "tensor_model_parallel_size",
                                      .pipeline = "pipeline_model_parallel_size",
                                      .context = "context_parallel_size",
                                      .expert = "expert_model_parallel_size",
                                      .devices = "trainer.devices",
                                      .micro_batch = "micro_batch_size",
                                      .global_batch = "global_batch_size"};

struct MegatronWord {
  std::string_view theirs;
  std::string_view ours;
};
constexpr std::array<MegatronWord, 7> kModules = {{{"core_attn", "core_attention"},
                                                   {"layernorm", "layer_norm"},
                                                   {"mla_up_proj", "latent_up"},
                                                   {"mlp", "mlp"},
                                                   {"moe", "moe"},
                                                   {"moe_act", "activation"},
                                                   {"shared_experts", "shared_experts"}}};
constexpr std::array<MegatronWord, 4> kContextMethods = {{{"p2p", "ring"},
                                                          {"all_gather", "all-gather"},
                                                          {"a2a", "ulysses"},
                                                          {"a2a+p2p", "hierarchical"}}};
constexpr std::array<MegatronWord, 4> kShardings = {{{"no_shard", "none"},
                                                     {"optim", "zero1"},
                                                     {"optim_grads", "zero2"},
                                                     {"optim_grads_params", "zero3"}}};

template <std::size_t N>
std::optional<std::string_view> ours(const std::array<MegatronWord, N>& words,
                                     std::string_view theirs) {
  const auto found = std::find_if(
      words.begin(), words.end(), [&](const MegatronWord& word) { return word.theirs == theirs; });
  return found == words.end() ? std::nullopt : std::optional(found->ours);
}

class MegatronPlan {
 public:
  explicit MegatronPlan(const ImportTask& task)
      : task_(task), in_(task.in), plan_(task.into.plan), training_(task.into.training) {}

  void read() {
    read_degrees();
    put_megatron_stages(task_, degrees_);
    read_sharding();
    read_recompute();
    read_offload();
    read_rest();
    read_training();
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
    const bool tells = in_.has("expert_tensor_parallel_size");
    degrees_.expert_tensor = in_.integer("expert_tensor_parallel_size", 1, kMostDegree);
    degrees_.devices = devices();
    put(plan_, "pipeline", degrees_.pipeline);
    put(plan_, "tensor", degrees_.tensor);
    put(plan_, "context", degrees_.context);
    if (task_.into.model && task_.into.model->experts) {
      put(plan_, "expert", degrees_.expert);
      put(plan_, "expert_tensor", tells ? degrees_.expert_tensor : degrees_.tensor);
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
    const auto trained = product("trainer.num_nodes", "trainer.devices");
    const auto world = in_.integer("world_size", 1, kMostDegree);
    return task_.options.devices ? task_.options.devices
           : trained             ? trained
           : launched            ? launched
                                 : world;
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

  void read_sharding() {
    const bool fsdp = in_.is_on("use_megatron_fsdp") || in_.is_on("use_custom_fsdp");
    const std::string optimizer = in_.word("optim.name").value_or("");
    const bool sharded = in_.is_on("use_distributed_optimizer") ||
                         optimizer.find("distributed") != std::string::npos;
    const auto strategy = in_.word("data_parallel_sharding_strategy");
    const std::string nemo = in_.word("fsdp_sharding_strategy").value_or("full");
    std::string_view sharding = sharded ? "zero1" : "none";
    if (in_.is_on("use_torch_fsdp2")) {
      sharding = "zero3";
    } else if (in_.is_on("fsdp")) {
      sharding = nemo == "grad" ? "zero2" : "zero3";
      if (nemo == "hybrid") {
        ignore(task_, "fsdp_sharding_strategy", "plan.shard tells how many ranks split");
      }
    } else if (fsdp && strategy) {
      const auto known = ours(kShardings, *strategy);
      if (!known) {
        in_.fail("data_parallel_sharding_strategy",
                 "expected no_shard, optim, optim_grads or optim_grads_params");
      }
      sharding = known.value_or("none");
    }
    plan_.add("sharding", Value(sharding));
    overlap("overlap_grad_reduce", "optim.overlap_grad_sync");
    overlap("overlap_param_gather", "optim.overlap_param_sync");
  }

  /// Off unless switched on.
  void overlap(std::string_view key, std::string_view nemo_key) {
    const bool on = in_.is_on(key) || in_.is_on(nemo_key);
    plan_.add(std::string(key), Value(on));
  }

  void read_recompute() {
    const bool selective = in_.is_on("recompute_activations");
    const std::string granularity =
        in_.word("recompute_granularity").value_or(selective ? "selective" : "none");
    const std::string method = in_.word("recompute_method").value_or("");
    const auto count = in_.integer("recompute_num_layers", 0);
    if (granularity == "full") {
      plan_.add("recompute", Value("full"));
      if (method == "block") {
        plan_.add("recompute_layers", Value(count.value_or(1)));
      } else if (count.value_or(1) > 1) {
        plan_.add("recompute_every", Value(*count));
      }
    } else if (granularity == "selective") {
      plan_.add("recompute", selected_modules());
    } else if (granularity == "none") {
      plan_.add("recompute", Value("none"));
    } else {
      in_.fail("recompute_granularity", "expected full or selective");
    }
  }

  Value selected_modules() {
    const Value* written = in_.raw("recompute_modules");
    std::vector<std::string> names;
    if (written != nullptr && written->kind == Value::Kind::array) {
      for (const Value& item : written->items) {
        names.push_back(item.text);
      }
    } else if (const auto text = in_.text("recompute_modules")) {
      for (std::size_t begin = 0; begin < text->size();) {
        const std::size_t end = std::min(text->find_first_of(" ,", begin), text->size());
        names.push_back(text->substr(begin, end - begin));
        begin = end + 1;
      }
    }
    if (names.empty() || names == std::vector<std::string>{"core_attn"}) {
      return "selective";
    }
    Value list = Value::make_array();
    for (const std::string& name : names) {
      if (const auto known = ours(kModules, name)) {
        list.push(Value(*known));
      } else if (!name.empty()) {
        in_.fail("recompute_modules",
                 name +
                     ": expected core_attn, layernorm, mla_up_proj, mlp, moe, moe_act or "
                     "shared_experts");
      }
    }
    return list;
  }

  void read_offload() {
    Value offload = Value::make_object();
    if (in_.is_on("optimizer_cpu_offload")) {
      offload.add("optimizer", Value("host"));
      const auto fraction = in_.number("optimizer_offload_fraction");
      if (fraction && *fraction < 1) {
        ignore(task_, "optimizer_offload_fraction", "all of the optimizer is offloaded here");
      }
    }
    if (in_.is_on("cpu_offloading")) {
      const bool weights = in_.is_on("cpu_offloading_weights");
      offload.add("activations", Value("host"));
      if (weights) {
        offload.add("weights", Value("host"));
      }
      ignore(task_, "cpu_offloading_num_layers", "all layers are offloaded here");
      static_cast<void>(in_.raw("cpu_offloading_activations"));
    } else {
      constexpr std::array<std::string_view, 1> off = {"cpu_offloading*"};
      in_.skip(off);
    }
    if (!offload.members.empty()) {
      plan_.add("offload", std::move(offload));
    }
  }

  void read_rest() {
    plan_.add("sequence_parallel", Value(in_.is_on("sequence_parallel")));
    if (const auto method = in_.word("cp_comm_type")) {
      const auto known = ours(kContextMethods, *method);
      if (!known) {
        in_.fail("cp_comm_type", "expected p2p, all_gather, a2a or a2a+p2p");
      } else if (degrees_.context.value_or(2) > 1) {
        plan_.add("context_method", Value(*known));
      }
    }
    if (in_.is_on("tp_comm_overlap") || in_.is_on("ub_tp_comm_overlap")) {
      plan_.add("tensor_overlap", Value("ring"));
    }
    if (in_.is_on("use_tp_pp_dp_mapping")) {
      plan_.add("rank_order", Value("tp-cp-ep-pp-dp"));
    }
  }

  void read_training() {
    if (in_.has("step_batch_size_schedule")) {
      put(plan_, "micro_batch", in_.integer("micro_batch_size", 1));
      last_batch();
    } else {
      put_batches(task_, degrees_, kMegatronKeys);
    }
    put(training_, "sequence", in_.integer("seq_length", 1));
    training_.add("precision", Value(precision()));
    put_optimizer(task_, in_.has("optim.name") ? "optim.name" : "optimizer");
    if (in_.is_on("grad_reduce_in_bf16")) {
      training_.add("gradient_precision", Value("bf16"));
    } else if (in_.is_on("accumulate_allreduce_grads_in_fp32")) {
      training_.add("gradient_precision", Value("fp32"));
    }
  }

  /// "0:384 200B:768": from so many tokens on so many sequences.
  void last_batch() {
    const std::string text = in_.text("step_batch_size_schedule").value_or("");
    const std::size_t colon = text.rfind(':');
    std::int64_t batch = 0;
    const char* const end = text.data() + text.size();
    const char* const begin = colon == std::string::npos ? end : text.data() + colon + 1;
    const auto [rest, error] = std::from_chars(begin, end, batch);
    if (error != std::errc() || rest != end || batch < 1) {
      in_.fail("step_batch_size_schedule", "expected batches such as 0:384 200B:768");
      return;
    }
    assume(task_, "step_batch_size_schedule", "the last batch of the schedule is taken");
    training_.add("global_batch", Value(batch));
  }

  std::string_view precision() {
    const std::string trainer = in_.word("trainer.precision").value_or("");
    const std::string mixed = in_.word("mixed_precision").value_or("");
    const auto says = [&](std::string_view what) {
      return trainer.find(what) != std::string::npos || mixed.find(what) != std::string::npos;
    };
    const bool fp8 = in_.has("fp8_format") || (in_.has("fp8") && in_.word("fp8") != "false");
    static_cast<void>(in_.word("fp8_format"));
    if (fp8 || says("fp8")) {
      return "fp8";
    }
    if (in_.is_on("bf16") || says("bf16") || says("bfloat16")) {
      return "bf16";
    }
    const bool half = in_.is_on("fp16") || says("fp16") || trainer == "16" ||
                      trainer == "16-mixed" || trainer == "16-true";
    if (!half && task_.options.base && !in_.has("trainer.precision") && !in_.has("fp16")) {
      assume(task_, "mixed_precision", "taken as bf16, as recipes train");
      return "bf16";
    }
    return half ? "fp16" : "fp32";
  }

  const ImportTask& task_;
  Settings& in_;
  Value& plan_;
  Value& training_;
  Degrees degrees_;
};

}  // namespace

void megatron_plan(const ImportTask& task) { MegatronPlan(task).read(); }

}  // namespace titer
