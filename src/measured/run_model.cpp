// The model of a measured run.

#include <charconv>

#include "titer/input/words.hpp"
#include "titer/measured/run_scenario.hpp"
#include "titer/scenario/load_part.hpp"

namespace titer {
namespace {

/// "q_lora 1536,kv_lora 512,rope 64,nope 128,v 128"
std::optional<LatentAttention> latent_of(const std::string& text) {
  if (text.empty()) {
    return std::nullopt;
  }
  const auto part = [&](std::string_view name) {
    std::int64_t value = 0;
    const std::size_t at = ("," + text).find("," + std::string(name) + " ");
    if (at != std::string::npos) {
      const char* first = text.data() + at + name.size() + 1;
      std::from_chars(first, text.data() + text.size(), value);
    }
    return value;
  };
  return LatentAttention{.q_rank = part("q_lora"),
                         .kv_rank = part("kv_lora"),
                         .nope_dim = part("nope"),
                         .rope_dim = part("rope"),
                         .value_dim = part("v")};
}

/// What dimensions do not tell: a GPT's, or where the MLP is gated a Llama's.
void set_parts(bool gated, Transformer& model) {
  model.gated = gated;
  model.norm = gated ? Norm::rmsnorm : Norm::layernorm;
  model.biases = {.qkv = !gated, .output = !gated, .mlp = !gated};
  model.dropout = !gated;
  model.positions = gated ? Positions::rotary : Positions::learned;
  model.tied_embeddings = !gated;
}

/// Every other layer of a window, the first one with it.
void alternate_windows(std::int64_t window, Transformer& model) {
  LayerKind windowed;
  windowed.window = window;
  model.kinds = {windowed, LayerKind{}};
  for (std::int64_t layer = 0; layer < model.layers; ++layer) {
    model.order.push_back({.kind = static_cast<int>(layer % 2), .count = 1});
  }
}

/// Models whose public configurations differ from set_parts().
void set_named_parts(const std::string& name, Transformer& model) {
  const auto is = [&](std::string_view word) { return name.find(word) != std::string::npos; };
  if (is("mpt")) {  // no biases, ALiBi, no dropout
    model.biases = {};
    model.dropout = false;
    model.positions = Positions::alibi;
  } else if (is("bert")) {
    model.causal = false;
  } else if (is("nemotron")) {  // squared ReLU
    model.biases = {};
    model.dropout = false;
    model.positions = Positions::rotary;
    model.tied_embeddings = false;
  } else if (is("qwen3")) {
    model.qk_norm = true;
  } else if (is("gpt oss") || is("gpt-oss")) {
    model.biases = {.qkv = true, .output = true, .mlp = true};
    model.clamped = true;
    model.sinks = true;
    alternate_windows(128, model);
  }
}

/// Benchmarks force the balance of their experts, unless it is known how far they are from it; some
/// drop tokens.
void set_routing(const RunRow& row, const RunHabits& habits, Transformer& model) {
  model.experts->routing.shape = RoutingShape::balanced;
  if (habits.routing_exponent) {
    model.experts->routing.shape = RoutingShape::zipf;
    model.experts->routing.exponent = *habits.routing_exponent;
  }
  const std::string name = lower(row.text("model_name"));
  if (name.find("tokendrop") != std::string::npos || row.says("notes", "drop-and-pad")) {
    model.experts->routing.capacity_factor = 1.0;
    model.experts->routing.padded = true;
  }
  if (name.find("deepseekv3") != std::string::npos ||
      name.find("deepseek-v3") != std::string::npos) {
    model.experts->routing.groups = 8;
    model.experts->routing.groups_chosen = 4;
  }
}

void add_experts(const RunRow& row, const RunHabits& habits, Transformer& model) {
  model.experts = Experts{.count = row.whole("n_experts", 0),
                          .per_token = row.whole("top_k", 1),
                          .ffn = row.whole("expert_ffn", model.ffn),
                          .shared_ffn = row.whole("shared_expert_ffn", 0)};
  set_routing(row, habits, model);
  const std::int64_t dense = row.whole("dense_layers", 0);
  for (LayerKind& kind : model.kinds) {
    kind.experts = true;
  }
  if (dense > 0) {
    LayerKind without = model.kinds.front();
    without.experts = false;
    model.kinds = {without, model.kinds.front()};
    model.order = {{.kind = 0, .count = dense}, {.kind = 1, .count = model.layers - dense}};
  }
}

/// Of a row that names a model and has none of its dimensions.
Transformer named_model(const RunRow& row, const RunHabits& habits, bool flash) {
  const Model model = load_model(Value(habits.model));
  const Transformer* transformer = model.if_transformer();
  if (transformer == nullptr) {
    throw InputError(habits.model + " is no transformer");
  }
  Transformer named = *transformer;
  named.attention = flash ? AttentionKernel::flash : AttentionKernel::materialised;
  named.dropout = habits.dropout.value_or(named.dropout);
  named.predicted_tokens = habits.predicted_tokens.value_or(named.predicted_tokens);
  if (named.experts) {
    set_routing(row, habits, named);
  }
  return named;
}

}  // namespace

bool is_named(const RunRow& row, const RunHabits& habits) {
  return !habits.model.empty() && row.whole("layers", 0) <= 0;
}

Transformer run_model(const RunRow& row, const RunHabits& habits, const OpenModel& open) {
  if (is_named(row, habits)) {
    return named_model(row, habits, open.flash);
  }
  for (const std::string_view column : {"layers", "hidden", "heads", "ffn"}) {
    if (row.whole(column, 0) <= 0) {
      throw InputError(std::string(column) + " not stated");
    }
  }
  if (row.says("model_name", "lora") && !habits.adapters) {
    throw InputError("rank and place of its adapters not stated");
  }
  Transformer model{
      .name = row.text("model_name"),
      .title = row.text("model_name"),
      .source = row.text("source"),
      .layers = row.whole("layers", 0),
      .hidden = row.whole("hidden", 0),
      .heads = row.whole("heads", 0),
      .kv_heads = row.whole("kv_heads", row.whole("heads", 0)),
      .head_dim = row.whole("head_dim", row.whole("hidden", 0) / row.whole("heads", 1)),
      .ffn = row.whole("ffn", 0)};
  set_parts(row.whole("ffn_gated", 0) == 1, model);
  model.vocabulary = open.vocabulary;
  model.vocabulary_multiple = habits.vocabulary_multiple.value_or(128);
  model.max_sequence = open.sequence;
  model.position_rows = model.positions == Positions::learned ? model.max_sequence : 0;
  model.attention = open.flash ? AttentionKernel::flash : AttentionKernel::materialised;
  model.latent = latent_of(row.text("mla"));
  set_named_parts(lower(row.text("model_name")), model);
  model.dropout = habits.dropout.value_or(model.dropout);
  model.parallel = habits.parallel.value_or(false);
  model.predicted_tokens = habits.predicted_tokens.value_or(0);
  if (row.has("n_experts")) {
    add_experts(row, habits, model);
  }
  return model;
}

}  // namespace titer
