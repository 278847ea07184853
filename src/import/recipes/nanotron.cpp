// nanotron's YAML: the model in HuggingFace's keys, a plan beside it.

#include <algorithm>
#include <array>

#include "import/hf/hf_parts.hpp"
#include "recipe_parts.hpp"
#include "titer/units/lists.hpp"

namespace titer {
namespace {

constexpr DegreeKeys kNanotronKeys = {.tensor = "parallelism.tp",
                                      .pipeline = "parallelism.pp",
                                      .context = "parallelism.context_parallel_size",
                                      .expert = "parallelism.expert_parallel_size",
                                      .devices = "parallelism.dp",
                                      .micro_batch = "tokens.micro_batch_size",
                                      .global_batch = "tokens.batch_accumulation_per_replica"};

/// In every layer or in those of a list, each with three matrices as the MLP that it stands for.
/// [nanotron/config/models_config.py, MoEConfig]
void put_nanotron_experts(const ImportTask& task, Transformer& model) {
  Settings& in = task.in;
  const auto key = [](std::string_view name) {
    return "model.model_config.moe_config." + std::string(name);
  };
  const auto count = in.integer(key("num_experts"), 1, kMostWidth);
  if (!count) {
    return;
  }
  Experts experts;
  experts.count = *count;
  experts.per_token =
      in.integer(key("top_k"), 1, *count).value_or(std::min<std::int64_t>(2, *count));
  experts.ffn = in.integer(key("moe_intermediate_size"), 1, kMostWidth).value_or(model.ffn);
  if (in.is_on(key("enable_shared_expert"))) {
    const auto shared = in.integer(key("shared_expert_intermediate_size"), 1, kMostWidth);
    experts.shared_ffn = shared.value_or(model.ffn);
    if (!shared) {
      assume(task, key("shared_expert_intermediate_size"), "taken as an MLP's");
    }
  }
  model.experts = experts;
  std::vector<LayerKind> layers(static_cast<std::size_t>(model.layers), model.kinds.front());
  const Value* const list = in.raw(key("layers"));
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const bool is_all = list == nullptr || list->items.empty() || list->items.front().integer < 0;
    layers[i].experts = is_all || std::ranges::any_of(list->items, [&](const Value& item) {
                          return item.integer == static_cast<std::int64_t>(i);
                        });
  }
  set_layers(model, layers);
}

/// What nanotron's classes have in another way than HuggingFace's of the same name: queries, keys
/// and values of Qwen2 have biases where they are asked for, and a window is one of all layers.
/// [nanotron/models/qwen.py; nanotron/config/models_config.py]
void put_nanotron_attention(const ImportTask& task, std::string_view type, Transformer& model) {
  if (type == "qwen2") {
    model.biases.qkv = task.in.is_on("model.model_config.attention_bias");
  }
  const auto window = task.in.integer("model.model_config.sliding_window_size", 1, kMostTokens);
  for (LayerKind& kind : model.kinds) {
    kind.window = window ? window : kind.window;
  }
}

/// Of the model's keys those that HuggingFace's class of that name has not: of no concern here, or
/// read by themselves.
constexpr std::array<std::string_view, 12> kOwnInNanotron = {"_attn_implementation",
                                                             "_fused_rms_norm",
                                                             "_fused_rotary_emb",
                                                             "_use_qkv_packed",
                                                             "attention_bias",
                                                             "flex_attention_mask",
                                                             "interleave_rope",
                                                             "no_rope_layer",
                                                             "rope_interleaved",
                                                             "sliding_window_size",
                                                             "z_loss_coefficient",
                                                             "z_loss_enabled"};

/// Keys of the model that HuggingFace's class of that name has not.
void leave_out_unheard(const ImportTask& task, const std::vector<std::string>& keys) {
  for (const std::string& key : keys) {
    const std::string path = "model.model_config." + key;
    const bool is_known = includes(kOwnInNanotron, key);
    const std::string word = task.in.written(path);
    if (key == "_use_doc_masking" && word == "true") {
      assume(task, path, "texts of a sequence are taken to attend to one another");
    } else if (!is_known && word != "false" && word != "null" && !word.empty()) {
      task.in.leave_out(path, "the class of that name has no such key");
    }
  }
}

/// The part of the document that a path names; nothing of it is left to be read.
void put_nanotron_model(const ImportTask& task) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 4> types = {
      {{"is_qwen2_config", "qwen2"},
       {"is_llama_config", "llama"},
       {"is_mamba_config", "mamba"},
       {"is_starcoder2_config", "starcoder2"}}};
  constexpr std::string_view section = "model.model_config.";
  Settings& in = task.in;
  Value config = Value::make_object();
  std::string_view type = "llama";
  for (const auto& [key, ours] : types) {
    if (in.is_on(std::string(section) + std::string(key))) {
      type = ours;
    }
  }
  config.add("model_type", Value(type));
  for (const std::string& key : in.keys()) {
    const Value* const value = key.starts_with(section) ? in.raw(key) : nullptr;
    const std::string name = value == nullptr ? "" : key.substr(section.size());
    const bool is_plain = !name.empty() && name.find('.') == std::string::npos &&
                          !name.starts_with("is_") && config.find(name) == nullptr;
    if (is_plain && value->kind != Value::Kind::object) {
      config.add(name, *value);
    }
  }
  leave_out_unheard(task, put_model_of_config(task, config));
  if (task.into.model) {
    put_nanotron_attention(task, type, *task.into.model);
    put_nanotron_experts(task, *task.into.model);
  }
}

void put_nanotron_plan(const ImportTask& task, const Degrees& degrees) {
  Value& plan = task.into.plan;
  put_degrees(plan, degrees);
  if (task.into.model && task.into.model->experts) {
    put(plan, "expert", degrees.expert);
    plan.add("expert_tensor", Value(1));
  }
  if (degrees.pipeline.value_or(1) > 1) {
    const std::string engine = task.in.word("parallelism.pp_engine").value_or("afab");
    plan.add("schedule", Value(engine == "1f1b" ? "1f1b" : "gpipe"));
  } else {
    static_cast<void>(task.in.word("parallelism.pp_engine"));
  }
  // ALL_REDUCE keeps every token on every rank.
  const std::string mode = task.in.word("parallelism.tp_mode").value_or("all_reduce");
  plan.add("sequence_parallel", Value(mode == "reduce_scatter"));
  if (task.in.is_on("parallelism.tp_linear_async_communication")) {
    plan.add("tensor_overlap", Value("bulk"));
  }
}

}  // namespace

void import_nanotron(const ImportTask& task) {
  Settings& in = task.in;
  stand_in(task, "megatron-core", "nanotron");
  put_nanotron_model(task);
  if (!in.is_sound()) {
    return;
  }
  Degrees degrees = read_degrees(task, kNanotronKeys);
  degrees.data = in.integer(kNanotronKeys.devices, 1, kMostDegree);
  check_degrees(task, degrees, kNanotronKeys);
  put_nanotron_plan(task, degrees);
  const auto stage = in.integer("optimizer.zero_stage", 0, 1).value_or(0);
  task.into.plan.add("sharding", Value(stage == 1 ? "zero1" : "none"));
  task.into.plan.add("recompute", Value(in.is_on("parallelism.recompute_layer") ? "full" : "none"));
  put_rank_batches(task,
                   kNanotronKeys.global_batch,
                   {.micro = in.integer(kNanotronKeys.micro_batch, 1),
                    .accumulation = in.integer(kNanotronKeys.global_batch, 1),
                    .global = std::nullopt},
                   degrees.data);
  put(task.into.training, "sequence", in.integer("tokens.sequence_length", 1, kMostTokens));
  const std::string_view type = precision_of(in.word("model.dtype").value_or("bfloat16"));
  task.into.training.add("precision", Value(type));
  const bool in_fp32 = in.is_on("optimizer.accumulate_grad_in_fp32");
  if (type == "bf16") {
    task.into.training.add("gradient_precision", Value(in_fp32 ? "fp32" : "bf16"));
  }
  put_optimizer(task, "optimizer.optimizer_factory.name");
  if (task.into.model) {
    task.into.model->vocabulary_multiple =
        in.integer("model.make_vocab_size_divisible_by", 1, kMostWidth).value_or(1);
  }
  in.skip_known("nanotron");
}

}  // namespace titer
