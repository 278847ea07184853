// The table of HuggingFace's decoders: configs/architectures.json.
#include <algorithm>
#include <array>
#include <utility>

#include "huggingface_decoder.hpp"
#include "titer/input/file.hpp"
#include "titer/input/shipped_data.hpp"

namespace titer::huggingface {
namespace {

constexpr std::array kExperts = std::to_array<Choice<ReadExperts*>>({
    {"local", read_local_experts},
    {"jittered", read_jittered_experts},
    {"biased", read_biased_experts},
    {"granite", read_granite_experts},
    {"gpt_oss", read_gpt_oss_experts},
    {"numbered", read_numbered_experts},
    {"qwen2", read_qwen2_experts},
    {"qwen3", read_qwen3_experts},
    {"ernie", read_ernie_experts},
    {"hunyuan", read_hunyuan_experts},
    {"bailing", read_bailing_experts},
    {"afmoe", read_afmoe_experts},
    {"dbrx", read_dbrx_experts},
    {"glm", read_glm_experts},
    {"dots", read_dots_experts},
    {"first_deepseek", read_first_deepseek_experts},
});
constexpr std::array kRests = std::to_array<Choice<ReadRest*>>({
    {"gpt2", read_gpt2_rest},
    {"jais", read_jais},
    {"multi_query", read_multi_query},
    {"parallel_residual", read_parallel_residual},
    {"local_layers", read_local_layers},
    {"opt", read_opt_rest},
    {"expansion", read_expansion},
    {"as_many_keys", read_as_many_keys},
    {"baichuan", read_baichuan},
    {"chatglm", read_chatglm},
    {"smollm3", read_smollm3},
    {"one_norm", read_one_norm},
    {"masked_words", read_masked_words},
    {"roberta", read_roberta},
    {"gate_attention", gate_attention},
    {"dbrx_heads", read_dbrx_heads},
    {"further_tokens", read_further_tokens},
});
constexpr std::array kWindowed = std::to_array<Choice<WindowRule::Layers>>(
    {{"from", WindowRule::Layers::from}, {"but_every", WindowRule::Layers::but_every}});
constexpr std::array kBiasParts =
    std::to_array<Choice<bool Biases::*>>({{"qkv", &Biases::qkv},
                                           {"output", &Biases::output},
                                           {"mlp", &Biases::mlp},
                                           {"head", &Biases::head}});

/// The text itself, which stays where it is.
void read_name(Reader& in, std::string_view key, std::string_view& name) {
  if (const Value* const value = in.raw(key)) {
    name = value->text;
  }
}

void read_count(Reader& in, std::string_view key, std::int64_t& count) {
  count = in.maybe_integer(key, 0, kMostTokens).value_or(count);
}

void read_keys(Reader in, DecoderKeys& keys) {
  for (const auto& [key, name] : {std::pair{"layers", &ShapeKeys::layers},
                                  {"hidden", &ShapeKeys::hidden},
                                  {"heads", &ShapeKeys::heads},
                                  {"kv_heads", &ShapeKeys::kv_heads},
                                  {"head_dim", &ShapeKeys::head_dim}}) {
    read_name(in, key, keys.shape.*name);
  }
  read_name(in, "ffn", keys.ffn);
  read_name(in, "vocabulary", keys.vocabulary);
  read_name(in, "max_sequence", keys.max_sequence);
  in.finish();
}

void read_defaults(Reader in, HuggingFaceDefaults& otherwise) {
  using D = HuggingFaceDefaults;
  otherwise.tied = in.flag("tied", otherwise.tied);
  otherwise.dropout = in.flag("dropout", otherwise.dropout);
  for (const auto& [key, count] : {std::pair{"layers", &D::layers},
                                   {"hidden", &D::hidden},
                                   {"ffn", &D::ffn},
                                   {"ffn_width", &D::ffn_width},
                                   {"heads", &D::heads},
                                   {"kv_heads", &D::kv_heads},
                                   {"head_dim", &D::head_dim},
                                   {"vocabulary", &D::vocabulary},
                                   {"max_sequence", &D::max_sequence}}) {
    read_count(in, key, otherwise.*count);
  }
  in.finish();
}

void read_rule(Reader in, WindowRule& rule) {
  rule.layers = in.choice<WindowRule::Layers>("layers", kWindowed);
  read_count(in, "number", rule.number);
  read_name(in, "number_key", rule.number_key);
  read_count(in, "otherwise", rule.otherwise);
  rule.switched = in.flag("switched", false);
  rule.rotary_inside = in.flag("rotary_inside", false);
  in.finish();
}

Biases read_parts(Reader& in, std::string_view key) {
  Biases biases;
  for (const std::string& word : in.texts(key)) {
    const auto* const part = std::ranges::find(kBiasParts, word, &Choice<bool Biases::*>::name);
    if (part == kBiasParts.end()) {
      in.fail(key, "expected qkv, output, mlp and head");
    } else {
      biases.*part->value = true;
    }
  }
  return biases;
}

void read_bias_keys(Reader& in, std::string_view key, bool otherwise, Decoder& row) {
  const Value* const written = in.raw(key);
  if (auto keys = in.maybe_object(key)) {
    for (const auto& [name, parts] : written->members) {
      row.bias_keys.push_back({.key = name, .otherwise = otherwise, .of = read_parts(*keys, name)});
    }
  }
}

void read_row(Reader in, Decoder& row) {
  if (auto keys = in.maybe_object("keys")) {
    read_keys(*keys, row.keys);
  }
  if (auto otherwise = in.maybe_object("otherwise")) {
    read_defaults(*otherwise, row.otherwise);
  }
  row.norm = in.maybe_choice<Norm>("norm", kNorms).value_or(row.norm);
  read_count(in, "norms", row.norms);
  row.norm_place = in.maybe_choice<NormPlace>("norm_place", kNormPlaces).value_or(row.norm_place);
  row.parallel = in.flag("parallel", row.parallel);
  row.gated = in.flag("gated", row.gated);
  read_count(in, "activation_parameters", row.activation_parameters);
  row.positions = in.maybe_choice<Positions>("positions", kPositions).value_or(row.positions);
  read_count(in, "further_positions", row.further_positions);
  if (in.has("biases")) {
    row.biases = read_parts(in, "biases");
  }
  read_bias_keys(in, "biases_if", false, row);
  read_bias_keys(in, "biases_unless", true, row);
  if (const auto kind = in.maybe_choice<QkNorm>("qk_norm", kQkNorms)) {
    row.qk_norm = kind;
  }
  read_name(in, "qk_norm_key", row.qk_norm_key);
  row.qk_norm_otherwise = in.flag("qk_norm_otherwise", row.qk_norm_otherwise);
  if (auto windows = in.maybe_object("windows")) {
    read_rule(*windows, row.windows);
  }
  row.experts = in.maybe_choice<ReadExperts*>("experts", kExperts).value_or(row.experts);
  row.rest = in.maybe_choice<ReadRest*>("rest", kRests).value_or(row.rest);
  in.finish();
}

}  // namespace

Decoders::Decoders() : document_(load_json(data_root() / "configs/architectures.json")) {
  Problems problems;
  Reader in(document_, problems);
  static_cast<void>(in.raw("about"));
  const Value* const written = in.raw("decoders");
  Reader rows = in.object("decoders");
  for (std::size_t i = 0; written != nullptr && i < written->members.size(); ++i) {
    const std::string& type = written->members[i].first;
    Reader row = rows.object(type);
    Decoder decoder;
    if (const auto base = row.maybe_text("as")) {
      const auto known = std::ranges::find(all_, *base, &Decoder::type);
      if (known == all_.end()) {
        row.fail("as", "expected a class before this one");
      } else {
        decoder = *known;
      }
    }
    decoder.type = type;
    read_row(row, decoder);
    all_.push_back(decoder);
  }
  in.finish();
  problems.raise();
}

}  // namespace titer::huggingface
