// The model of a measured run, of its dimensions or of the model that is known by name.

#include <algorithm>
#include <array>
#include <map>
#include <regex>
#include <string>

#include "titer/input/words.hpp"
#include "titer/measured/run_scenario.hpp"

namespace titer {
namespace {

/// "q_lora 1536,kv_lora 512,rope 64,nope 128,v 128", "kv_lora_rank=512; qk_rope_head_dim=64; …".
/// Queries may have no rank of their own. Of "yes" as the shipped models of the row's widths have
/// them. Throws InputError where another is missing.
std::optional<LatentAttention> latent_of(const RunRow& row, const RunHabits& habits) {
  const std::string text = lower(row.text("mla"));
  if (text == "0" || text == "no" || text == "false") {
    return std::nullopt;
  }
  const bool states_widths = text.find_first_of("23456789") != std::string::npos;
  if (text.empty() || (!states_widths && habits.widths.latent)) {
    return habits.widths.latent;
  }
  static const std::regex stated(
      R"(\b(?:qk_)?(q_lora|kv_lora|nope|rope|v)(?:_rank|_head_dim|_dim)?[ =:]{1,3}(\d{1,6})\b)");
  LatentAttention latent;
  const std::map<std::string, std::int64_t*> parts = {{"q_lora", &latent.q_rank},
                                                      {"kv_lora", &latent.kv_rank},
                                                      {"nope", &latent.nope_dim},
                                                      {"rope", &latent.rope_dim},
                                                      {"v", &latent.value_dim}};
  const std::sregex_iterator end;
  for (std::sregex_iterator part(text.begin(), text.end(), stated); part != end; ++part) {
    *parts.at((*part)[1]) = std::stoll((*part)[2]);
  }
  for (const auto& [name, width] : parts) {
    if (*width <= 0 && name != "q_lora") {
      throw InputError("mla \"" + row.text("mla") + "\" does not state " + name);
    }
  }
  return latent;
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

/// Layers of a window, but for every n-th.
void set_windows(std::int64_t window, std::int64_t every, Transformer& model) {
  LayerKind windowed;
  windowed.window = window;
  model.kinds = {windowed, LayerKind{}};
  for (std::int64_t layer = 1; layer <= model.layers; ++layer) {
    model.order.push_back({.kind = layer % every == 0 ? 1 : 0, .count = 1});
  }
}

void set_gpt_oss(Transformer& model) {
  model.biases = {.qkv = true, .output = true, .mlp = true};
  model.clamped = true;
  model.sinks = true;
  set_windows(128, 2, model);
}

void set_gemma(const std::string& name, Transformer& model) {
  static const std::regex release("gemma[ _-]?([23]?)(?:[ _-]|$)");
  std::smatch match;
  if (!std::regex_search(name, match, release)) {
    return;
  }
  model.tied_embeddings = true;
  if (match[1].length() == 0) {
    return;
  }
  const bool third = match[1] == "3";
  model.norms = 4;
  model.qk_norm = third;
  set_windows(third ? 1024 : 4096, third ? 6 : 2, model);
}

/// Norms behind each part, and of queries and keys; of the third release three layers of four have
/// a window.
void set_olmo(bool windowed, Transformer& model) {
  model.norm_place = NormPlace::output;
  model.qk_norm = true;
  model.qk_norm_of = QkNorm::all_heads;
  if (windowed) {
    set_windows(4096, 4, model);
  }
}

/// As Llama's, whose MLPs are gated.
void set_llama(Transformer& model) {
  const bool gated = model.gated;
  set_parts(true, model);
  model.gated = gated;
}

/// Attention beside the MLP, rotary positions, no dropout and no biases but those of `biased`.
void set_parallel(bool biased, int norms, Transformer& model) {
  model.parallel = true;
  model.norms = norms;
  model.biases = {.qkv = biased, .output = biased, .mlp = biased};
  model.dropout = false;
  model.positions = Positions::rotary;
}

/// Models whose public configurations differ from set_parts().
struct NamedParts {
  std::string_view word;  // of the model's name, as RunRow::plain() has it
  void (*set)(const std::string& name, Transformer& model);
};
constexpr std::array<NamedParts, 17> kNamedParts = {
    {{"mpt",  // no biases, ALiBi, no dropout
      [](const std::string&, Transformer& model) {
        model.biases = {};
        model.dropout = false;
        model.positions = Positions::alibi;
      }},
     {"bert", [](const std::string&, Transformer& model) { model.causal = false; }},
     {"nemotron",  // squared ReLU
      [](const std::string&, Transformer& model) {
        model.biases = {};
        model.dropout = false;
        model.positions = Positions::rotary;
        model.tied_embeddings = false;
      }},
     {"qwen3", [](const std::string&, Transformer& model) { model.qk_norm = true; }},
     {"qwen2", [](const std::string&, Transformer& model) { model.biases.qkv = true; }},
     {"qwen1.5", [](const std::string&, Transformer& model) { model.biases.qkv = true; }},
     {"gptoss", [](const std::string&, Transformer& model) { set_gpt_oss(model); }},
     {"gemma", set_gemma},
     {"olmo2", [](const std::string&, Transformer& model) { set_olmo(false, model); }},
     {"olmo3", [](const std::string&, Transformer& model) { set_olmo(true, model); }},
     {"apertus",  // xIELU
      [](const std::string&, Transformer& model) {
        set_llama(model);
        model.qk_norm = true;
      }},
     {"falcon",
      [](const std::string&, Transformer& model) {
        set_parallel(false, model.kv_heads == 1 ? 1 : 2, model);
      }},
     {"palm",
      [](const std::string&, Transformer& model) {
        set_parallel(false, 1, model);
        model.tied_embeddings = true;
      }},
     {"gptneox",
      [](const std::string&, Transformer& model) {
        set_parallel(true, 2, model);
        model.tied_embeddings = false;
      }},
     {"pythia",
      [](const std::string&, Transformer& model) {
        set_parallel(true, 2, model);
        model.tied_embeddings = false;
      }},
     {"gptj",
      [](const std::string&, Transformer& model) {
        set_parallel(false, 1, model);
        model.tied_embeddings = false;
      }},
     {"bloom", [](const std::string&, Transformer& model) {
        model.positions = Positions::alibi;
        model.dropout = false;
        model.embedding_norm = true;
      }}}};

void set_named_parts(const RunRow& row, Transformer& model) {
  const std::string name = row.plain("model_name");
  const auto known = std::ranges::find_if(kNamedParts, [&](const NamedParts& parts) {
    return name.find(parts.word) != std::string::npos;
  });
  if (known != kNamedParts.end()) {
    known->set(lower(row.text("model_name")), model);
  }
}

/// What the columns have no place for, by the row's name and `arch`.
void refuse_other_kinds(const RunRow& row) {
  static const std::regex two_sided("(?:^|[^a-z0-9])(?:m?t5|ul2|bart)(?:[^a-z0-9]|$)");
  static const std::regex decoder(
      "(?:dense|moe|sparse|mixtureofexperts|decoder(?:only)?|transformer|gpt|llama|llm|causallm)*"
      "(?:\\((?!.*encoder).*\\))?");
  if (!std::regex_match(row.plain("arch"), decoder) && !is_encoder(row)) {
    throw InputError("dimensions do not tell a model of the kind \"" + row.text("arch") + "\"");
  }
  if (std::regex_search(lower(row.text("model_name")), two_sided)) {
    throw InputError("dimensions do not tell encoder and decoder apart");
  }
  // A tower of texts, a teacher, patches that the encoder does not see.
  static const std::regex more(
      "(?:^|[^a-z])(?:open)?(?:clip|siglip|dino(?:v[23])?|mae|moco|byol)(?:[^a-z]|$)");
  if (std::regex_search(lower(row.text("model_name")), more)) {
    throw InputError("dimensions do not tell what \"" + row.text("model_name") +
                     "\" passes beside one encoder");
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
  const std::string name = row.plain("model_name");
  if (const auto capacity = noted_capacity(row)) {
    model.experts->routing.capacity_factor = *capacity;
    model.experts->routing.padded = true;
  }
  if (name.find("deepseekv3") != std::string::npos) {
    model.experts->routing.groups = 8;
    model.experts->routing.groups_chosen = 4;
  }
}

/// Of an expert. A few experts are as wide as the MLP that the row states, of many each is a part.
std::int64_t expert_width(const RunRow& row, const RunHabits& habits, std::int64_t ffn) {
  constexpr std::int64_t few = 16;
  const auto width = row.has("expert_ffn") ? row.whole("expert_ffn") : habits.widths.expert_ffn;
  if (!width && row.experts() > few) {
    throw InputError("expert_ffn not stated");
  }
  return width.value_or(ffn);
}

void add_experts(const RunRow& row, const RunHabits& habits, Transformer& model) {
  model.experts = Experts{.count = row.experts(),
                          .per_token = row.whole("top_k", 1),
                          .ffn = expert_width(row, habits, model.ffn),
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
Model named_model(const RunRow& row, const RunHabits& habits, bool flash) {
  const Transformer* transformer = habits.named_transformer();
  if (transformer == nullptr) {
    return *habits.named;
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

bool is_encoder(const RunRow& row) {
  static const std::regex of_images("(?:^|[^a-z])(?:vit|deit|beit|mae)(?:[^a-z]|$)");
  const std::string arch = row.plain("arch");
  return arch == "encoder" || arch == "visiontransformer" || arch == "vit" ||
         (arch != "moe" && std::regex_search(lower(row.text("model_name")), of_images));
}

LayerContents contents_of(const RunRow& row, const RunHabits& habits) {
  const bool experts = row.experts() > 0;
  LayerContents contents{.dense = !experts || row.whole("dense_layers", 0) > 0, .experts = experts};
  if (const Transformer* transformer = habits.named_transformer()) {
    contents = {.attention = false};
    for (const LayerKind& kind : transformer->kinds) {
      contents.attention = contents.attention || kind.tokens == TokenMixing::attention;
      contents.mixer = contents.mixer || kind.tokens == TokenMixing::mixer;
      contents.dense = contents.dense || kind.is_dense();
      contents.experts = contents.experts || kind.experts;
    }
  }
  return contents;
}

Model run_model(const RunRow& row, const RunHabits& habits, const OpenModel& open) {
  if (habits.named != nullptr) {
    return named_model(row, habits, open.flash);
  }
  const bool needs_ffn = contents_of(row, habits).dense || row.whole("expert_ffn", 0) <= 0;
  for (const std::string_view column : {"layers", "hidden", "heads", "ffn"}) {
    if (row.whole(column, 0) <= 0 && (column != "ffn" || needs_ffn)) {
      throw InputError(std::string(column) + " not stated");
    }
  }
  refuse_other_kinds(row);
  Transformer model{
      .name = row.text("model_name"),
      .title = row.text("model_name"),
      .source = row.text("source"),
      .layers = row.whole("layers", 0),
      .hidden = row.whole("hidden", 0),
      .heads = row.whole("heads", 0),
      .kv_heads = row.whole("kv_heads", habits.widths.kv_heads.value_or(row.whole("heads", 0))),
      .head_dim = row.whole(
          "head_dim",
          habits.widths.head_dim.value_or(row.whole("hidden", 0) / row.whole("heads", 1))),
      .ffn = row.whole("ffn", row.whole("expert_ffn", 0))};
  set_parts(open.gated, model);
  model.vocabulary = open.vocabulary;
  model.vocabulary_multiple = habits.vocabulary_multiple.value_or(128);
  model.max_sequence = open.sequence;
  model.position_rows = model.positions == Positions::learned ? model.max_sequence : 0;
  model.attention = open.flash ? AttentionKernel::flash : AttentionKernel::materialised;
  model.latent = latent_of(row, habits);
  set_named_parts(row, model);
  model.causal = model.causal && !is_encoder(row);
  model.dropout = habits.dropout.value_or(model.dropout);
  model.parallel = habits.parallel.value_or(model.parallel);
  model.predicted_tokens = habits.predicted_tokens.value_or(noted_predictions(row));
  if (row.experts() > 0) {
    add_experts(row, habits, model);
  }
  return model;
}

}  // namespace titer
