// The parameters of a tower, its tokens and its FLOPs.
#include "titer/model/transformer/tower.hpp"

#include <algorithm>

#include "tower_parts.hpp"

namespace titer {
namespace {

double count_of(std::int64_t number) { return static_cast<double>(number); }

/// Along each side of an image, in whole squares of the projector.
std::int64_t patches_along(const Tower& tower, std::int64_t pixels) {
  const std::int64_t square = tower.patches.side * tower.projector.side;
  return std::max<std::int64_t>(1, pixels / square) * tower.projector.side;
}

/// Of one product of a projector after the other.
ParameterCount product_parameters(const TowerProduct& product, bool bias) {
  ParameterCount count;
  (product.split == TowerProduct::Split::none ? count.replicated : count.split) =
      product.inner * product.columns;
  if (bias) {
    (product.split == TowerProduct::Split::columns ? count.split : count.replicated) +=
        product.columns;
  }
  return count;
}

}  // namespace

std::int64_t joined_width(const Tower& tower) {
  const std::int64_t side = tower.projector.mean ? 1 : tower.projector.side;
  return side * side * tower.states * tower.encoder.hidden;
}

std::vector<TowerProduct> products_of(const Tower& tower) {
  std::vector<TowerProduct> products;
  std::int64_t inner = joined_width(tower);
  const std::vector<std::int64_t>& widths = tower.projector.widths;
  for (std::size_t i = 0; i < widths.size(); ++i) {
    const bool is_paired = i % 2 == 1 || i + 1 < widths.size();
    products.push_back({.inner = inner,
                        .columns = widths[i],
                        .split = !is_paired   ? TowerProduct::Split::none
                                 : i % 2 == 0 ? TowerProduct::Split::columns
                                              : TowerProduct::Split::rows});
    inner = widths[i];
  }
  return products;
}

TowerTokens tokens_of(const Tower& tower, const Images& images) {
  if (tower.spectra) {
    return {.encoded = tower.spectra->length, .returned = tower.spectra->length};
  }
  const std::int64_t along = patches_along(tower, tower.image > 0 ? tower.image : images.size);
  const std::int64_t squares = along / tower.projector.side;
  return {.encoded = tower.tiles * (along * along + (tower.class_token ? 1 : 0)),
          .returned = tower.tiles * (squares * squares + (tower.keeps_class ? 1 : 0))};
}

std::int64_t input_parameters(const Tower& tower) {
  const Transformer& encoder = tower.encoder;
  const std::int64_t h = encoder.hidden;
  std::int64_t sum = tower.table_parameters + (tower.class_token ? h : 0);
  if (tower.spectra) {
    sum += tower.spectra->taps * (tower.spectra->bins + h) * h + 2 * h;
  } else {
    sum += tower.patches.inputs() * h + (tower.patches.bias ? h : 0);
  }
  if (encoder.positions == Positions::learned) {
    sum += encoder.position_rows * h;
  }
  return sum + (encoder.embedding_norm ? norm_parameters(encoder.norm, h) : 0);
}

ParameterCount projector_parameters(const Tower& tower) {
  const Projector& projector = tower.projector;
  const std::int64_t h = tower.encoder.hidden;
  ParameterCount products;
  for (const TowerProduct& product : products_of(tower)) {
    products += product_parameters(product, projector.bias);
  }
  ParameterCount count = (1 + tower.deep) * products;
  if (projector.norm) {
    const std::int64_t joined = norm_parameters(*projector.norm, joined_width(tower));
    count.replicated += projector.norm_joined ? joined : norm_parameters(*projector.norm, h);
    count.replicated += tower.deep * joined;
  }
  count.replicated += tower.encoder.final_norm ? norm_parameters(tower.encoder.norm, h) : 0;
  return count;
}

ParameterCount tower_parameters(const Tower& tower) {
  ParameterCount count = projector_parameters(tower);
  count.replicated += input_parameters(tower);
  for (const LayerRun& run : tower.encoder.runs()) {
    count += run.count * layer_parameters(tower.encoder,
                                          tower.encoder.kinds[static_cast<std::size_t>(run.kind)]);
  }
  return count;
}

ForwardFlops forward_flops(const Tower& tower, double sequences, const Images& images) {
  const TowerTokens tokens = tokens_of(tower, images);
  const double inputs = sequences * count_of(images.of_sequence);
  ForwardFlops flops = forward_flops(tower.encoder, inputs, tokens.encoded, AttentionCount::full);
  const double h = count_of(tower.encoder.hidden);
  double products = 0;
  if (tower.spectra) {
    const Spectra& spectra = *tower.spectra;
    products += count_of(spectra.length) * count_of(spectra.taps) * h *
                (kStride * count_of(spectra.bins) + h);
  } else {
    const std::int64_t patches = tokens.encoded - (tower.class_token ? tower.tiles : 0);
    products += count_of(patches) * count_of(tower.patches.inputs()) * h;
  }
  for (const TowerProduct& product : products_of(tower)) {
    products += count_of(1 + tower.deep) * count_of(tokens.returned) * count_of(product.inner) *
                count_of(product.columns);
  }
  flops.layers += Flops::from_si(2.0 * inputs * products);
  return flops;
}

Slice attended_slice(const Tower& tower, const Slice& slice) {
  Slice images = slice;
  images.sequence = slice.images.of_sequence * tokens_of(tower, slice.images).returned;
  images.sequence_parallel = false;
  images.context = 1;
  images.attended_length.reset();
  return images;
}

}  // namespace titer
