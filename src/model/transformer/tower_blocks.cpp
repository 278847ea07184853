// What a tower computes on one rank, block by block.

#include "model/layer_builder.hpp"
#include "tower_parts.hpp"

namespace titer {
namespace {

/// Of so many tokens for each of a micro-batch's images. Adapters are the language model's.
Slice slice_of(const Slice& slice, std::int64_t tokens) {
  Slice own = slice;
  own.micro_batch = slice.micro_batch * slice.images.of_sequence;
  own.sequence = tokens;
  own.sequence_parallel = false;
  own.context = 1;
  own.attended_length.reset();
  own.adapters.reset();
  return own;
}

Bytes input_bytes(const Slice& slice, std::int64_t width) {
  return tokens_of(slice) * real(width) * size_of(slice.type);
}

void add_input(LayerBuilder& layer, const Tower& tower) {
  const double h = layer.hidden();
  const double tokens = layer.tokens();
  if (tower.spectra) {
    const double taps = real(tower.spectra->taps);
    const double steps = kStride * tokens;
    layer.first_product("first convolution", {steps, taps * real(tower.spectra->bins), h});
    layer.pass_over("first convolution's activation", steps * h, steps * h);
    layer.first_product("second convolution", {tokens, taps * h, h}, true);
    layer.pass_over("second convolution's activation", tokens * h, tokens * h);
  } else {
    layer.first_product("patch embedding", {tokens, real(tower.patches.inputs()), h});
  }
  if (tower.encoder.positions == Positions::learned || tower.table_parameters > 0) {
    layer.pass_over("positions", tokens * h, 0);
  }
  if (tower.encoder.embedding_norm) {
    layer.norm("embedding norm");
  }
}

void add_product(LayerBuilder& layer, const TowerProduct& product) {
  const Product one{
      .name = "projection", .inner = real(product.inner), .columns = real(product.columns)};
  switch (product.split) {
    case TowerProduct::Split::columns:
      return layer.column_product(one);
    case TowerProduct::Split::rows:
      return layer.row_product(one);
    case TowerProduct::Split::none:
      return layer.replicated_product(one);
  }
}

/// From the results of layers, joined to the tokens that the language model reads.
void add_projection(LayerBuilder& layer, const Tower& tower, bool is_norm_joined) {
  const std::int64_t side = tower.projector.side;
  const double joined = layer.tokens() * real(side * side * tower.states) * layer.hidden();
  if (tower.projector.norm && !is_norm_joined) {
    layer.pass_over("projector norm", joined, joined);
  }
  if (side > 1 || tower.states > 1) {
    layer.pass_over("joined patches", joined, 0);
  }
  if (tower.projector.norm && is_norm_joined) {
    layer.pass_over("projector norm", joined, joined);
  }
  const std::vector<TowerProduct> products = products_of(tower);
  for (std::size_t i = 0; i < products.size(); ++i) {
    add_product(layer, products[i]);
    if (i + 1 < products.size()) {
      const bool split = products[i].split == TowerProduct::Split::columns;
      const double elements =
          layer.tokens() * real(products[i].columns) / (split ? layer.tensor() : 1.0);
      layer.pass_over("projector activation", elements, elements);
    }
  }
}

/// Kinds of blocks behind those of the language model, which keep their numbers.
class TowerBlocks {
 public:
  TowerBlocks(const Tower& tower, const Slice& slice, ModelBlocks& blocks)
      : tower_(tower), tokens_(tokens_of(tower, slice.images)), blocks_(blocks) {
    // g++ 12 breaks off where these initialise members.
    encoded_ = slice_of(slice, tokens_.encoded);
    returned_ = slice_of(slice, tokens_.returned);
  }

  void add() {
    const Transformer& encoder = tower_.encoder;
    front_.push_back({.kind = add_input_block(), .count = 1});
    const auto first = static_cast<int>(blocks_.kinds.size());
    for (const LayerKind& kind : encoder.kinds) {
      Block& block = begin("tower layer", encoded_, encoder.hidden);
      block.parameters = layer_parameters(encoder, kind);
      LayerBuilder layer(encoder, encoded_, block.operations);
      add_layer(layer, kind);
    }
    for (const LayerRun& run : encoder.runs()) {
      front_.push_back({.kind = first + run.kind, .count = run.count});
    }
    front_.push_back({.kind = add_projector_block(), .count = 1});
    for (const LayerRun& run : front_) {
      blocks_.front += run.count;
    }
    blocks_.order.insert(blocks_.order.begin(), front_.begin(), front_.end());
  }

 private:
  Block& begin(std::string_view name, const Slice& slice, std::int64_t width) {
    Block& block = blocks_.kinds.emplace_back();
    block.name = name;
    block.input = input_bytes(slice, width);
    return block;
  }

  int add_input_block() {
    const std::int64_t inputs = tower_.spectra
                                    ? static_cast<std::int64_t>(kStride) * tower_.spectra->bins
                                    : tower_.patches.inputs();
    Block& block = begin("tower input", encoded_, inputs);
    block.parameters.replicated = input_parameters(tower_);
    LayerBuilder layer(tower_.encoder, encoded_, block.operations);
    add_input(layer, tower_);
    return static_cast<int>(blocks_.kinds.size()) - 1;
  }

  int add_projector_block() {
    Block& block = begin("projector", encoded_, tower_.states * tower_.encoder.hidden);
    block.input = static_cast<double>(1 + tower_.deep) * block.input;
    block.parameters = projector_parameters(tower_);
    if (tower_.encoder.final_norm) {
      LayerBuilder(tower_.encoder, encoded_, block.operations).norm("tower's final norm");
    }
    LayerBuilder layer(tower_.encoder, returned_, block.operations);
    add_projection(layer, tower_, tower_.projector.norm_joined);
    for (std::int64_t i = 0; i < tower_.deep; ++i) {
      add_projection(layer, tower_, true);
    }
    return static_cast<int>(blocks_.kinds.size()) - 1;
  }

  const Tower& tower_;
  TowerTokens tokens_;
  Slice encoded_;
  Slice returned_;
  ModelBlocks& blocks_;
  std::vector<LayerRun> front_;
};

}  // namespace

void add_tower(const Tower& tower, const Slice& slice, ModelBlocks& into) {
  TowerBlocks(tower, slice, into).add();
}

}  // namespace titer
