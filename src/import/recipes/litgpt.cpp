// LitGPT's YAML (config_hub) and commands: a model by its name or by litgpt.Config, over Fabric's
// FSDP. What is left out is as litgpt/config.py, pretrain.py and finetune/*.py have it.

#include <algorithm>
#include <array>
#include <string>

#include "import/hf/hf_parts.hpp"
#include "recipe_parts.hpp"

namespace titer {
namespace {

/// Layers as litgpt.Config tells them, in the keys of the class of HuggingFace's that has the same.
class LayersOfConfig {
 public:
  LayersOfConfig(const ImportTask& task, std::string section)
      : task_(task), in_(task.in), section_(std::move(section)) {}

  void put() {
    const std::string mlp = in_.text(key("mlp_class_name")).value_or("GptNeoxMLP");
    const bool is_neox = mlp == "GptNeoxMLP";
    const std::string_view type = class_of(mlp);
    if (type.empty() || !is_of_class(is_neox)) {
      in_.fail(
          key("mlp_class_name"),
          "expected the layers of Llama, Mixtral or GPT-NeoX; --with CONFIG.json gives others");
      return;
    }
    Value config = Value::make_object();
    config.add("model_type", Value(type));
    put_widths(config, is_neox);
    if (is_neox) {
      config.add("use_parallel_residual", Value(in_.flag(key("parallel_residual")).value_or(true)));
    } else if (mlp == "LLaMAMoE") {
      put_experts(config);
    }
    put_model_of_config(task_, config);
    task_.into.model->name = in_.text(key("name")).value_or("");
    task_.into.model->title = task_.into.model->name;
  }

 private:
  [[nodiscard]] std::string key(std::string_view name) const {
    return section_ + "." + std::string(name);
  }

  [[nodiscard]] std::int64_t number(std::string_view name, std::int64_t usual) {
    return in_.integer(key(name), 1, kMostWidth).value_or(usual);
  }

  /// Queries and keys of each head by themselves, as Qwen3 has them, and not those of all at once.
  bool is_normed_by_heads() {
    return in_.is_on(key("norm_qk")) &&
           in_.text(key("norm_qk_type")).value_or("default") == "default";
  }

  [[nodiscard]] std::string_view class_of(std::string_view mlp) {
    if (mlp == "GptNeoxMLP") {
      return "gpt_neox";
    }
    const bool is_normed = is_normed_by_heads();
    if (mlp == "LLaMAMLP") {
      return is_normed ? "qwen3" : "llama";
    }
    return mlp != "LLaMAMoE" ? "" : (is_normed ? "qwen3_moe" : "mixtral");
  }

  /// As wide as an MLP where they have no width of their own. [litgpt/config.py,
  /// Config.__post_init__]
  void put_experts(Value& config) {
    const bool is_normed = is_normed_by_heads();
    config.add(is_normed ? "num_experts" : "num_local_experts", Value(number("n_expert", 8)));
    config.add("num_experts_per_tok", Value(number("n_expert_per_token", 2)));
    Value* const ffn = config.find("intermediate_size");
    const std::int64_t width = number("moe_intermediate_size", ffn->integer);
    if (is_normed) {
      config.add("moe_intermediate_size", Value(width));
    } else {
      *ffn = Value(width);
    }
  }

  /// Norms, biases and branches as all layers of the class have them.
  bool is_of_class(bool is_neox) {
    const bool has_biases = in_.flag(key("bias")).value_or(true);
    const bool is_rms = in_.text(key("norm_class_name")).value_or("LayerNorm") == "RMSNorm";
    const bool is_parallel = in_.flag(key("parallel_residual")).value_or(true);
    const bool is_normed = in_.is_on(key("norm_qk")) && (is_neox || !is_normed_by_heads());
    const bool is_special = is_normed ||
                            in_.any_on({key("shared_attention_norm"),
                                        key("post_attention_norm"),
                                        key("post_mlp_norm"),
                                        key("attn_bias"),
                                        key("lm_head_bias")}) ||
                            in_.has(key("latent_attention")) || in_.has(key("sliding_window_size"));
    return !is_special && (is_neox ? has_biases && !is_rms : !has_biases && is_rms && !is_parallel);
  }

  void put_widths(Value& config, bool is_neox) {
    const std::int64_t hidden = number("n_embd", 4096);
    const std::int64_t heads = number("n_head", 32);
    const std::int64_t multiple = number("padding_multiple", 512);
    const std::int64_t rows = number("vocab_size", 50254);
    const std::int64_t padded = (rows + multiple - 1) / multiple * multiple;
    config.add("hidden_size", Value(hidden));
    config.add("num_hidden_layers",
               Value(in_.integer(key("n_layer"), 1, kMostLayers).value_or(16)));
    config.add("num_attention_heads", Value(heads));
    config.add("intermediate_size", Value(number("intermediate_size", 4 * hidden)));
    config.add("vocab_size", Value(number("padded_vocab_size", padded)));
    config.add("max_position_embeddings",
               Value(in_.integer(key("block_size"), 1, kMostTokens).value_or(4096)));
    config.add("tie_word_embeddings", Value(in_.is_on("train.tie_embeddings")));
    const std::int64_t head_size = number("head_size", std::max<std::int64_t>(1, hidden / heads));
    if (!is_neox) {
      config.add("num_key_value_heads", Value(number("n_query_groups", heads)));
      config.add("head_dim", Value(head_size));
    }
  }

  const ImportTask& task_;
  Settings& in_;
  std::string section_;
};

/// Of a file that tunes the checkpoint's; of one that begins anew a name or a configuration.
void put_litgpt_model(const ImportTask& task) {
  Settings& in = task.in;
  if (in.has("model_config.n_layer") || in.has("model_config.n_embd")) {
    LayersOfConfig(task, "model_config").put();
    in.skip("goes behind model_config", "model_name");
  } else if (in.has("model.n_layer")) {  // of its first releases
    LayersOfConfig(task, "model").put();
  } else {
    put_named_model(task, in.first_given("checkpoint_dir model_name model.name"));
  }
}

/// `litgpt finetune` is the short form of finetune_lora.
bool trains_adapters(const ImportTask& task) {
  const std::string action = task.in.word("litgpt").value_or("");
  return task.in.has("lora_r") || action == "finetune" || action == "finetune_lora";
}

/// Products of the layers that have adapters; queries' and values' have them unless told otherwise.
void put_litgpt_adapters(const ImportTask& task) {
  constexpr std::array<std::array<std::string_view, 2>, 5> products = {
      {{"lora_query", "query"},
       {"lora_key", "key"},
       {"lora_value", "value"},
       {"lora_projection", "output"},
       {"lora_mlp", "gate up down"}}};
  Settings& in = task.in;
  std::string targets;
  for (const auto& [key, name] : products) {
    const bool is_usual = key == "lora_query" || key == "lora_value";
    if (in.flag(key).value_or(is_usual)) {
      targets.append(targets.empty() ? "" : " ").append(name);
    }
  }
  in.skip_what_is_off("use_galore");
  if (in.is_on("lora_head")) {
    assume(task, "lora_head", "the head's adapter, one of many, is not counted");
  }
  const std::string bits = in.word("quantize").value_or("");
  const bool is_four = bits.find('4') != std::string::npos;
  put_adapters(task,
               {.rank = "lora_r",
                .targets = "lora_targets",
                .usual_rank = 8,
                .usual_targets = targets,
                .tells_targets = true},
               {.bits = is_four ? 4 : (bits.empty() ? 0 : 8), .key = "quantize"});
}

/// "bf16-mixed", as it is by itself on chips that know it; "bf16-true" keeps nothing wider.
void put_litgpt_precision(const ImportTask& task) {
  const std::string told = task.in.word("precision").value_or("");
  const bool is_half = told.starts_with("16");
  const std::string_view format = told.starts_with("32") ? "fp32" : (is_half ? "fp16" : "bf16");
  task.into.training.add("precision", Value(format));
  if (told.empty()) {
    assume(task, "precision", "taken as bf16-mixed, its default where the chip knows it");
  } else if (told == "bf16-true") {
    put_all_bf16(task);
  }
}

/// Tuning takes one unless it is told more; "auto" is as many as there are.
std::optional<std::int64_t> litgpt_devices(const ImportTask& task, bool tunes) {
  Settings& in = task.in;
  const std::string written = in.word("devices").value_or(tunes ? "1" : "auto");
  const std::int64_t nodes = in.integer("num_nodes", 1, kMostDegree).value_or(1);
  const std::int64_t usual = 1;
  if (task.options.devices || written == "auto" || written == "-1") {
    return launched_devices(task);
  }
  const auto each =
      in.has("devices") ? in.integer("devices", 1, kMostDegree) : std::optional(usual);
  return each ? std::optional(*each * nodes) : std::nullopt;
}

/// With more devices than one everything is shared out; beginning anew, within nodes of 8.
void put_litgpt_sharding(const ImportTask& task, bool tunes, std::optional<std::int64_t> devices) {
  constexpr std::int64_t node = 8;
  Value& plan = task.into.plan;
  put(plan, "data", devices);
  const bool is_alone = devices == 1;
  plan.add("sharding", Value(is_alone ? "none" : "zero3"));
  plan.add("recompute", Value(tunes && !is_alone ? "full" : "none"));
  if (!tunes && devices.value_or(1) > node) {
    plan.add("shard", Value(node));
    assume(task, "devices", "the devices of a node share out, taken as 8 (HYBRID_SHARD)");
  }
}

void put_litgpt_batches(const ImportTask& task, bool tunes, std::optional<std::int64_t> devices) {
  const bool adapts = trains_adapters(task);
  const std::int64_t usual_micro = tunes && !adapts ? 1 : 4;
  const std::int64_t usual = tunes ? (adapts ? 128 : 16) : 512;
  const auto micro = count_or_default(task, "train.micro_batch_size", usual_micro);
  const auto global = count_or_default(task, "train.global_batch_size", usual);
  put_rank_batches(task,
                   "train.global_batch_size",
                   {.micro = micro, .accumulation = std::nullopt, .global = global},
                   devices);
  const bool sums_up = micro && global && devices.value_or(1) > 1 && *global > *micro * *devices;
  if (sums_up) {
    task.into.plan.add("reduce_every_pass", Value(false));
  }
}

}  // namespace

void import_litgpt(const ImportTask& task) {
  Settings& in = task.in;
  const bool tunes = in.has("checkpoint_dir");
  if (in.word("litgpt").value_or("").starts_with("finetune_adapter")) {
    in.fail("litgpt", "expected pretrain, finetune_full or finetune_lora: others are not modelled");
    return;
  }
  stand_in(task, tunes ? "fsdp" : "torchtitan-compiled", "LitGPT");
  put_litgpt_model(task);
  put_litgpt_precision(task);
  const auto devices = litgpt_devices(task, tunes);
  put_litgpt_sharding(task, tunes, devices);
  put_litgpt_batches(task, tunes, devices);
  put_optimizer(task, in.has("optimizer.class_path") ? "optimizer.class_path" : "optimizer");
  const auto sequence = in.integer("train.max_seq_length", 1, kMostTokens);
  if (sequence) {
    task.into.training.add("sequence", Value(*sequence));
  } else if (!tunes && task.into.model) {
    task.into.training.add("sequence", Value(task.into.model->max_sequence));
  }
  if (tunes) {
    assume(task, "data", "every sequence is taken as long as the longest");
  }
  if (trains_adapters(task)) {
    put_litgpt_adapters(task);
  } else if (in.has("quantize")) {
    in.leave_out("quantize", "of weights that are trained none is kept in fewer bits");
  }
  in.skip_known("litgpt");
}

}  // namespace titer
