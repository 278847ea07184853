// The parameters of a denoiser, its FLOPs, and how it is read and written.
#include "titer/model/transformer/denoiser.hpp"

#include <algorithm>
#include <span>

#include "tower_parts.hpp"
#include "transformer_reading.hpp"

namespace titer {
namespace {

constexpr std::int64_t kMostVectors = 16;   // that condition a sequence
constexpr std::int64_t kTimeVectors = 6;    // that one product makes for all layers
constexpr std::int64_t kOutputVectors = 2;  // scale and shift

/// A product with a bias.
std::int64_t product_parameters(std::int64_t inner, std::int64_t columns) {
  return (inner + 1) * columns;
}

/// Multiply-adds of the vectors of all layers, for one sequence.
double modulation_products(const Transformer& model) {
  const double h = real(model.hidden);
  if (model.denoiser->modulation == Modulation::shared) {
    return real(kTimeVectors) * h * h;
  }
  double vectors = real(kOutputVectors);
  const LayerRun alike{.kind = 0, .count = model.layers};
  const std::span<const LayerRun> runs =
      model.order.empty() ? std::span(&alike, 1) : std::span(model.order);
  for (const LayerRun& run : runs) {
    const LayerKind& kind = model.kinds[static_cast<std::size_t>(run.kind)];
    vectors += real(run.count * modulation_vectors(kind));
  }
  return vectors * h * h;
}

/// Multiply-adds of what conditions, for one sequence.
double condition_products(const Transformer& model) {
  const double h = real(model.hidden);
  double sum = 0;
  for (const std::int64_t columns : model.denoiser->vectors) {
    sum += real(columns) * h + h * h;
  }
  if (const std::optional<DenoiserText>& text = model.denoiser->text) {
    sum += real(text->tokens) * (real(text->width) * h + real(text->products - 1) * h * h);
  }
  return sum;
}

DenoiserText read_text(Reader& in) {
  const DenoiserText text{.tokens = in.integer("tokens", 1, kMostTokens),
                          .width = in.integer("width", 1, kMostWidth),
                          .products = in.maybe_integer("products", 1, 2).value_or(1),
                          .norm = in.maybe_choice<Norm>("norm", kNorms)};
  in.finish();
  return text;
}

std::vector<std::int64_t> read_vectors(Reader& in) {
  std::vector<std::int64_t> widths;
  const Value* written = in.raw("vectors");
  if (written == nullptr) {
    return {256};  // frequencies of the time step, as DiT has them
  }
  for (const Value& width : written->items) {
    if (!width.is_integer || width.integer < 1 || width.integer > kMostWidth) {
      in.fail("vectors", "expected an array of whole numbers, the columns of each");
      return {};
    }
    widths.push_back(width.integer);
  }
  if (widths.empty() || std::ssize(widths) > kMostVectors) {
    in.fail("vectors",
            "expected the time step's and at most " + std::to_string(kMostVectors - 1) + " more");
  }
  return widths;
}

}  // namespace

bool joins_text(const Transformer& model) {
  return model.denoiser && model.denoiser->text &&
         std::none_of(model.kinds.begin(), model.kinds.end(), [](const LayerKind& kind) {
           return kind.cross_attention;
         });
}

std::int64_t denoiser_input_parameters(const Transformer& model) {
  if (!model.denoiser) {
    return 0;
  }
  const Denoiser& denoiser = *model.denoiser;
  const std::int64_t h = model.hidden;
  std::int64_t sum = denoiser.patches.inputs() * h + (denoiser.patches.bias ? h : 0);
  for (const std::int64_t columns : denoiser.vectors) {
    sum += product_parameters(columns, h) + product_parameters(h, h);
  }
  if (denoiser.text) {
    sum += product_parameters(denoiser.text->width, h) +
           (denoiser.text->products - 1) * product_parameters(h, h);
  }
  const bool is_shared = denoiser.modulation == Modulation::shared;
  return sum + denoiser.classes * h + (is_shared ? product_parameters(h, kTimeVectors * h) : 0);
}

std::int64_t modulation_parameters(const Transformer& model, const LayerKind& kind) {
  if (!model.denoiser) {
    return 0;
  }
  const std::int64_t width = modulation_vectors(kind) * model.hidden;
  return model.denoiser->modulation == Modulation::layers ? product_parameters(model.hidden, width)
                                                          : width;
}

std::int64_t denoiser_output_parameters(const Transformer& model) {
  if (!model.denoiser) {
    return 0;
  }
  const std::int64_t h = model.hidden;
  const std::int64_t width = kOutputVectors * h;
  return product_parameters(h, model.denoiser->outputs()) +
         (model.denoiser->modulation == Modulation::layers ? product_parameters(h, width) : width);
}

ForwardFlops denoiser_flops(const Transformer& model, double sequences, std::int64_t length) {
  const Denoiser& denoiser = *model.denoiser;
  const std::int64_t images =
      length - (joins_text(model) ? std::min(length, denoiser.text->tokens) : 0);
  const double ends =
      real(images) * real(model.hidden) * real(denoiser.patches.inputs() + denoiser.outputs());
  return {.layers = Flops::from_si(2.0 * sequences * modulation_products(model)),
          .core_attention = {},
          .logits = Flops::from_si(2.0 * sequences * (ends + condition_products(model)))};
}

Slice image_slice(const Transformer& model, const Slice& slice) {
  Slice images = slice;
  if (joins_text(model)) {
    images.sequence = std::max<std::int64_t>(1, slice.sequence - model.denoiser->text->tokens);
  }
  return images;
}

Slice text_slice(const Transformer& model, const Slice& slice) {
  Slice text = slice;
  text.sequence = model.denoiser->text ? model.denoiser->text->tokens : 1;
  if (!joins_text(model)) {
    text.sequence_parallel = false;
    text.context = 1;
    text.attended_length.reset();
  }
  return text;
}

Denoiser read_denoiser(Reader& in) {
  Denoiser denoiser;
  Reader patches = in.object("patches");
  denoiser.patches = read_patches(patches, {.channels = 4, .bias = true});
  denoiser.output_channels =
      in.maybe_integer("output_channels", 1, kMostWidth).value_or(denoiser.patches.channels);
  denoiser.vectors = read_vectors(in);
  denoiser.classes = in.maybe_integer("classes", 0, kMostTokens).value_or(0);
  denoiser.modulation =
      in.maybe_choice<Modulation>("modulation", kModulations).value_or(Modulation::layers);
  if (auto text = in.maybe_object("text")) {
    denoiser.text = read_text(*text);
  }
  in.finish();
  return denoiser;
}

void check_denoiser(Reader& in, const Transformer& model) {
  const auto any = [&](auto has) {
    return std::any_of(model.kinds.begin(), model.kinds.end(), has);
  };
  const bool has_text = model.denoiser && model.denoiser->text;
  if (!has_text && any([](const LayerKind& kind) { return kind.two_streams; })) {
    in.fail("pattern", "expected a \"denoiser\" with a \"text\", which is one of two streams");
  }
  if (!model.denoiser) {
    return;
  }
  if (model.causal || model.tower || model.mixer || model.latent || model.predicted_tokens > 0) {
    in.fail("denoiser",
            "expected no \"causal\", \"tower\", \"mixer\", \"latent_attention\" or "
            "\"predicted_tokens\" beside it");
  }
  if (model.encoder_ends || model.head_transform || model.embedding_norm) {
    in.fail("denoiser",
            "expected no \"encoder_ends\", \"head_transform\" or \"embedding_norm\" beside it");
  }
  if (!has_text && any([](const LayerKind& kind) { return kind.cross_attention; })) {
    in.fail("denoiser", "expected a \"text\", to which layers attend");
  }
}

Value denoiser_document(const Denoiser& denoiser) {
  Value object = Value::make_object();
  Value patches = Value::make_object();
  patches.add("side", denoiser.patches.side).add("channels", denoiser.patches.channels);
  add_unless<std::int64_t>(patches, "frames", denoiser.patches.frames, 1);
  add_unless(patches, "bias", denoiser.patches.bias, true);
  object.add("patches", std::move(patches)).add("output_channels", denoiser.output_channels);
  Value vectors = Value::make_array();
  for (const std::int64_t columns : denoiser.vectors) {
    vectors.push(Value(columns));
  }
  object.add("vectors", std::move(vectors));
  add_unless<std::int64_t>(object, "classes", denoiser.classes, 0);
  object.add("modulation", Value(name_in(kModulations, denoiser.modulation)));
  if (denoiser.text) {
    Value text = Value::make_object();
    text.add("tokens", denoiser.text->tokens).add("width", denoiser.text->width);
    add_unless<std::int64_t>(text, "products", denoiser.text->products, 1);
    if (denoiser.text->norm) {
      text.add("norm", Value(name_in(kNorms, *denoiser.text->norm)));
    }
    object.add("text", std::move(text));
  }
  return object;
}

}  // namespace titer
