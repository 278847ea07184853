// YAML of Levanter (stanford-crfm/levanter): JAX, sharded by named axes.

#include <algorithm>
#include <array>
#include <string>

#include "import/formats/formats.hpp"
#include "import/hf/hf_parts.hpp"
#include "import/recipes/recipe_parts.hpp"
#include "titer/input/words.hpp"
#include "titer/units/lists.hpp"

namespace titer {
namespace {

/// What a type of model has where the file leaves it out.  [src/levanter/models/llama.py,
/// mistral.py, mixtral.py, qwen.py, gpt2.py]
struct LevanterModel {
  std::string_view type;
  std::string_view theirs;  // the class of HuggingFace's with the same layers
  std::int64_t sequence;
  std::int64_t hidden;
  std::int64_t ffn;
  std::int64_t layers;
  std::int64_t heads;
  std::int64_t kv_heads;
};
constexpr std::array<LevanterModel, 5> kLevanterModels = {
    {{"llama", "llama", 2048, 4096, 11008, 32, 32, 32},
     {"mistral", "mistral", 8192, 4096, 14336, 32, 32, 8},
     {"mixtral", "mixtral", 8192, 4096, 14336, 32, 32, 8},
     {"qwen", "qwen2", 2048, 4096, 11008, 32, 32, 32},
     {"gpt2", "gpt2", 512, 768, 3072, 12, 12, 12}}};

constexpr std::int64_t kLevanterBatch = 512;  // [src/levanter/trainer.py, TrainerConfig]

class Levanter {
 public:
  explicit Levanter(const ImportTask& task)
      : task_(task), in_(task.in), plan_(task.into.plan), training_(task.into.training) {}

  void read() {
    stand_in(task_, "maxtext", "Levanter");
    put_model();
    if (!in_.is_sound()) {
      return;
    }
    put_sharding();
    put_batches();
    put_precision();
    put_recompute();
    put_levanter_adapters();
    in_.skip_known("levanter");
  }

 private:
  std::int64_t width(std::string_view name, std::int64_t usual) {
    return in_.integer("model." + std::string(name), 1, kMostWidth).value_or(usual);
  }

  [[nodiscard]] const LevanterModel* known_model() {
    const std::string type = in_.word("model.type").value_or("gpt2");
    const auto* const found = first_with(kLevanterModels, type, &LevanterModel::type);
    if (found == nullptr) {
      in_.fail("model.type", "expected llama, mistral, mixtral, qwen or gpt2: others are not read");
      return nullptr;
    }
    return found;
  }

  void put_model() {
    const LevanterModel* const usual = known_model();
    if (usual == nullptr) {
      return;
    }
    const auto told =
        in_.integer(in_.has("train_seq_len") ? "train_seq_len" : "model.seq_len", 1, kMostTokens);
    training_.add("sequence", Value(told.value_or(usual->sequence)));
    const std::string hub = in_.text("initialize_from_hf").value_or("");
    if (in_.is_on("use_hf_model_config") && !hub.empty() && lower(hub) != "true") {
      put_hub_model(task_, "initialize_from_hf", hub);
    } else if (!task_.options.base && !task_.others.has_model) {
      put_widths(*usual);
    }
  }

  void put_widths(const LevanterModel& usual) {
    Value config = Value::make_object();
    config.add("model_type", Value(usual.theirs));
    const std::int64_t hidden = width("hidden_dim", usual.hidden);
    const std::int64_t layers = width("num_layers", usual.layers);
    const std::int64_t heads = width("num_heads", usual.heads);
    // Of data that another file has, a tokenizer, too, is there.
    const std::string tokenizer = tokenizer_named();
    const std::int64_t rows = read_vocabulary(task_, "model.vocab_size", lower(tokenizer));
    const std::int64_t longest =
        in_.integer("model.seq_len", 1, kMostTokens).value_or(usual.sequence);
    config.add("vocab_size", Value(rows));
    if (usual.theirs == "gpt2") {
      config.add("n_embd", Value(hidden));
      config.add("n_layer", Value(layers));
      config.add("n_head", Value(heads));
      config.add("n_positions", Value(longest));
      config.add("n_inner", Value(width("mlp_scale", 4) * hidden));
      config.add("resid_pdrop", Value(dropout()));
      take_only(task_, "model.use_bias", {"true"});
    } else {
      config.add("hidden_size", Value(hidden));
      config.add("num_hidden_layers", Value(layers));
      config.add("num_attention_heads", Value(heads));
      config.add("num_key_value_heads", Value(width("num_kv_heads", usual.kv_heads)));
      config.add("intermediate_size", Value(width("intermediate_dim", usual.ffn)));
      config.add("max_position_embeddings", Value(longest));
      config.add("tie_word_embeddings", Value(in_.is_on("model.tie_word_embeddings")));
      put_biases_and_experts(usual, config);
    }
    put_model_of_config(task_, config);
  }

  /// Data may be those of another file, as "!include data/web.yaml" names it; "" where it is not at
  /// hand.
  std::string tokenizer_named() {
    if (in_.has("data.tokenizer") || !in_.has("data")) {
      return in_.text("data.tokenizer").value_or("gpt2");
    }
    const Value* const data = in_.raw("data");
    const bool is_named = data != nullptr && data->kind == Value::Kind::text;
    const std::string file = is_named ? file_beside(task_, data->text) : "";
    if (file.empty()) {
      return is_named ? "" : "gpt2";
    }
    task_.into.assumed.push_back(task_.file + ": data: " + data->text +
                                 ": is read for its tokenizer");
    const Document included = parse_yaml(read_small_text(file), file);
    const Value* const named = included.at("tokenizer");
    return named == nullptr ? "gpt2" : named->text;
  }

  /// Of gpt2, whose three are 0 unless they are told.
  double dropout() {
    double most = 0;
    for (const std::string_view key :
         {"model.resid_pdrop", "model.embed_pdrop", "model.attn_pdrop"}) {
      most = std::max(most, in_.number(key).value_or(0));
    }
    return most;
  }

  void put_biases_and_experts(const LevanterModel& usual, Value& config) {
    if (usual.theirs == "mistral" || usual.theirs == "mixtral") {
      // Kept for checkpoints alone: layers are Llama's, whose mask is causal and no more.
      config.add("sliding_window", Value());
    }
    if (in_.is_on("model.use_bias")) {
      config.add("attention_bias", Value(true));
      config.add("mlp_bias", Value(true));
    }
    if (usual.theirs == "mixtral") {
      config.add("num_local_experts", Value(width("n_routed_experts", 8)));
      config.add("num_experts_per_tok", Value(width("num_experts_per_tok", 2)));
    }
  }

  /// Devices are in rows of as many as split a model; parameters over all rows, or those of a
  /// replica.
  void put_sharding() {
    constexpr std::string_view own = "trainer.model_axis_size";
    const std::string_view key = in_.has(own) ? own : "trainer.mesh.axes.model";
    const auto told = in_.integer(key, 1, kMostDegree);
    const bool is_open = in_.has(key) && !told;
    tensor_ = told.value_or(1);
    const std::int64_t copies =
        in_.integer("trainer.replica_dcn_axis_size", 1, kMostDegree).value_or(1) *
        in_.integer("trainer.replica_ici_axis_size", 1, kMostDegree).value_or(1);
    const auto devices = launched_devices(task_);
    if (devices && *devices % (tensor_ * copies) != 0) {
      in_.fail(key,
               "expected model and replica axes, " + std::to_string(tensor_ * copies) +
                   ", to divide the " + std::to_string(*devices) + " devices");
      return;
    }
    data_ = devices && !is_open ? std::optional(*devices / tensor_) : std::nullopt;
    plan_.add("tensor", is_open ? Value(kLeftOpen) : Value(tensor_));
    put(plan_, "data", data_);
    constexpr std::string_view axis = "trainer.fsdp_axis";
    const std::vector<std::string> keys = in_.keys();
    const bool is_whole = !in_.has(axis) && includes(keys, axis);
    plan_.add("sharding", Value(is_whole ? "none" : "zero3"));
    static_cast<void>(in_.raw(axis));
    if (!is_whole && data_ && copies > 1) {
      plan_.add("shard", Value(*data_ / copies));
    }
  }

  /// What each device goes through at a time is all of its share of a step unless it is told.
  void put_batches() {
    constexpr std::string_view key = "trainer.train_batch_size";
    const auto each = in_.integer("trainer.per_device_parallelism", -1);
    auto all = in_.integer(key, 1);
    if (!all && !in_.has(key)) {
      all = kLevanterBatch;
      assume(task_, key, "taken as 512, as TrainerConfig has it");
    }
    const bool is_told = each && *each > 0;
    const auto share = share_of_batch(task_, key, all, data_);
    if (!in_.is_sound()) {
      return;
    }
    put_rank_batches(task_,
                     key,
                     {.micro = is_told ? each : share, .accumulation = std::nullopt, .global = all},
                     data_);
    if (!is_told && !data_) {
      plan_.add("micro_batch", Value(kLeftOpen));
    }
  }

  /// "p=f32,c=bfloat16": of parameters, and of what is computed with them.
  void put_precision() {
    constexpr std::string_view key = "trainer.mp";
    const std::string policy = in_.word(key).value_or("f32");
    const auto of = [&](std::string_view part) {
      const std::size_t own = policy.find(std::string(part) + "=");
      const std::size_t at = own == std::string::npos ? policy.find("p=") : own;
      const std::size_t begin = at == std::string::npos ? 0 : at + 2;
      return policy.substr(begin, policy.find(',', begin) - begin);
    };
    const auto is_wide = [&](std::string_view part) {
      const std::string type = of(part);
      return type == "f32" || type == "float32" || type == "full";
    };
    const auto is_brain = [&](std::string_view part) { return of(part).find("bf") == 0; };
    const bool is_known = (is_wide("c") || is_brain("c")) && (is_wide("p") || is_brain("p"));
    if (!is_known) {
      in_.fail(key, "expected f32 or bfloat16 for parameters and computation: p=f32,c=bfloat16");
      return;
    }
    training_.add("precision", Value(is_brain("c") ? "bf16" : "fp32"));
    if (is_brain("p")) {
      put_all_bf16(task_);
    }
    put_optimizer(task_, "optimizer.type");
  }

  void put_recompute() {
    const std::string word = in_.word("model.gradient_checkpointing").value_or("true");
    plan_.add("recompute", Value(word == "false" ? "none" : "full"));
    if (word == "offload") {
      Value offload = Value::make_object();
      offload.add("activations", Value("host"));
      plan_.add("offload", std::move(offload));
    } else if (word != "true" && word != "false" && word != "full") {
      assume(task_, "model.gradient_checkpointing", "taken as full");
    }
    const bool is_off = !in_.flag("model.use_flash_attention").value_or(true);
    const bool is_plain = in_.word("model.attn_backend").value_or("default") == "vanilla";
    plan_.add("attention", Value(is_off || is_plain ? "materialised" : "flash"));
  }

  void put_levanter_adapters() {
    if (in_.has("lora.r") || in_.has("lora.target_modules")) {
      put_adapters(task_,
                   {.rank = "lora.r",
                    .targets = "lora.target_modules",
                    .usual_rank = 8,
                    .usual_targets = "all-linear"},
                   {});
      in_.skip("how the adapters are scaled", "lora.alpha lora.dropout");
    }
  }

  const ImportTask& task_;
  Settings& in_;
  Value& plan_;
  Value& training_;
  std::int64_t tensor_ = 1;
  std::optional<std::int64_t> data_;
};

}  // namespace

void import_levanter(const ImportTask& task) {
  if (task.in.has("beta") || task.in.has("reference_model_path")) {
    task.in.fail("beta", "is of training by preferences, whose steps have more passes");
    return;
  }
  Levanter(task).read();
}

}  // namespace titer
