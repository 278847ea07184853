// OLMo-core (allenai/OLMo-core): what its trainer saves as config.json, its programs, and the short
// YAML of its experiments. Batches are of tokens.

#include <array>

#include "import/hf/hf_parts.hpp"
#include "olmo_core_parts.hpp"
#include "recipe_parts.hpp"
#include "titer/script/python/python_values.hpp"
#include "titer/units/number_text.hpp"

namespace titer {
namespace {

constexpr std::string_view kRankBatch = "train_module.rank_microbatch_size";

class OlmoCore {
 public:
  explicit OlmoCore(const ImportTask& task)
      : task_(task), in_(task.in), plan_(task.into.plan), training_(task.into.training) {}

  void read() {
    const bool compiles = in_.flag("train_module.compile_model").value_or(true);
    stand_in(task_, compiles ? "torchtitan-compiled" : "torchtitan", "OLMo-core");
    put_olmo_core_model(task_);
    if (!in_.is_sound()) {
      return;
    }
    read_degrees();
    read_sharding();
    read_recompute();
    read_precision();
    read_batches();
    in_.skip_known("olmo-core");
    in_.skip_usual("olmo-core");
  }

 private:
  std::int64_t degree(std::string_view section) {
    const std::string key = "train_module." + std::string(section) + ".degree";
    return in_.integer(key, 1, kMostDegree).value_or(1);
  }

  void read_degrees() {
    const std::int64_t tensor = degree("tp_config");
    const std::int64_t pipeline = degree("pp_config");
    const std::int64_t context = degree("cp_config");
    const auto nodes = in_.integer("nodes", 1, kMostDegree);
    const auto each = in_.integer("gpus", 1, kMostDegree);
    devices_ = task_.options.devices ? task_.options.devices : launched_devices(task_);
    if (!devices_ && each) {
      devices_ = nodes.value_or(1) * *each;
    }
    const std::int64_t others = tensor * pipeline * context;
    if (devices_ && *devices_ % others != 0) {
      in_.fail("train_module.tp_config.degree",
               "expected the " + std::to_string(*devices_) +
                   " devices to be a multiple of tensor x pipeline x context degree, " +
                   std::to_string(others));
      return;
    }
    plan_.add("pipeline", Value(pipeline));
    plan_.add("tensor", Value(tensor));
    plan_.add("context", Value(context));
    data_ = devices_ ? std::optional(*devices_ / others) : std::nullopt;
    put(plan_, "data", data_);
    plan_.add("sequence_parallel", Value(tensor > 1));
    read_context(context);
    if (pipeline > 1) {
      const std::string schedule = olmo_core_word(in_, "train_module.pp_config.schedule");
      plan_.add("schedule", Value(schedule == "gpipe" ? "gpipe" : "1f1b"));
      olmo_core_takes(task_,
                      "train_module.pp_config.schedule",
                      {"1f1b", "gpipe", "interleaved1f1b", "interleaved_1f1b"});
      if (schedule.find("interleaved") != std::string::npos) {
        plan_.add("virtual_stages", Value(2));
        assume(task_, "train_module.pp_config.schedule", "two stages of each rank are taken");
      }
    }
  }

  /// Rings of queries and keys, of which llama3's gathers the keys; or heads instead of tokens.
  void read_context(std::int64_t degree) {
    constexpr std::string_view balancer = "train_module.cp_config.ring.load_balancer";
    for (const std::string_view other :
         {"train_module.cp_config.load_balancer", "train_module.cp_config.name"}) {
      in_.rename(other, balancer);
    }
    const std::string word = olmo_core_word(in_, balancer);
    const bool by_heads = word.empty() && in_.has("train_module.cp_config.uly");
    static_cast<void>(in_.raw("train_module.cp_config.uly"));
    if (degree > 1 && (by_heads || word == "llama3")) {
      plan_.add("context_method", Value(by_heads ? "ulysses" : "all-gather"));
    }
    olmo_core_takes(task_, balancer, {"zig_zag", "llama3"});
  }

  /// Ranks that share out the parameters, of which there are so many copies.
  std::optional<std::int64_t> read_shard(const std::optional<std::int64_t>& degree) {
    constexpr std::string_view copies_key = "train_module.dp_config.num_replicas";
    std::optional<std::int64_t> shard = degree ? degree : shard_of_world(copies_key);
    if (!shard && !in_.has(copies_key)) {
      shard = in_.integer("gpus", 1, kMostDegree).value_or(8);
      assume(task_,
             "train_module.dp_config.shard_degree",
             "taken as the devices of a node, " + std::to_string(*shard));
    } else if (const auto copies = shard ? std::nullopt : in_.integer(copies_key, 1, kMostDegree);
               copies && data_ && *data_ % *copies == 0) {
      shard = *data_ / *copies;
    }
    return shard;
  }

  void read_sharding() {
    const bool has_section = in_.has("train_module.dp_config.name");
    std::string name = olmo_core_word(in_, "train_module.dp_config.name");
    if (!has_section) {
      name = in_.has("nodes") ? "hsdp" : "ddp";
      assume(task_, "train_module.dp_config.name", "taken as " + name);
    }
    if (name != "fsdp" && name != "hsdp" && name != "ddp") {
      in_.fail("train_module.dp_config.name", "expected fsdp, hsdp or ddp");
      return;
    }
    plan_.add("sharding", Value(name == "ddp" ? "none" : "zero3"));
    const auto degree = in_.integer("train_module.dp_config.shard_degree", 1, kMostDegree);
    if (name != "hsdp") {
      return;
    }
    const std::optional<std::int64_t> shard = read_shard(degree);
    if (shard && !(data_ && *data_ % *shard != 0)) {
      plan_.add("shard", Value(*shard));
    }
  }

  /// 64 of num_replicas=get_world_size() // 64.
  std::optional<std::int64_t> shard_of_world(std::string_view key) {
    const Value* const value = in_.raw(key);
    std::string_view text = value == nullptr ? std::string_view() : untold_expression(*value);
    constexpr std::string_view world = "get_world_size() // ";
    if (!text.starts_with(world)) {
      return std::nullopt;
    }
    text.remove_prefix(world.size());
    const auto shard = number_of_text<std::int64_t>(text);
    return shard && *shard > 0 ? shard : std::nullopt;
  }

  void read_recompute() {
    constexpr std::string_view section = "train_module.ac_config";
    const Value* const whole = in_.raw(section);
    std::string mode = whole == nullptr ? "" : olmo_core_word(in_, section);
    if (in_.has("train_module.ac_config.mode")) {
      mode = olmo_core_word(in_, "train_module.ac_config.mode");
    }
    const Value* const modules = in_.raw("train_module.ac_config.modules");
    const std::string names = modules == nullptr ? "" : to_json(*modules, 0);
    static_cast<void>(in_.raw("train_module.ac_config.block_interval"));
    static_cast<void>(in_.number("train_module.ac_config.activation_memory_budget"));
    if (mode == "selected_modules" && names.find("feed_forward") != std::string::npos) {
      plan_.add("recompute", Value::make_array().push(Value("mlp")));
      if (names.find("range(") != std::string::npos) {
        assume(task_, "train_module.ac_config.modules", "taken of every layer");
      }
      return;
    }
    const bool is_none = mode.empty() || mode == "none";
    if (!is_none && mode != "full") {
      assume(task_, section, mode + ": taken as full");
    }
    plan_.add("recompute", Value(is_none ? "none" : "full"));
  }

  void read_precision() {
    const std::string type = olmo_core_word(in_, "train_module.dp_config.param_dtype");
    const std::string automatic = olmo_core_word(in_, "train_module.autocast_precision");
    const bool fp8 = in_.is_on("train_module.float8_config.enabled");
    const bool told = !type.empty() || !automatic.empty();
    if (!told && !in_.has("nodes")) {
      assume(task_, "train_module.dp_config.param_dtype", "taken as float32, for want of a type");
    }
    const bool fp32 = told ? type == "float32" && automatic.empty() : !in_.has("nodes");
    training_.add("precision", Value(fp8 ? "fp8" : (fp32 ? "fp32" : "bf16")));
    const std::string reduces = olmo_core_word(in_, "train_module.dp_config.reduce_dtype");
    training_.add("gradient_precision", Value(reduces == "bfloat16" ? "bf16" : "fp32"));
    read_fp8(fp8);
    read_optimizer();
  }

  /// What is narrow besides products.
  void read_fp8(bool fp8) {
    if (!fp8) {
      in_.skip(kSwitchedOff, "train_module.float8_config.*");
      return;
    }
    constexpr std::string_view section = "train_module.float8_config.";
    if (olmo_core_word(in_, std::string(section) + "ao_recipe") == "rowwise") {
      training_.add("narrow_scaling", Value("row"));
    }
    olmo_core_takes(task_, std::string(section) + "ao_recipe", {"tensorwise", "rowwise"});
    if (in_.is_on(std::string(section) + "ao.enable_fsdp_float8_all_gather")) {
      training_.add("narrow_weights", Value("gathered"));
    }
  }

  void read_optimizer() {
    if (olmo_core_word(in_, "train_module.optim.dtype") == "bfloat16") {
      training_.add("state_precision", Value("bf16"));
    }
    const std::string optimizer = olmo_core_word(in_, "train_module.optim._CLASS_");
    training_.add("optimizer",
                  Value(optimizer.find("lion") != std::string::npos
                            ? "lion"
                            : (optimizer.find("muon") != std::string::npos ? "muon" : "adam")));
  }

  void read_batches() {
    constexpr std::string_view key = "data_loader.global_batch_size";
    const auto length = olmo_core_sequence(in_);
    const auto global = in_.integer(key, 1);
    const auto micro = in_.integer(kRankBatch, 1);
    put(training_, "sequence", length);
    constexpr std::string_view apart = "dataset.generate_doc_lengths";
    if (in_.is_on(apart)) {
      assume(task_, apart, "texts of a sequence are taken to attend to one another");
    }
    if (!length) {
      return;
    }
    RankBatches batches;
    batches.global = sequences(key, global, *length);
    batches.micro = sequences(kRankBatch, micro, *length);
    put_rank_batches(task_, key, batches, data_);
    if (!micro) {
      plan_.add("micro_batch", Value(kLeftOpen));
    }
  }

  /// Sequences of so many tokens.
  std::optional<std::int64_t> sequences(std::string_view key,
                                        std::optional<std::int64_t> tokens,
                                        std::int64_t length) {
    if (tokens && *tokens % length != 0) {
      in_.fail(key, "expected whole sequences of " + std::to_string(length) + " tokens");
      return std::nullopt;
    }
    return tokens ? std::optional(*tokens / length) : std::nullopt;
  }

  const ImportTask& task_;
  Settings& in_;
  Value& plan_;
  Value& training_;
  std::optional<std::int64_t> devices_;
  std::optional<std::int64_t> data_;
};

}  // namespace

void import_olmo_core(const ImportTask& task) { OlmoCore(task).read(); }

void import_olmo_experiment(const ImportTask& task) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 4> names = {
      {{"model", "model.factory"},
       {"rank_microbatch_size", kRankBatch},
       {"global_batch_size", "data_loader.global_batch_size"},
       {"sequence_length", "dataset.sequence_length"}}};
  for (const auto& [theirs, ours] : names) {
    task.in.rename(theirs, ours);
  }
  import_olmo_core(task);
}

}  // namespace titer
