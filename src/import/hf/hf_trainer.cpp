// What HuggingFace's trainer and those that are built on it tell alike. Batches are of one device;
// the devices come from the launcher, accelerate's file or the option.

#include <algorithm>
#include <array>

#include "hf_parts.hpp"
#include "import/recipes/recipe_parts.hpp"
#include "titer/units/blanks.hpp"

namespace titer {
namespace {

void put_if_absent(Value& object, const std::string& key, Value value) {
  if (object.find(key) == nullptr) {
    object.add(key, std::move(value));
  }
}

class Trainer {
 public:
  Trainer(const ImportTask& task, const TrainerKeys& keys)
      : task_(task),
        in_(task.in),
        keys_(keys),
        plan_(task.into.plan),
        training_(task.into.training) {}

  void read() {
    if (in_.is_on("use_deepspeed")) {  // of accelerate launch
      in_.rename("deepspeed_config_file", "deepspeed");
    }
    put_named_model(task_, in_.first_given(keys_.model));
    read_precision();
    const ToldByLauncher launch = put_launch_file(task_);
    ranks_.devices = launch.devices ? launch.devices : launched_devices(task_);
    read_batches();
    const bool has_deepspeed = put_deepspeed(task_, "deepspeed");
    const bool has_fsdp = !has_deepspeed && put_fsdp(task_, ranks_);
    const bool is_launched = !launch.stack.empty() && !has_deepspeed && !has_fsdp;
    task_.into.stack = is_launched ? launch.stack : (has_deepspeed ? "deepspeed" : "fsdp");
    put_batches();
    read_sequence();
    read_recompute();
    read_attention();
    if (training_.find("optimizer") == nullptr) {
      put_optimizer(task_, in_.has("optimizer") ? "optimizer" : "optim");
    }
    in_.skip(kSwitchedOff, has_deepspeed ? "fsdp*" : "");
    if (!has_deepspeed && !has_fsdp && !is_launched && !task_.others.has_launcher) {
      assume(task_, "deepspeed", "neither it nor fsdp is asked for: every rank has all states");
    }
    refuse_host(task_);
    remark_on_compiling(task_, {"torch_compile", "dynamo_backend", "dynamo_config.dynamo_backend"});
    in_.skip_known("hf-trainer");
  }

 private:
  void read_precision() {
    const bool is_auto = in_.word("bf16").value_or("") == "auto";
    if (is_auto) {
      assume(task_, "bf16", "taken as true");
    }
    const bool pure = in_.is_on("pure_bf16");
    const std::string mixed = in_.word("mixed_precision").value_or("no");  // of accelerate launch
    const bool bf16 = is_auto || pure || in_.any_on({"bf16", "bfloat16"}) || mixed == "bf16" ||
                      loaded_type(task_) == "bf16";
    const std::string_view format = narrowest_format(bf16);
    training_.add("precision", is_open(format) ? Value(kLeftOpen) : Value(format));
    if (pure) {
      put_all_bf16(task_);
    }
    if (format == "fp8" && in_.is_on("fp8_enable_fsdp_float8_all_gather")) {
      training_.add("narrow_weights", Value("gathered"));
    }
  }

  /// Whether what is asked for and not told would be another format than the widest.
  [[nodiscard]] bool is_open(std::string_view format) const {
    constexpr std::array<std::string_view, 6> keys = {
        "bf16", "bfloat16", "fp16", "float16", "fp8", "mixed_precision"};
    return (format == "fp32" || format == "tf32") &&
           std::any_of(
               keys.begin(), keys.end(), [&](std::string_view key) { return in_.is_open(key); });
  }

  /// Of those that are asked for; bf16 is asked for in more ways than one word.
  [[nodiscard]] std::string_view narrowest_format(bool bf16) const {
    const bool fp16 = in_.any_on({"fp16", "float16"}) ||
                      in_.word("mixed_precision").value_or("no") == "fp16" ||
                      loaded_type(task_) == "fp16";
    const bool fp8 = in_.is_on("fp8");
    const bool tf32 = in_.is_on("tf32");
    return fp8 ? "fp8" : (bf16 ? "bf16" : (fp16 ? "fp16" : (tf32 ? "tf32" : "fp32")));
  }

  void read_batches() {
    micro_ = count_or_default(task_, keys_.micro_batch, keys_.usual_micro_batch);
    const auto accumulation = in_.integer(kAccumulation, 1);
    ranks_.accumulation = accumulation.value_or(1);
    is_open_ = in_.has(kAccumulation) && !accumulation;
    const std::int64_t tensor = degree(
        "tensor",
        "tensor_parallel_size tensor_model_parallel_size parallelism_config.tp_size tp_size");
    const std::int64_t context =
        degree("context",
               "context_parallel_size sequence_parallel_degree parallelism_config.cp_size cp_size "
               "sequence_parallel_size context_parallel.size");
    // Plans of the Hub's classes split products alone; optimum-neuron's trainer splits the tokens
    // between them, too, unless told otherwise.
    if (tensor > 1 && in_.flag("disable_sequence_parallel") == false) {
      plan_.add("sequence_parallel", Value(true));
    }
    if (tensor == 0 || context == 0) {
      ranks_.data = std::nullopt;  // is what they leave of the devices
    } else if (ranks_.devices && *ranks_.devices % (tensor * context) != 0) {
      in_.fail("tensor_parallel_size",
               "expected tensor x context degree, " + std::to_string(tensor * context) +
                   ", to divide the " + std::to_string(*ranks_.devices) + " devices");
    } else if (ranks_.devices) {
      ranks_.data = *ranks_.devices / (tensor * context);
      plan_.add("data", Value(*ranks_.data));
    }
    const auto shard =
        in_.integer(in_.first_given("dp_shard_size parallelism_config.dp_shard_size"), 1);
    static_cast<void>(
        in_.integer(in_.first_given("dp_replicate_size parallelism_config.dp_replicate_size"), 1));
    if (shard && ranks_.data && *shard < *ranks_.data) {
      plan_.add("shard", Value(*shard));
    }
  }

  /// 0 where the file leaves it open.
  std::int64_t degree(std::string_view name, std::string_view keys) {
    const std::string key = in_.first_given(keys);
    const auto told = in_.integer(key, 0, kMostDegree);
    if (!told && in_.has(key)) {
      plan_.add(std::string(name), Value(kLeftOpen));
      return 0;
    }
    const std::int64_t size = std::max<std::int64_t>(1, told.value_or(1));
    if (size > 1) {
      plan_.add(std::string(name), Value(size));
    }
    return size;
  }

  void put_batches() {
    if (!micro_) {
      return;
    }
    plan_.add("micro_batch", Value(*micro_));
    const std::int64_t of_a_rank = *micro_ * ranks_.accumulation;
    if (is_open_) {
      put_if_absent(training_, "global_batch", Value(kLeftOpen));
      return;
    }
    if (ranks_.data) {
      put_if_absent(training_, "global_batch", Value(of_a_rank * *ranks_.data));
      return;
    }
    put_if_absent(training_, "global_batch", Value(kLeftOpen));
    task_.into.open.push_back("training.global_batch: " + std::to_string(of_a_rank) +
                              " for each data-parallel rank");
  }

  void read_sequence() {
    const std::string key = in_.first_given(keys_.sequence);
    const auto sequence = in_.integer(key, 1, kMostTokens);
    if (sequence) {
      training_.add("sequence", Value(*sequence));
    } else if (!in_.has(key) && keys_.usual_sequence) {
      training_.add("sequence", Value(*keys_.usual_sequence));
      assume(task_, key, "taken as " + std::to_string(*keys_.usual_sequence) + ", its default");
    }
    if (!in_.any_on({keys_.packing, "neat_packing", "pad_to_sequence_len", "pad_to_max_length"})) {
      assume(task_, keys_.packing, "every sequence is taken as long as the longest");
    }
  }

  void read_recompute() {
    const std::string mode = in_.word("gradient_checkpointing").value_or("");
    const bool is_off = in_.is_on("disable_gradient_checkpointing");
    const bool is_on = mode == "true" || mode == "1" || mode == "unsloth" || mode == "offload" ||
                       (mode.empty() && keys_.recomputes && !is_off);
    put_if_absent(plan_, "recompute", Value(is_on ? "full" : "none"));
    const std::string offload = in_.word("activation_offloading").value_or("false");
    if (offload == "disk") {
      in_.fail("activation_offloading", "expected true, false or legacy: the host's memory");
    } else if (mode == "offload" || mode == "unsloth" || offload != "false") {
      offload_activations();
    }
  }

  /// Inputs of layers that are recomputed, or all that a layer keeps.
  void offload_activations() {
    if (Value* const there = plan_.find("offload")) {
      put_if_absent(*there, "activations", Value("host"));
      return;
    }
    Value offload = Value::make_object();
    offload.add("activations", Value("host"));
    plan_.add("offload", std::move(offload));
  }

  void read_attention() {
    const std::string key = in_.first_given("attn_implementation flash_attn attention attn_impl");
    const std::string kernel = in_.word(key).value_or("");
    const bool flash = in_.any_on({"flash_attention",
                                   "sdp_attention",
                                   "flex_attention",
                                   "use_flash_attn",
                                   "use_flash_attention",
                                   "use_flash_attention_2"});
    if (kernel == "eager" || kernel == "disabled" || kernel == "off") {
      plan_.add("attention", Value("materialised"));
    } else if (flash || (!kernel.empty() && kernel != "auto")) {
      plan_.add("attention", Value("flash"));
    }
  }

  const ImportTask& task_;
  Settings& in_;
  const TrainerKeys& keys_;
  Value& plan_;
  Value& training_;
  std::optional<std::int64_t> micro_;
  bool is_open_ = false;  // how many micro-batches a step has
  TrainerPlan ranks_;
};

}  // namespace

std::string_view loaded_type(const ImportTask& task) {
  const std::string_view type = precision_of(task.in.word("torch_dtype").value_or(""));
  return type == "fp32" ? "" : type;
}

void keep_loaded_type(const ImportTask& task) {
  const Value* const sharding = task.into.plan.find("sharding");
  const Value* const precision = task.into.training.find("precision");
  const bool is_whole = sharding == nullptr && !task.others.has_launcher &&
                        task.into.stack != "deepspeed" && !task.in.has("use_deepspeed");
  if (is_whole && loaded_type(task) == "bf16" && precision != nullptr &&
      precision->text == "bf16" && task.into.training.find("adapters") == nullptr) {
    put_all_bf16(task);
    assume(task,
           "torch_dtype",
           "weights are of this type, and gradients and the optimizer's states with them");
  }
}

void put_all_bf16(const ImportTask& task) {
  for (const char* const what : {"gradient_precision", "state_precision", "master_precision"}) {
    put_if_absent(task.into.training, what, Value("bf16"));
  }
}

void put_trainer(const ImportTask& task, const TrainerKeys& keys) { Trainer(task, keys).read(); }

}  // namespace titer
