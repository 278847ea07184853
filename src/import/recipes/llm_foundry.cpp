// YAML of llm-foundry, which Composer trains.

#include <algorithm>
#include <array>

#include "import/hf/hf_parts.hpp"
#include "recipe_parts.hpp"
#include "titer/units/lists.hpp"

namespace titer {
namespace {

constexpr std::string_view kFoundryOverrides = "model.config_overrides.";

/// Keys of config.json by which a model has another shape.
constexpr std::array<std::string_view, 9> kFoundryWidths = {"vocab_size",
                                                            "hidden_size",
                                                            "intermediate_size",
                                                            "num_hidden_layers",
                                                            "num_attention_heads",
                                                            "num_key_value_heads",
                                                            "head_dim",
                                                            "sliding_window",
                                                            "tie_word_embeddings"};

/// What the trainer's own class has by itself, unlike the models on the Hub: learned positions,
/// and biases.  [llmfoundry/models/mpt/configuration_mpt.py]
void put_mpt_style(const ImportTask& task, Transformer& model) {
  Settings& in = task.in;
  const bool alibi = in.is_on("model.attn_config.alibi");
  const bool rope = in.is_on("model.attn_config.rope");
  const bool learned = in.flag("model.learned_pos_emb").value_or(true);
  const bool has_bias = !in.is_on("model.no_bias");
  const bool has_rms = in.word("model.norm_type").value_or("").find("rms") != std::string::npos;
  model.positions = alibi     ? Positions::alibi
                    : rope    ? Positions::rotary
                    : learned ? Positions::learned
                              : Positions::none;
  model.position_rows = model.max_sequence;
  model.biases = {.qkv = has_bias, .output = has_bias, .mlp = has_bias, .head = false};
  model.norm = has_rms ? Norm::rmsnorm : has_bias ? Norm::layernorm : Norm::layernorm_without_bias;
}

/// MPT in the keys of its config.json on the Hub.
void put_mpt(const ImportTask& task) {
  constexpr std::array<std::string_view, 6> keys = {
      "d_model", "n_heads", "n_layers", "expansion_ratio", "vocab_size", "max_seq_len"};
  Settings& in = task.in;
  Value config = Value::make_object();
  config.add("model_type", Value("mpt"));
  for (const std::string_view key : keys) {
    if (const auto number = in.number("model." + std::string(key))) {
      config.add(std::string(key), Value(static_cast<std::int64_t>(*number)));
    }
  }
  const auto factor = in.number("model.ffn_config.expansion_ratio");
  if (factor && config.find("expansion_ratio") == nullptr) {
    config.add("expansion_ratio", Value(static_cast<std::int64_t>(*factor)));
  }
  if (in.integer("model.attn_config.sliding_window_size", -1).value_or(-1) > 0) {
    in.fail("model.attn_config.sliding_window_size", "expected -1: windows of MPT are not read");
  }
  Value attention = Value::make_object();
  attention.add("alibi", Value(in.is_on("model.attn_config.alibi")));
  if (const auto heads = in.integer("model.attn_config.kv_n_heads", 1, kMostWidth)) {
    attention.add("attn_type", Value("grouped_query_attention"));
    attention.add("kv_n_heads", Value(*heads));
  }
  config.add("attn_config", std::move(attention));
  if (const auto tied = in.flag("model.tie_word_embeddings")) {
    config.add("tie_word_embeddings", Value(*tied));
  }
  const std::string ffn = in.word("model.ffn_config.ffn_type").value_or("mptmlp");
  if (ffn != "mptmlp") {
    in.fail("model.ffn_config.ffn_type", "expected mptmlp: others are not read");
    return;
  }
  put_model_of_config(task, config);
  if (task.into.model) {
    put_mpt_style(task, *task.into.model);
  }
}

/// A model of the Hub in another shape; false where the file asks for none, or its shape is not
/// told here.
bool put_reshaped(const ImportTask& task, std::string_view key) {
  Settings& in = task.in;
  const std::vector<std::string> keys = in.keys();
  const auto is_asked = [&](std::string_view width) {
    return includes(keys, std::string(kFoundryOverrides).append(width));
  };
  const bool asks = std::ranges::any_of(kFoundryWidths, is_asked);
  const auto known = asks ? hub_model(in.text(key).value_or("")) : std::nullopt;
  if (!known || !known->shipped.empty() || task.options.base || task.others.has_model) {
    return false;
  }
  Value config = known->config;
  for (const std::string_view width : kFoundryWidths) {
    const std::string path = std::string(kFoundryOverrides).append(width);
    if (!is_asked(width)) {
      continue;
    }
    const auto number = in.integer(path, 0, 1'000'000'000);
    const Value* const raw = in.raw(path);
    const Value told = number ? Value(*number) : (raw != nullptr ? *raw : Value());
    if (Value* const there = config.find(width)) {
      *there = told;
    } else {
      config.add(std::string(width), told);
    }
  }
  put_model_of_config(task, config);
  assume(task,
         key,
         "widths as the config.json of that model on the Hub has them, but for config_overrides");
  return true;
}

/// LoRA as PEFT's configuration has it.
void put_foundry_adapters(const ImportTask& task) {
  Settings& in = task.in;
  const std::string type = in.word("model.peft_config.peft_type").value_or("");
  if (!in.has("model.peft_config.r") && type.empty()) {
    return;
  }
  if (type != "lora") {
    in.fail("model.peft_config.peft_type", "expected LORA: others are not modelled");
    return;
  }
  put_adapters(task,
               {.rank = "model.peft_config.r",
                .targets = "model.peft_config.target_modules",
                .usual_rank = 8,
                .usual_targets = "query value"},
               {});
  in.skip_known("llm-foundry-adapters");
}

void put_foundry_model(const ImportTask& task) {
  const std::string name = task.in.word("model.name").value_or("");
  if (name == "mpt_causal_lm" || name == "mosaic_gpt") {
    put_mpt(task);
  } else if (name == "hf_causal_lm") {
    constexpr std::string_view key = "model.pretrained_model_name_or_path";
    if (!put_reshaped(task, key)) {
      put_named_model(task, key);
    }
    task.in.skip_known("llm-foundry-hf");
  } else {
    task.in.fail("model.name", "expected mpt_causal_lm or hf_causal_lm: others are not read");
  }
}

void put_foundry_sharding(const ImportTask& task, std::optional<std::int64_t> data) {
  Settings& in = task.in;
  constexpr std::string_view key = "fsdp_config.sharding_strategy";
  const bool has_section = in.has(key) || in.has("fsdp_config.mixed_precision");
  const std::string strategy = in.word(key).value_or(has_section ? "full_shard" : "no_shard");
  const bool is_full = strategy == "full_shard" || strategy == "hybrid_shard";
  const bool is_half = strategy == "shard_grad_op" || strategy == "_hybrid_shard_zero2";
  if (!is_full && !is_half && strategy != "no_shard") {
    in.fail(key, "expected FULL_SHARD, SHARD_GRAD_OP, NO_SHARD or HYBRID_SHARD");
    return;
  }
  task.into.plan.add("sharding", Value(is_full ? "zero3" : (is_half ? "zero2" : "none")));
  if (strategy.find("hybrid") != std::string::npos) {
    constexpr std::int64_t node = 8;
    const std::int64_t shard = std::min(data.value_or(node), node);
    task.into.plan.add("shard", Value(shard));
    assume(task, key, "the devices of a node share out, taken as " + std::to_string(shard));
  }
  const bool recomputes = in.is_on("fsdp_config.activation_checkpointing");
  task.into.plan.add("recompute", Value(recomputes ? "full" : "none"));
  if (in.is_on("fsdp_config.activation_cpu_offload")) {
    Value offload = Value::make_object();
    offload.add("activations", Value("host"));
    task.into.plan.add("offload", std::move(offload));
  }
  // PURE reduces in the type of the products, DEFAULT in fp32.
  const std::string mixed = in.word("fsdp_config.mixed_precision").value_or("default");
  task.into.training.add("gradient_precision", Value(mixed == "pure" ? "bf16" : "fp32"));
}

/// Composer's, which change models and their passes, most of them by being named alone.
void leave_out_algorithms(Settings& in) {
  constexpr std::string_view section = "algorithms.";
  for (const std::string& key : in.keys()) {
    const std::string_view name =
        std::string_view(key).substr(std::min(section.size(), key.size()));
    if (key.starts_with(section) && !name.starts_with("gradient_clipping")) {
      in.leave_out(key, "an algorithm of Composer, none of which is modelled");
    }
  }
}

}  // namespace

void import_llm_foundry(const ImportTask& task) {
  Settings& in = task.in;
  task.into.stack = "llm-foundry";
  put_foundry_model(task);
  if (!in.is_sound()) {
    return;
  }
  task.into.training.add("precision",
                         Value(precision_of(in.word("precision").value_or("amp_bf16"))));
  const auto data = launched_devices(task);
  put_foundry_sharding(task, data);
  put(task.into.plan, "data", data);
  put_foundry_adapters(task);
  leave_out_algorithms(in);
  for (const std::string& key : in.keys()) {
    if (key.starts_with("compile_config.")) {
      remark_on_compiling(task, {key});
      break;
    }
  }
  constexpr std::string_view micro = "device_train_microbatch_size";
  const bool is_auto = in.word(micro).value_or("") == "auto";
  RankBatches batches{.micro = is_auto ? std::nullopt : in.integer(micro, 1),
                      .accumulation = std::nullopt,
                      .global = in.integer("global_train_batch_size", 1)};
  if (!batches.micro && data && batches.global) {
    batches.micro = std::max<std::int64_t>(1, *batches.global / *data);
    assume(task, micro, "taken as the whole batch of a device, " + std::to_string(*batches.micro));
  }
  const bool is_more = batches.micro && data && batches.global && *batches.global % *data == 0 &&
                       *batches.micro > *batches.global / *data;
  if (is_more) {
    batches.micro = *batches.global / *data;
    assume(task, micro, "taken as the batch of a device, " + std::to_string(*batches.micro));
  }
  put_rank_batches(task, "global_train_batch_size", batches, data);
  put(task.into.training, "sequence", in.integer("max_seq_len", 1, kMostTokens));
  if (in.word("model.attn_config.attn_impl").value_or("flash") == "torch") {
    task.into.plan.add("attention", Value("materialised"));
  }
  put_optimizer(task, "optimizer.name");
  in.skip_known("llm-foundry");
}

}  // namespace titer
