// The parameters of a denoiser, its FLOPs, and how it is read and written.
#include "titer/model/transformer/denoiser.hpp"

#include <algorithm>
#include <span>

#include "model/layer_builder.hpp"
#include "tower_parts.hpp"
#include "transformer_reading.hpp"

namespace titer {
namespace {

constexpr std::int64_t kMostVectors = 16;  // that condition a sequence
constexpr std::int64_t kTimeVectors = 6;   // that one product makes for all layers
constexpr std::int64_t kMostRefiners = 100;
constexpr std::int64_t kOutputVectors = 2;  // scale and shift

/// A product with a bias.
std::int64_t product_parameters(std::int64_t inner, std::int64_t columns) {
  return (inner + 1) * columns;
}

/// A matrix for each of query, key, value and output, four for either product of an MLP of four
/// times the width, and two for the gates.
constexpr std::int64_t kRefinerMatrices = 4 + 2 * 4 + 2;
/// Beside their matrices: biases, four wide in the MLP, and of two norms weights and biases.
constexpr std::int64_t kRefinerVectors = 4 + (4 + 1) + 2 + 2 * 2;

std::int64_t refiner_parameters(const Denoiser& denoiser, std::int64_t h) {
  const DenoiserText& text = *denoiser.text;
  if (text.refiner_layers == 0) {
    return 0;
  }
  std::int64_t sum = text.refiner_layers * (kRefinerMatrices * h * h + kRefinerVectors * h);
  for (const std::int64_t columns : {denoiser.vectors.front(), text.width}) {
    sum += product_parameters(columns, h) + product_parameters(h, h);
  }
  return sum;
}

/// Multiply-adds for one sequence.
double refiner_products(const Denoiser& denoiser, double h) {
  const DenoiserText& text = *denoiser.text;
  if (text.refiner_layers == 0) {
    return 0;
  }
  const double tokens = real(text.tokens);
  const double layer = tokens * 12.0 * h * h + 2.0 * h * h + 2.0 * tokens * tokens * h;
  return real(text.refiner_layers) * layer + real(denoiser.vectors.front() + text.width) * h +
         2.0 * h * h;
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
    sum += real(text->tokens) * (real(text->width) * h + real(text->products - 1) * h * h) +
           refiner_products(*model.denoiser, h);
  }
  return sum;
}

std::vector<std::int64_t> vectors_in(Reader& in) {
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

constexpr std::array kTextFields = {
    fields::integer<&DenoiserText::tokens>("tokens", {1, kMostTokens}, "of each sequence").needed(),
    fields::integer<&DenoiserText::width>("width", {1, kMostWidth}, "as its encoder returns them")
        .needed(),
    fields::integer<&DenoiserText::products>("products", {1, 2}, "to the hidden size"),
    fields::integer<&DenoiserText::refiner_layers>(
        "refiner_layers",
        {0, kMostRefiners},
        "of its own tokens behind these, gated by the time step and the text's mean"),
    fields::choice<&DenoiserText::norm, kNorms>("norm", "before cross-attention")
        .or_else("the model's")};
std::span<const Field<DenoiserText>> text_fields() { return kTextFields; }

constexpr Patches kUsualPatches{.channels = 4, .bias = true};
using D = Denoiser;
constexpr std::array kDenoiserFields = {
    fields::special<D, &D::patches>(
        "patches",
        {[](const Field<D>& own, Reader& in, D& denoiser) {
           Reader patches = in.object(own.key);
           denoiser.patches = read_patches(patches, kUsualPatches);
         },
         [](const Field<D>& /*own*/) {
           Value patches = schema::object();
           add_keys(patch_fields(), patches, &kUsualPatches);
           return patches;
         },
         [](const D& denoiser) {
           Value patches = Value::make_object();
           write_keys(patch_fields(), denoiser.patches, {.channels = 0, .bias = true}, patches);
           return patches;
         }},
        "of a latent, their sides in its places")
        .needed(),
    fields::integer<&D::output_channels>("output_channels", {1, kMostWidth}, "that come out")
        .or_else("as many as go in"),
    fields::special<D, &D::vectors>(
        "vectors",
        {[](const Field<D>& /*own*/, Reader& in, D& denoiser) {
           denoiser.vectors = vectors_in(in);
         },
         [](const Field<D>& /*own*/) {
           return schema::list_of(schema::integer({1, kMostWidth}));
         },
         [](const D& denoiser) { return list_value(denoiser.vectors); }},
        "columns of what conditions a sequence, each by two products to the hidden size: the time "
        "step's frequencies, a text as one, guidance")
        .or_else("256 of the time step"),
    fields::integer<&D::classes>("classes", {0, kMostTokens}, "rows of a table beside them"),
    fields::choice<&D::modulation, kModulations>(
        "modulation",
        "vectors that shift, scale and gate branches: of a product in each of the layers, or of "
        "one that is shared and a table in each")
        .always_written(),
    fields::object<&D::text, text_fields>(
        "text",
        "layers with `cross_attention` attend to it; without such its tokens are part of the "
        "sequences")};

}  // namespace

bool joins_text(const Transformer& model) {
  return model.denoiser && model.denoiser->text &&
         std::ranges::none_of(model.kinds,
                              [](const LayerKind& kind) { return kind.cross_attention; });
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
           (denoiser.text->products - 1) * product_parameters(h, h) +
           refiner_parameters(denoiser, h);
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
  read_fields(std::span<const Field<D>>(kDenoiserFields), in, denoiser);
  if (denoiser.output_channels == 0) {
    denoiser.output_channels = denoiser.patches.channels;
  }
  return denoiser;
}

void check_denoiser(Reader& in, const Transformer& model) {
  const auto any = [&](auto has) { return std::ranges::any_of(model.kinds, has); };
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
  return write_fields(std::span<const Field<D>>(kDenoiserFields), denoiser);
}
Value denoiser_schema() { return schema_of(std::span<const Field<D>>(kDenoiserFields)); }

}  // namespace titer
