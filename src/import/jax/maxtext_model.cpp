// The model of MaxText's files.

#include <array>

#include "import/hf/hf_parts.hpp"
#include "import/recipes/recipe_parts.hpp"
#include "maxtext_parts.hpp"
#include "titer/units/lists.hpp"

namespace titer {
namespace {

constexpr std::int64_t kMostSequence = 1'048'576;  // of a model that tells none

/// Of configs/base.yml, the model that it has for "default".
struct BaseWidth {
  std::string_view key;
  std::string_view theirs;  // in config.json of a Llama
  std::int64_t value;
};
constexpr std::array<BaseWidth, 7> kBase = {{{"base_emb_dim", "hidden_size", 2048},
                                             {"base_num_query_heads", "num_attention_heads", 16},
                                             {"base_num_kv_heads", "num_key_value_heads", 16},
                                             {"base_mlp_dim", "intermediate_size", 7168},
                                             {"base_num_decoder_layers", "num_hidden_layers", 16},
                                             {"head_dim", "head_dim", 128},
                                             {"vocab_size", "vocab_size", 32000}}};
/// The same before there were groups of queries (base_num_heads), with an MLP of two matrices.
constexpr std::array<BaseWidth, 7> kOldBase = {
    {{"base_emb_dim", "hidden_size", 2048},
     {"base_num_heads", "num_attention_heads", 8},
     {"base_num_heads", "num_key_value_heads", 8},
     {"base_mlp_dim", "intermediate_size", 8192},
     {"base_num_decoder_layers", "num_hidden_layers", 16},
     {"head_dim", "head_dim", 256},
     {"vocab_size", "vocab_size", 32768}}};
/// Blocks with experts whose widths are told, as models of the Hub's classes.
struct ExpertBlock {
  std::string_view block;
  std::string_view type;
  std::string_view count;
  std::string_view width;
  std::string_view theirs;
};
constexpr std::array<ExpertBlock, 3> kExpertBlocks = {
    {{"mixtral", "mixtral", "num_local_experts", "base_mlp_dim", "intermediate_size"},
     {"gpt_oss", "gpt_oss", "num_local_experts", "base_moe_mlp_dim", "intermediate_size"},
     {"qwen3_moe", "qwen3_moe", "num_experts", "base_moe_mlp_dim", "moe_intermediate_size"}}};
constexpr std::int64_t kBaseExpertWidth = 7168;

class MaxTextModel {
 public:
  explicit MaxTextModel(const ImportTask& task) : task_(task), in_(task.in) {}

  void put() {
    const std::string name = in_.text("model_name").value_or("default");
    if (name != "default") {
      put_hub_model(task_, "model_name", name);
      return;
    }
    const auto experts = in_.integer("num_experts", 1, kMostWidth).value_or(1);
    const ExpertBlock* const block = experts > 1 ? expert_block() : nullptr;
    if (experts > 1 && block == nullptr) {
      in_.fail("num_experts",
               "expected 1, or a decoder_block of mixtral, gpt_oss or qwen3_moe, where model_name "
               "tells no model");
      return;
    }
    const auto scale = in_.integer("global_parameter_scale", 1).value_or(1);
    if (scale > 1) {
      in_.fail("global_parameter_scale", "expected 1: widths by a scale are not read");
      return;
    }
    Value config = Value::make_object();
    config.add("model_type", Value(block == nullptr ? "llama" : block->type));
    const bool is_old = in_.has("base_num_heads");
    const std::string taken = put_widths(is_old, config);
    config.add("max_position_embeddings", Value(kMostSequence));
    config.add("tie_word_embeddings", Value(in_.flag("logits_via_embedding").value_or(is_old)));
    if (block != nullptr) {
      put_experts(*block, experts, config);
    }
    put_model_of_config(task_, config);
    if (block == nullptr) {
      put_activation(is_old);
      take_only(task_, "decoder_block", {"llama2", "mistral", "default"});
    }
    if (!taken.empty()) {
      task_.into.assumed.push_back(task_.file + ": as configs/base.yml has them: " + taken);
    }
  }

 private:
  /// Names of those that the file leaves out.
  std::string put_widths(bool is_old, Value& config) {
    std::string taken;
    for (const BaseWidth& width : is_old ? kOldBase : kBase) {
      const auto value = in_.integer(width.key, 1, 1'000'000'000);
      config.add(std::string(width.theirs), Value(value.value_or(width.value)));
      if (!value) {
        taken.append(taken.empty() ? "" : ", ").append(width.key);
      }
    }
    return taken;
  }

  const ExpertBlock* expert_block() {
    const std::string name = in_.word("decoder_block").value_or("");
    return first_with(kExpertBlocks, name, &ExpertBlock::block);
  }

  void put_experts(const ExpertBlock& block, std::int64_t experts, Value& config) {
    const auto width = in_.integer(block.width, 1, 1'000'000'000).value_or(kBaseExpertWidth);
    if (Value* const dense = config.find(block.theirs)) {
      *dense = Value(width);
    } else {
      config.add(std::string(block.theirs), Value(width));
    }
    config.add(std::string(block.count), Value(experts));
    config.add("num_experts_per_tok",
               Value(in_.integer("num_experts_per_tok", 1, experts).value_or(1)));
    if (const auto window = in_.integer("sliding_window_size", 0, kMostSequence); window) {
      config.add("sliding_window", Value(*window));
    }
    in_.skip("what blocks of this kind have",
             "attention_bias attention_sink mlp_bias routed_bias norm_topk_prob "
             "use_qk_norm base_moe_mlp_dim base_mlp_dim");
  }

  /// ["silu", "linear"] are gated, and what a file leaves out since there are groups of queries.
  void put_activation(bool is_old) {
    constexpr std::string_view key = "mlp_activations";
    const std::vector<std::string> names = listed_words(task_, key);
    const bool is_gated = includes(names, "linear");
    task_.into.model->gated = names.empty() ? !is_old : is_gated;
    if (is_old && names.empty()) {
      assume(task_, key, "taken as relu, as configs/base.yml has it beside base_num_heads");
    }
  }

  const ImportTask& task_;
  Settings& in_;
};

}  // namespace

void put_maxtext_model(const ImportTask& task) { MaxTextModel(task).put(); }

}  // namespace titer
