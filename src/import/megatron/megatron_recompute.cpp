// What Megatron-LM computes again, and what it keeps on the host.

#include "import/import_parts.hpp"
#include "titer/units/lists.hpp"

namespace titer {
namespace {

class MegatronRecompute {
 public:
  MegatronRecompute(const ImportTask& task, const Degrees& degrees)
      : task_(task), in_(task.in), plan_(task.into.plan), degrees_(degrees) {}

  void read_offload() {
    Value offload = Value::make_object();
    if (in_.is_on("optimizer_cpu_offload")) {
      offload.add("optimizer", Value("host"));
      offload.add("update", Value("host"));
      const auto fraction = in_.number("optimizer_offload_fraction");
      if (fraction && *fraction < 1) {
        in_.leave_out("optimizer_offload_fraction", "all of the optimizer is offloaded here");
      }
    }
    if (in_.is_on("cpu_offloading")) {
      const bool weights = in_.is_on("cpu_offloading_weights");
      offload.add("activations", Value("host"));
      if (weights) {
        offload.add("weights", Value("host"));
      }
      if (const auto layers = in_.integer("cpu_offloading_num_layers", 1, kMostDegree)) {
        offload.add("layers", Value(*layers));
      }
      static_cast<void>(in_.raw("cpu_offloading_activations"));
    } else {
      in_.skip(kSwitchedOff, "cpu_offloading*");
    }
    if (!offload.members.empty()) {
      plan_.add("offload", std::move(offload));
    }
  }

  /// "full", "selective", "none", or what else stands there.
  std::string recompute_granularity() {
    const bool selective = in_.any_on({"recompute_activations", "moe_layer_recompute"});
    // Before there were granularities a method stood for all of a layer.
    const std::vector<std::string> keys = in_.keys();
    const bool is_old = !includes(keys, "recompute_granularity") &&
                        (in_.is_on("checkpoint_activations") || in_.has("recompute_method"));
    return in_.word("recompute_granularity")
        .value_or(selective ? "selective" : (is_old ? "full" : "none"));
  }

  /// By Megatron-LM's name or DeepSpeed's.
  bool distributes_inputs() {
    const bool by_megatron = in_.is_on("distribute_saved_activations");
    const bool by_deepspeed = in_.is_on("partition_activations");
    return (by_megatron || by_deepspeed) && degrees_.tensor != 1 && !in_.is_on("sequence_parallel");
  }

  void read_recompute() {
    const std::string granularity = recompute_granularity();
    const std::string method = in_.word("recompute_method").value_or("");
    const bool distributes = distributes_inputs();
    const auto count = in_.integer(
        in_.has("checkpoint_num_layers") ? "checkpoint_num_layers" : "recompute_num_layers", 0);
    for (const std::string_view key : {"num_micro_batches_with_partial_activation_checkpoints",
                                       "activations_checkpoint_layers_per_pipeline"}) {
      if (in_.integer(key, 0).value_or(0) > 0) {
        in_.leave_out(key, "every micro-batch and stage recomputes alike here");
      }
    }
    if (granularity == "full") {
      plan_.add("recompute", Value("full"));
      if (method == "block") {
        plan_.add("recompute_layers", Value(count.value_or(1)));
      } else if (count.value_or(1) > 1) {
        plan_.add("recompute_every", Value(*count));
      }
      if (distributes) {
        plan_.add("distribute_saved_activations", Value(true));
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
    std::vector<std::string> names = listed_words(task_, "recompute_modules");
    if (in_.is_on("moe_layer_recompute")) {
      if (names.empty() && in_.is_on("recompute_activations")) {
        names.emplace_back("core_attn");
      }
      names.emplace_back("moe");
    }
    if (names.empty() || names == std::vector<std::string>{"core_attn"}) {
      return "selective";
    }
    Value list = Value::make_array();
    for (const std::string& name : names) {
      if (const auto known = our_word(kMegatronModules, name)) {
        list.push(Value(*known));
      } else {
        in_.fail("recompute_modules",
                 name +
                     ": expected core_attn, layernorm, mla_up_proj, mlp, moe, moe_act or "
                     "shared_experts");
      }
    }
    return list;
  }

 private:
  const ImportTask& task_;
  Settings& in_;
  Value& plan_;
  const Degrees& degrees_;
};

}  // namespace

void put_megatron_recompute(const ImportTask& task, const Degrees& degrees) {
  // As releases before 2022 called it.
  task.in.rename("distribute_checkpointed_activations", "distribute_saved_activations");
  MegatronRecompute recompute(task, degrees);
  recompute.read_recompute();
  recompute.read_offload();
}

}  // namespace titer
