// Arguments of AWS's example of FSDP (awsome-distributed-training, pytorch/FSDP): a model of
// HuggingFace's by its widths, one micro-batch on each rank. What is left out is as
// model_utils/arguments.py has it.

#include <array>

#include "hf_parts.hpp"
#include "import/recipes/recipe_parts.hpp"

namespace titer {
namespace {

/// The class of model_utils/train_utils.py, get_model_config, as its config.json calls it.
std::string_view type_of_model(const std::string& named) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 5> types = {
      {{"gpt_neox", "gpt_neox"},
       {"llama_v2", "llama"},
       {"llama_v3", "llama"},
       {"mixtral", "mixtral"},
       {"mistral", "mistral"}}};
  for (const auto& [part, type] : types) {
    if (named.find(part) != std::string::npos) {
      return type;
    }
  }
  return "";
}

void put_widths(const ImportTask& task) {
  Settings& in = task.in;
  const std::string_view type = type_of_model(in.word("model_type").value_or("gpt_neox"));
  if (type.empty()) {
    in.fail("model_type", "expected gpt_neox, llama_v2, llama_v3, mixtral or mistral");
    return;
  }
  const auto width = [&](std::string_view key, std::int64_t usual, std::int64_t most) {
    return in.integer(key, 1, most).value_or(usual);
  };
  const std::int64_t hidden = width("hidden_width", 768, kMostWidth);
  const std::int64_t ffn = width("intermediate_size", 11008, kMostWidth);
  const std::int64_t heads = width("num_heads", 12, kMostWidth);
  const std::int64_t kv_heads = width("num_key_value_heads", heads, kMostWidth);
  const bool is_neox = type == "gpt_neox";
  Value config = Value::make_object();
  config.add("model_type", Value(type));
  config.add("hidden_size", Value(hidden));
  config.add("intermediate_size", Value(is_neox ? 4 * hidden : ffn));
  config.add("num_hidden_layers", Value(width("num_layers", 12, kMostLayers)));
  config.add("num_attention_heads", Value(heads));
  if (!is_neox) {
    config.add("num_key_value_heads", Value(kv_heads));
  }
  config.add("vocab_size", Value(width("vocab_size", 50432, 1'000'000'000)));
  config.add("max_position_embeddings", Value(width("max_context_width", 2048, kMostTokens)));
  config.add("tie_word_embeddings", Value(false));
  if (type == "mixtral") {
    config.add("num_local_experts", Value(8));
    config.add("num_experts_per_tok", Value(2));
  }
  put_model_of_config(task, config);
  for (const std::string_view dropout : {"resid_pdrop", "embd_pdrop", "attn_pdrop"}) {
    static_cast<void>(in.number(dropout));  // that none of these classes is told
  }
}

void put_example_sharding(const ImportTask& task, std::optional<std::int64_t> data) {
  Settings& in = task.in;
  Value& plan = task.into.plan;
  const std::string strategy = in.word("sharding_strategy").value_or("full");
  if (strategy != "full" && strategy != "hybrid") {
    in.fail("sharding_strategy", "expected full or hybrid");
  }
  plan.add("sharding", Value("zero3"));
  if (strategy == "hybrid") {
    constexpr std::int64_t node = 8;
    const std::int64_t each = in.integer("nproc_per_node", 1, kMostDegree).value_or(node);
    plan.add("shard", Value(std::min(data.value_or(each), each)));
  }
  Value offload = in.is_on("cpu_offload") ? state_on_host() : Value::make_object();
  if (in.is_on("offload_activations")) {
    offload.add("activations", Value("host"));
  }
  if (!offload.members.empty()) {
    plan.add("offload", std::move(offload));
  }
  plan.add("recompute",
           Value(in.flag("activation_checkpointing").value_or(true) ? "full" : "none"));
}

}  // namespace

void import_fsdp_example(const ImportTask& task) {
  Settings& in = task.in;
  task.into.stack = "fsdp";
  const auto sequence = in.integer("max_context_width", 1, kMostTokens);
  put_widths(task);
  if (!in.is_sound()) {
    return;
  }
  const auto data = launched_devices(task);
  put(task.into.plan, "data", data);
  put_example_sharding(task, data);
  put_rank_batches(task,
                   "train_batch_size",
                   {.micro = in.integer("train_batch_size", 1).value_or(2),
                    .accumulation = std::nullopt,
                    .global = std::nullopt},
                   data);
  task.into.training.add("sequence", Value(sequence.value_or(2048)));
  const bool bf16 = in.flag("bf16").value_or(true);
  task.into.training.add("precision", Value(bf16 ? "bf16" : "fp32"));
  task.into.training.add("gradient_precision", Value(bf16 ? "bf16" : "fp32"));
  if (!in.has("vocab_size")) {
    assume(task, "vocab_size", "taken as 50432, its default");
  }
  in.skip_known("aws-fsdp-example");
}

}  // namespace titer
