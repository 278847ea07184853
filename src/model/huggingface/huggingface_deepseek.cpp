// Llama 4 and the models of DeepSeek: layers of several kinds, latent attention.
#include <algorithm>

#include "huggingface_decoder.hpp"
#include "huggingface_families.hpp"

namespace titer::huggingface {
namespace {

void read_attention_bias(Reader& in, Transformer& model) {
  model.biases.qkv = in.flag("attention_bias", false);
  model.biases.output = model.biases.qkv;
}

/// Which layers of a Llama 4 have experts: those listed, else every n-th.
void mark_experts(Reader& in, LayerKinds& kinds) {
  const auto step = static_cast<std::size_t>(
      in.maybe_integer("interleave_moe_layer_step", 1, kMostLayers).value_or(1));
  for (std::size_t i = 0; i < kinds.size() && !in.has("moe_layers"); ++i) {
    kinds[i].experts = (i + 1) % step == 0;
  }
  for (const std::int64_t layer : integers(in, "moe_layers")) {
    if (layer < 0 || layer >= static_cast<std::int64_t>(kinds.size())) {
      in.fail("moe_layers", "expected layers from 0 to " + std::to_string(kinds.size() - 1));
      break;
    }
    kinds[static_cast<std::size_t>(layer)].experts = true;
  }
}

/// Which have rotary positions, and attend within chunks.
void mark_rotary_chunks(Reader& in, LayerKinds& kinds) {
  if (!mark_rotary(in, kinds)) {
    return;
  }
  const auto chunk =
      is_null(in, "attention_chunk_size")
          ? std::nullopt
          : std::optional(in.maybe_integer("attention_chunk_size", 1, kMostTokens).value_or(8192));
  for (LayerKind& kind : kinds) {
    if (kind.rotary) {
      kind.window = chunk;
      kind.chunked = chunk.has_value();
    }
  }
}

}  // namespace

void read_llama4(Reader& in, Transformer& model) {
  read_decoder(in, {.kv_heads = 8, .head_dim = 128}, model);
  read_attention_bias(in, model);
  static_cast<void>(in.flag("use_qk_norm", true));  // a norm without parameters
  model.experts = read_experts(
      in, {.count = "num_local_experts", .per_token = kChosen, .ffn = "intermediate_size"});
  model.experts->shared_ffn = model.experts->ffn;
  model.ffn = in.integer("intermediate_size_mlp", 1, kMostWidth);
  LayerKinds kinds = all_layers(model);
  mark_experts(in, kinds);
  mark_rotary_chunks(in, kinds);
  read_layer_types(in, kinds);
  set_layers_with_experts(model, kinds);
}

namespace {

/// What the classes of DeepSeek's models differ in.
struct DeepSeek {
  std::string_view method;  // of choosing experts
  std::int64_t dense = 0;   // layers before the first with experts
  std::int64_t shared = 0;  // experts
};
constexpr DeepSeek kDeepSeekV2 = {.method = "greedy", .dense = 0, .shared = 0};
constexpr DeepSeek kDeepSeekV3 = {.method = "noaux_tc", .dense = 3, .shared = 1};
constexpr DeepSeek kGlm = {.method = "noaux_tc", .dense = 1, .shared = 1};
constexpr DeepSeek kDots = {.method = "noaux_tc", .dense = 0, .shared = 0};

}  // namespace

void read_groups(Reader& in, std::string_view method, Experts& experts) {
  const auto groups = in.maybe_integer("n_group", 1, kMostWidth).value_or(1);
  const auto chosen = in.maybe_integer("topk_group", 1, kMostWidth).value_or(1);
  if (is_wrong(in, "n_group") || is_wrong(in, kChosen)) {
    return;
  }
  if (chosen > groups) {
    in.fail("topk_group",
            "expected at most the " + std::to_string(groups) + " groups that there are");
  } else if (method != "greedy") {
    experts.routing.groups = groups;
    experts.routing.groups_chosen = chosen;
    check_routing(in, "n_group", experts);
  }
}

namespace {

LayerKinds read_deepseek_experts(Reader& in, const DeepSeek& otherwise, Transformer& model) {
  LayerKinds kinds = all_layers(model);
  const auto dense = static_cast<std::size_t>(
      in.maybe_integer("first_k_dense_replace", 0, kMostLayers).value_or(otherwise.dense));
  const auto step =
      static_cast<std::size_t>(in.maybe_integer("moe_layer_freq", 1, kMostLayers).value_or(1));
  const auto shared = in.maybe_integer("n_shared_experts", 0, kMostWidth)
                          .value_or(is_null(in, "n_shared_experts") ? 0 : otherwise.shared);
  const std::string method = in.maybe_text("topk_method").value_or(std::string(otherwise.method));
  if (is_null(in, "n_routed_experts")) {
    return kinds;
  }
  Experts experts = read_experts(
      in, {.count = "n_routed_experts", .per_token = kChosen, .ffn = "moe_intermediate_size"});
  experts.shared_ffn = shared * experts.ffn;
  if (experts.shared_ffn > kMostWidth) {
    in.fail("n_shared_experts",
            "expected shared experts of a width of at most " + std::to_string(kMostWidth) +
                " together");
  }
  experts.router_bias = method == "noaux_tc";
  read_groups(in, method, experts);
  model.experts = experts;
  for (std::size_t i = dense; i < kinds.size(); ++i) {
    kinds[i].experts = i % step == 0;
  }
  return kinds;
}

void read_deepseek(Reader& in, const DeepSeek& otherwise, Transformer& model) {
  read_decoder_without_heads(in, {}, model);
  read_latent(in, kLatentKeys, model);
  if (!in.has(kLatentKeys.q_rank) && !is_null(in, kLatentKeys.q_rank)) {
    in.fail(kLatentKeys.q_rank,
            "missing; expected an integer, or null where queries have no latent");
  }
  // These follow from the widths of latent attention.
  for (const std::string_view key : {"num_key_value_heads", "head_dim", "qk_head_dim"}) {
    static_cast<void>(in.raw(key));
  }
  read_attention_bias(in, model);
  LayerKinds kinds = read_deepseek_experts(in, otherwise, model);
  set_layers_with_experts(model, kinds);
  read_further_tokens(in, model, kinds);
}

}  // namespace

LayerKinds read_glm_experts(Reader& in, Transformer& model) {
  return read_deepseek_experts(in, kGlm, model);
}

LayerKinds read_dots_experts(Reader& in, Transformer& model) {
  return read_deepseek_experts(in, kDots, model);
}

LayerKinds read_first_deepseek_experts(Reader& in, Transformer& model) {
  return read_deepseek_experts(in, kDeepSeekV2, model);
}

void read_glm_lite(Reader& in, Transformer& model) { read_deepseek(in, kGlm, model); }

/// Latent attention without experts. Values are as wide as heads without a latent would be.
void read_minicpm3(Reader& in, Transformer& model) {
  read_decoder_without_heads(in, {.tied = true, .max_sequence = 32768}, model);
  LatentKeys keys = kLatentKeys;
  keys.value_otherwise = std::max<std::int64_t>(1, model.hidden / model.heads);
  read_latent(in, keys, model);
  skip(in, {"num_key_value_heads"});
  read_attention_bias(in, model);
}

void read_deepseek_v2(Reader& in, Transformer& model) { read_deepseek(in, kDeepSeekV2, model); }

void read_deepseek_v3(Reader& in, Transformer& model) { read_deepseek(in, kDeepSeekV3, model); }

/// The sparse attention of DeepSeek-V3.2. Layers that take over the tokens that an earlier one has
/// chosen are not modelled.
void read_glm_sparse(Reader& in, Transformer& model) {
  read_deepseek_v32(in, model);
  const bool shares =
      in.has("index_topk_pattern") || in.maybe_integer("index_topk_freq", 1, kMostLayers) > 1;
  for (const std::string& type : in.texts("indexer_types")) {
    if (shares || type != "full") {
      in.fail("indexer_types",
              "expected \"full\" of every layer: shared choices of tokens are not modelled");
      return;
    }
  }
  if (shares) {
    in.fail(in.has("index_topk_pattern") ? "index_topk_pattern" : "index_topk_freq",
            "expected none: shared choices of tokens are not modelled");
  }
  static_cast<void>(in.raw("index_skip_topk_offset"));
}

void read_deepseek_v32(Reader& in, Transformer& model) {
  read_deepseek(in, kDeepSeekV3, model);
  read_indexer(in, model);
}

void read_indexer(Reader& in, Transformer& model) {
  model.indexer = Indexer{.heads = in.integer("index_n_heads", 1, kMostWidth),
                          .head_dim = in.integer("index_head_dim", 1, kMostWidth),
                          .top_k = in.integer("index_topk", 1, kMostTokens)};
  check_indexer(in, "index_n_heads", model);
}

}  // namespace titer::huggingface
