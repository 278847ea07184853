// YAML of GPT-NeoX. What a file leaves out is what its arguments' classes take.

#include "import/hf/hf_parts.hpp"
#include "import_parts.hpp"

namespace titer {
namespace {

constexpr DegreeKeys kNeoxKeys = {.tensor = "model_parallel_size",
                                  .pipeline = "pipe_parallel_size",
                                  .context = "context_parallel_size",
                                  .expert = "moe_expert_parallel_size",
                                  .devices = "global_num_gpus",
                                  .micro_batch = "train_micro_batch_size_per_gpu",
                                  .global_batch = "train_batch_size"};

class NeoxModel {
 public:
  explicit NeoxModel(const ImportTask& task) : task_(task), in_(task.in) {}

  Transformer read() {
    read_shape();
    read_mlp();
    read_style();
    read_attention();
    read_tables();
    read_experts();
    return std::move(model_);
  }

 private:
  void read_shape() {
    model_.layers = in_.required("num_layers", 1, 100'000);
    model_.hidden = in_.required("hidden_size", 1, kMostWidth);
    model_.heads = in_.required("num_attention_heads", 1, kMostWidth);
    model_.kv_heads = in_.integer("num_kv_heads", 1, kMostWidth).value_or(model_.heads);
    if (model_.hidden % model_.heads != 0) {
      in_.fail("num_attention_heads",
               "expected a divisor of the hidden size " + std::to_string(model_.hidden));
    }
    model_.head_dim = std::max<std::int64_t>(1, model_.hidden / model_.heads);
    if (model_.heads % model_.kv_heads != 0) {
      in_.fail("num_kv_heads",
               "expected a divisor of the " + std::to_string(model_.heads) + " attention heads");
    }
  }

  /// A gated MLP gets two thirds of the width, as many parameters as one that is not gated.
  void read_mlp() {
    const std::string activation = in_.word("activation").value_or("gelu");
    model_.gated = activation.find("glu") != std::string::npos;
    const auto factor = in_.number("expansion_factor");
    const auto written = in_.integer("intermediate_size", 1, 10 * kMostWidth);
    std::int64_t width = written.value_or(
        factor ? static_cast<std::int64_t>(*factor * static_cast<double>(model_.hidden))
               : 4 * model_.hidden);
    width = model_.gated ? width * 2 / 3 / 2 : width;
    const std::int64_t multiple = in_.integer("mlp_multiple_of", 1, kMostWidth).value_or(1);
    model_.ffn = std::max<std::int64_t>(1, (width + multiple - 1) / multiple * multiple);
    if (model_.ffn > kMostWidth) {
      in_.fail("intermediate_size", "expected at most 1000000");
    }
    if (in_.word("mlp_type").value_or("regular") == "llama") {
      read_llama_mlp(written);
    }
  }

  /// The older type: three matrices without biases, whatever the activation is called, of the width
  /// that is written. [megatron/model/transformer.py, LLaMAParallelMLP]
  void read_llama_mlp(std::optional<std::int64_t> written) {
    const std::int64_t multiple = in_.integer("mlp_multiple_of", 1, kMostWidth).value_or(256);
    const std::int64_t width = 2 * model_.hidden * 4 / 3;
    model_.gated = true;
    model_.ffn = written.value_or((width + multiple - 1) / multiple * multiple);
    is_llama_ = true;
  }

  void read_style() {
    const std::string norm = in_.word("norm").value_or("layernorm");
    if (norm == "rmsnorm") {
      model_.norm = Norm::rmsnorm;
    } else if (norm != "layernorm" && norm != "te_layernorm") {
      in_.fail("norm", "expected layernorm or rmsnorm");
    }
    if (!in_.flag("use_bias_in_norms").value_or(true) && model_.norm == Norm::layernorm) {
      assume(task_, "use_bias_in_norms", "a layernorm here has its biases");
    }
    const bool attention = in_.flag("use_bias_in_attn_linear").value_or(true);
    const bool mlp = in_.flag("use_bias_in_mlp").value_or(true) && !is_llama_;
    model_.biases = {.qkv = attention, .output = attention, .mlp = mlp, .head = false};
    const double hidden = in_.number("hidden_dropout").value_or(0);
    model_.dropout = in_.number("attention_dropout").value_or(0) > 0 || hidden > 0;
    model_.parallel = in_.is_on("gpt_j_residual");
    model_.norms = model_.parallel && in_.is_on("gpt_j_tied") ? 1 : 2;
    model_.qk_norm = in_.is_on("use_qk_layernorm");
    const std::string positions = in_.word("pos_emb").value_or("learned");
    if (positions == "rotary") {
      model_.positions = Positions::rotary;
    } else if (positions == "alibi" || positions == "none") {
      model_.positions = positions == "alibi" ? Positions::alibi : Positions::none;
    } else if (positions != "learned") {
      in_.fail("pos_emb", "expected learned, rotary, alibi or none");
    }
  }

  /// [[["flash"], 80]]: kinds of attention, and of how many layers in turn.
  void read_attention() {
    const Value* kinds = in_.raw("attention_config");
    const std::string text = kinds == nullptr ? "" : to_json(*kinds, 0);
    const bool flash = text.find("flash") != std::string::npos;
    model_.attention = flash ? AttentionKernel::flash : AttentionKernel::materialised;
    const bool other =
        text.find("sparse") != std::string::npos || text.find("local") != std::string::npos ||
        text.find("mamba") != std::string::npos || text.find("rwkv") != std::string::npos ||
        text.find("bigbird") != std::string::npos || text.find("mlp") != std::string::npos ||
        text.find("longformer") != std::string::npos;
    if (other) {
      in_.fail("attention_config", "expected global or flash: others are not modelled");
    }
    if (const auto window = in_.integer("sliding_window_width", 1, kMostTokens)) {
      set_layers(model_,
                 std::vector<LayerKind>(static_cast<std::size_t>(model_.layers),
                                        LayerKind{.window = *window}));
    }
  }

  void read_tables() {
    model_.tied_embeddings = !in_.is_on("no_weight_tying");
    std::string tokenizer = in_.word("vocab_file").value_or("");
    tokenizer += " " + in_.word("tokenizer_type").value_or("");
    model_.vocabulary =
        read_vocabulary(task_, "padded_vocab_size", tokenizer == " " ? "" : tokenizer);
    model_.vocabulary_multiple =
        in_.integer("make_vocab_size_divisible_by", 1, kMostWidth).value_or(128);
    model_.max_sequence = in_.required("max_position_embeddings", 1, kMostTokens);
    model_.position_rows = model_.max_sequence;
    const auto sequence = in_.integer("seq_length", 1, kMostTokens);
    if (sequence && *sequence > model_.max_sequence) {
      in_.fail("seq_length",
               "expected at most the " + std::to_string(model_.max_sequence) +
                   " positions of the model");
    }
  }

  /// In every second layer unless told otherwise, the first of all among them.
  /// [megatron/neox_arguments/neox_args.py, NeoXArgsModel]
  void read_experts() {
    in_.rename("num_experts", "moe_num_experts");
    in_.rename("expert_interval", "moe_expert_interval");
    const std::int64_t count = in_.integer("moe_num_experts", 1, kMostWidth).value_or(1);
    const std::int64_t every = in_.integer("moe_expert_interval", 1, kMostLayers).value_or(2);
    const auto chosen = in_.integer("moe_top_k", 1, kMostWidth);
    if (count == 1) {
      in_.skip(kSwitchedOff, "moe_* enable_expert_tensor_parallelism");
      return;
    }
    Experts experts;
    experts.count = count;
    experts.per_token = chosen.value_or(1);
    experts.ffn = model_.ffn;
    if (experts.per_token > count) {
      in_.fail("moe_top_k", "expected at most the " + std::to_string(count) + " experts");
    }
    if (!in_.has("moe_expert_interval")) {
      assume(task_, "moe_expert_interval", "taken as 2: every second layer has experts");
    }
    model_.experts = experts;
    std::vector<LayerKind> layers(static_cast<std::size_t>(model_.layers), model_.kinds.front());
    for (std::size_t i = 0; i < layers.size(); ++i) {
      layers[i].experts = static_cast<std::int64_t>(i) % every == 0;
    }
    set_layers(model_, layers);
    in_.skip("how tokens are routed and weighed",
             "moe_loss_coeff moe_aux_loss_coeff moe_z_loss_coeff moe_jitter_eps "
             "moe_token_dropping moe_train_capacity_factor "
             "moe_eval_capacity_factor moe_min_capacity moe_type moe_lbl_in_fp32 "
             "moe_glu moe_weight_parallelism");
  }

  const ImportTask& task_;
  Settings& in_;
  Transformer model_;
  bool is_llama_ = false;  // of the older type of its MLP
};

void read_recompute(const ImportTask& task, std::int64_t tensor) {
  Settings& in = task.in;
  Value& plan = task.into.plan;
  const bool recomputes = in.is_on("checkpoint_activations");
  plan.add("recompute", Value(recomputes ? "full" : "none"));
  if (const auto every = in.integer("checkpoint_num_layers", 1); recomputes && every > 1) {
    put(plan, "recompute_every", every);
  }
  if (!recomputes) {
    in.skip(kSwitchedOff, "checkpoint_num_layers partition_activations");
  } else if (in.is_on("partition_activations") && tensor > 1) {
    plan.add("distribute_saved_activations", Value(true));
  }
}

void read_plan(const ImportTask& task) {
  Settings& in = task.in;
  Degrees degrees;
  const auto degree = [&](std::string_view key) {
    // A pipeline of 0 stages stands for none.
    const auto found = in.integer(key, 0, kMostDegree);
    return found || !in.has(key) ? std::optional(std::max<std::int64_t>(1, found.value_or(1)))
                                 : std::nullopt;
  };
  degrees.tensor = degree(kNeoxKeys.tensor);
  degrees.pipeline = degree(kNeoxKeys.pipeline);
  degrees.context = degree(kNeoxKeys.context);
  degrees.devices = in.integer(kNeoxKeys.devices, 1, kMostDegree);
  if (task.options.devices || !degrees.devices) {
    degrees.devices = launched_devices(task);
  }
  Value& plan = task.into.plan;
  put_degree(task, "pipeline", kNeoxKeys.pipeline, degrees.pipeline);
  put_degree(task, "tensor", kNeoxKeys.tensor, degrees.tensor);
  put_degree(task, "context", kNeoxKeys.context, degrees.context);
  if (task.into.model->experts) {
    degrees.expert = degree(kNeoxKeys.expert);
    degrees.expert_tensor = 1;
    put_degree(task, "expert", kNeoxKeys.expert, degrees.expert);
    plan.add("expert_tensor", Value(1));
  }
  check_degrees(task, degrees, kNeoxKeys);
  put(plan, "data", degrees.data);
  if (degrees.pipeline.value_or(1) > 1) {
    plan.add("schedule", Value("1f1b"));
  }
  const Transformer& model = *task.into.model;
  if (model.heads % degrees.tensor.value_or(1) != 0) {
    in.fail(kNeoxKeys.tensor,
            "expected a divisor of the " + std::to_string(model.heads) + " attention heads");
  }
  if (model.layers < degrees.pipeline.value_or(1)) {  // DeepSpeed shares out any number of them
    in.fail(kNeoxKeys.pipeline, "expected at most the " + std::to_string(model.layers) + " layers");
  }
  plan.add("sequence_parallel", Value(in.is_on("sequence_parallel")));
  read_recompute(task, degrees.tensor.value_or(2));
  const auto steps = in.integer("gradient_accumulation_steps", 1);
  const auto micro = in.integer(kNeoxKeys.micro_batch, 1);
  if (steps && micro && degrees.data && !in.has(kNeoxKeys.global_batch)) {
    put(plan, "micro_batch", micro);
    task.into.training.add("global_batch", Value(*steps * *micro * *degrees.data));
  } else {
    put_batches(task, degrees, kNeoxKeys);
  }
  put(task.into.training, "sequence", in.integer("seq_length", 1));
}

/// The section of fp16 may be of another type, and counts before a word.
/// [megatron/neox_arguments/arguments.py, "derive precision"]
void read_neox_precision(const ImportTask& task) {
  Settings& in = task.in;
  const bool is_of_section = in.word("fp16.type") == "bfloat16";
  if (is_of_section) {
    task.into.training.add("precision", Value("bf16"));
  }
  const auto word = in.word("precision");
  if (!word || is_of_section || in.has("fp16.enabled")) {
    return;
  }
  if (*word != "fp16" && *word != "bfloat16" && *word != "fp32") {
    in.fail("precision", "expected fp16, bfloat16 or fp32");
  }
  task.into.training.add("precision", Value(*word == "bfloat16" ? "bf16" : *word));
}

}  // namespace

void import_neox(const ImportTask& task) {
  Settings& in = task.in;
  task.into.stack = "deepspeed";
  task.into.model = NeoxModel(task).read();
  if (!in.is_sound()) {
    return;
  }
  read_plan(task);
  read_neox_precision(task);
  deepspeed_settings(task);
  if (task.into.training.find("precision") == nullptr) {
    assume(task, "precision", "taken as fp32, as GPT-NeoX trains where nothing tells it");
    task.into.training.add("precision", Value("fp32"));
  }
  if (in.is_on("fp32_allreduce")) {  // DeepSpeed's communication_data_type
    if (task.into.training.find("gradient_precision") == nullptr) {
      task.into.training.add("gradient_precision", Value("fp32"));
    }
  }
  // Nothing is in FP8 without it, whatever format is told.  [megatron/model/transformer.py]
  if (in.is_on("te_fp8_mha")) {
    in.fail("te_fp8_mha", "which products are in FP8 is not read");
  }
  in.skip(kSwitchedOff, "te_fp8_*");
  in.skip_known("neox");
  in.skip_usual("neox");
}

}  // namespace titer
