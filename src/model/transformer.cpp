#include "titer/model/transformer.hpp"

#include <algorithm>

namespace titer {
namespace {

constexpr std::array<Choice<Norm>, 2> kNorms = {
    {{"layernorm", Norm::layernorm}, {"rmsnorm", Norm::rmsnorm}}};
constexpr std::array<Choice<Positions>, 2> kPositions = {
    {{"learned", Positions::learned}, {"rotary", Positions::rotary}}};
// With these the parameters of any model stay below 10^18, within 64 bits.
constexpr std::int64_t kMostLayers = 100'000;
constexpr std::int64_t kMostWidth = 1'000'000;
constexpr std::int64_t kMostTokens = 1'000'000'000;  // of a vocabulary or a sequence

void read_shape(Reader& in, Transformer& model) {
  model.layers = in.integer("layers", 1, kMostLayers);
  model.hidden = in.integer("hidden", 1, kMostWidth);
  model.heads = in.integer("heads", 1, kMostWidth);
  model.kv_heads = in.maybe_integer("kv_heads", 1, kMostWidth).value_or(model.heads);
  const auto head_dim = in.maybe_integer("head_dim", 1, kMostWidth);
  // A hidden size of 1 stands in for one that could not be read: no second complaint about it.
  if (!head_dim && model.hidden > 1 && model.hidden % model.heads != 0) {
    in.fail("heads",
            "expected a divisor of the hidden size " + std::to_string(model.hidden) +
                ", or a \"head_dim\"");
  }
  model.head_dim = head_dim.value_or(std::max<std::int64_t>(1, model.hidden / model.heads));
  if (head_dim && model.query_width() > kMostWidth) {
    in.fail("head_dim", "expected heads x head_dim of at most " + std::to_string(kMostWidth));
  }
  if (model.heads % model.kv_heads != 0) {
    in.fail("kv_heads", "expected a divisor of the " + std::to_string(model.heads) + " heads");
  }
  model.ffn = in.integer("ffn", 1, kMostWidth);
}

}  // namespace

Transformer read_transformer(Reader& in) {
  Transformer model;
  if (in.has("model_type")) {
    in.fail("model_type",
            "expected a model in this program's own keys: a HuggingFace configuration "
            "is not read yet; models/ has examples");
    return model;
  }
  model.name = in.text("name");
  model.title = in.maybe_text("title").value_or(model.name);
  model.source = in.maybe_text("source").value_or("given by the user");
  read_shape(in, model);
  model.gated = in.flag("gated", false);
  model.norm = in.choice<Norm>("norm", kNorms);
  model.bias = in.flag("bias", model.norm == Norm::layernorm);
  model.dropout = in.flag("dropout", false);
  model.positions = in.choice<Positions>("positions", kPositions);
  model.tied_embeddings = in.flag("tied_embeddings", false);
  model.vocabulary = in.integer("vocabulary", 1, kMostTokens);
  model.vocabulary_multiple = in.maybe_integer("vocabulary_multiple", 1, 1'000'000).value_or(1);
  model.max_sequence = in.integer("max_sequence", 1, kMostTokens);
  model.attention = in.choice<AttentionKernel>("attention", kAttentionKernels);
  model.causal = in.flag("causal", true);
  in.finish();
  return model;
}

std::int64_t Transformer::padded_vocabulary(std::int64_t tensor) const {
  const std::int64_t multiple = vocabulary_multiple * tensor;
  return (vocabulary + multiple - 1) / multiple * multiple;
}

ParameterCount& ParameterCount::operator+=(const ParameterCount& other) {
  split += other.split;
  replicated += other.replicated;
  return *this;
}

ParameterCount layer_parameters(const Transformer& model) {
  const std::int64_t h = model.hidden;
  const std::int64_t qkv = model.query_width() + 2 * model.kv_width();
  const std::int64_t up = (model.gated ? 2 : 1) * model.ffn;
  const std::int64_t norm = model.norm == Norm::layernorm ? 2 * h : h;
  ParameterCount count;
  count.split = h * qkv + model.query_width() * h + h * up + model.ffn * h;
  count.replicated = 2 * norm;
  if (model.bias) {
    count.split += qkv + up;    // split with their columns
    count.replicated += 2 * h;  // added after the row-split products' all-reduce
  }
  return count;
}

ParameterCount embedding_parameters(const Transformer& model, std::int64_t tensor) {
  const bool learned = model.positions == Positions::learned;
  return {.split = model.padded_vocabulary(tensor) * model.hidden,
          .replicated = learned ? model.max_sequence * model.hidden : 0};
}

ParameterCount head_parameters(const Transformer& model, std::int64_t tensor) {
  const std::int64_t norm = model.norm == Norm::layernorm ? 2 * model.hidden : model.hidden;
  return {.split = model.tied_embeddings ? 0 : model.padded_vocabulary(tensor) * model.hidden,
          .replicated = norm};
}

std::int64_t parameters(const Transformer& model) {
  Transformer unpadded = model;
  unpadded.vocabulary_multiple = 1;
  ParameterCount count = model.layers * layer_parameters(model);
  count += embedding_parameters(unpadded, 1);
  count += head_parameters(unpadded, 1);
  return count.total();
}

ForwardFlops forward_flops(const Transformer& model,
                           double sequences,
                           std::int64_t length,
                           AttentionCount count) {
  const auto h = static_cast<double>(model.hidden);
  const auto s = static_cast<double>(length);
  const auto l = static_cast<double>(model.layers);
  const auto q = static_cast<double>(model.query_width());
  const auto kv = static_cast<double>(model.kv_width());
  const double mlp = (model.gated ? 3.0 : 2.0) * h * static_cast<double>(model.ffn);
  const double tokens = sequences * s;
  // Core attention, one layer, one sequence: QK^T and AV, each 2 s^2 q; causal: half of the pairs.
  const double pairs = count == AttentionCount::causal && model.causal ? 0.5 : 1.0;
  return {.layers = Flops::from_si(2.0 * tokens * l * (h * (q + 2.0 * kv) + q * h + mlp)),
          .core_attention = Flops::from_si(4.0 * tokens * l * s * q * pairs),
          .logits = Flops::from_si(2.0 * tokens * h * static_cast<double>(model.vocabulary))};
}

Flops model_flops(const Transformer& model,
                  double sequences,
                  std::int64_t length,
                  AttentionCount count) {
  return 3.0 * forward_flops(model, sequences, length, count).total();
}

}  // namespace titer
