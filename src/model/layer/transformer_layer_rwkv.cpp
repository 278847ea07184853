// RWKV's mixing of a layer's tokens: each mixed with the one before, as every product has its own
// mixture; then means, decayed sums or delta rules, as the version has them.  [Peng et al. 2023 to
// 2025; the kernels of flash-linear-attention]
#include "mixer_parts.hpp"

namespace titer {

/// One kernel that reads tokens and writes so many mixtures of each and the one before; it keeps
/// the tokens.
void add_token_shift(LayerBuilder& layer, std::string_view name, double mixtures, double tokens) {
  const Bytes x = tokens * layer.hidden() * layer.element();
  Operation op{.name = name, .modules = kMixer, .freed_by = layer.input_norm()};
  op.saved = x;
  op.forward = LayerBuilder::memory((1.0 + mixtures) * x);
  op.input_gradient = LayerBuilder::memory((2.0 + mixtures) * x);
  layer.add(op);
}

namespace {

class RwkvBuilder : MixerParts {
 public:
  RwkvBuilder(LayerBuilder& layer, const Mixer& mixer, bool first)
      : MixerParts(layer, mixer), first_(first) {}

  void add() {
    const auto mixtures = static_cast<double>(shape.shifted_inputs());
    add_token_shift(builder, "token shift", mixtures, builder.outer_tokens());
    if (shape.kind == MixerKind::rwkv6) {
      add_mixtures(mixtures);
    }
    add_products();
    switch (shape.kind) {
      case MixerKind::rwkv4:
        add_means();
        break;
      case MixerKind::rwkv5:
      case MixerKind::rwkv6:
        add_chunks();
        break;
      default:
        add_rates();
        add_delta_chunks();
        break;
    }
    add_output();
  }

 private:
  [[nodiscard]] bool is_first_delta() const { return first_ && shape.kind == MixerKind::rwkv7; }
  /// How much of each mixture is of the token before: told by a product of low rank, for all
  /// mixtures in one go, and back by one for each.  [Peng et al. 2024, equation 14]
  void add_mixtures(double mixtures) {
    const double all = mixtures * static_cast<double>(shape.mix_rank);
    builder.replicated_product({.name = "mixtures down",
                                .inner = builder.hidden(),
                                .columns = all,
                                .modules = kMixer,
                                .freed_by = kMixer});
    builder.replicated_product({.name = "mixtures up",
                                .inner = all,
                                .columns = builder.hidden(),
                                .modules = kMixer,
                                .freed_by = kMixer});
    const Bytes x = builder.outer_tokens() * builder.hidden() * builder.element();
    Operation op = begin("mixtures");
    op.saved = mixtures * x;
    add_memory(op, (2.0 + 2.0 * mixtures) * x, (2.0 + 3.0 * mixtures) * x);
  }

  void add_column(std::string_view name, double inner, std::int64_t columns) {
    builder.column_product({.name = name,
                            .inner = inner,
                            .columns = static_cast<double>(columns),
                            .modules = kMixer,
                            .freed_by = kMixer});
  }
  /// Of mixtures, each of which is gathered by itself where ranks share the tokens.
  void add_products() {
    const double h = builder.hidden();
    add_column("receptance", h, shape.key_width());
    add_column("key", h, shape.key_width());
    add_column("value", h, shape.value_width());
    if (shape.kind == MixerKind::rwkv5 || shape.kind == MixerKind::rwkv6) {
      add_column("gate", h, shape.value_width());
    }
    const auto rank = static_cast<double>(shape.rank + (is_first_delta() ? 0 : shape.mix_rank));
    if (shape.kind == MixerKind::rwkv6) {
      add_low_rank(static_cast<double>(shape.rank), 1.0);
    } else if (shape.kind == MixerKind::rwkv7) {
      add_low_rank(rank, 3.0);  // of decays', rates' and gates' mixtures; values' are kept already
    }
  }
  void add_low_rank(double rank, double inputs) {
    builder.replicated_product({.name = "decay down",
                                .inner = builder.hidden(),
                                .columns = rank,
                                .modules = kMixer,
                                .freed_by = kMixer,
                                .kept = inputs * builder.element(),
                                .narrow = false});
    add_column("decay up", rank, shape.value_width());
  }

  /// One kernel that goes from token to token, in fp32; receptances gate what it returns.
  void add_means() {
    Operation op = begin("weighed means");
    op.saved = 2.0 * value_bytes + wide_bytes(local(shape.value_width()));
    add_memory(op, 3.0 * value_bytes, 7.0 * value_bytes);
    Operation gate = begin("mixer gate");
    gate.saved = 2.0 * value_bytes;
    add_memory(gate, 3.0 * value_bytes, 5.0 * value_bytes);
  }

  /// As lightning attention, with a decay for each column of keys.
  void add_chunks() {
    const Bytes state = states(size_of(DataType::fp32));
    const double scored = local_heads * chunk_tokens * key_dim;
    const double written = local_heads * key_dim * value_dim;
    const bool tells = shape.kind == MixerKind::rwkv6;
    const Bytes decays = tells ? wide_bytes(local_heads * key_dim) : Bytes{};
    Operation made =
        products("chunk states", written, written, value_bytes + key_bytes + decays + state);
    made.saved = value_bytes + 2.0 * key_bytes + decays;
    made.working = state;
    builder.add(made);
    builder.add(products("chunk outputs",
                         scored + local_heads * chunk_tokens * value_dim + written,
                         scored,
                         2.0 * (value_bytes + key_bytes) + decays + state));
    Operation norm = begin("gated norm");
    norm.saved = 2.0 * value_bytes;
    add_memory(norm, 3.0 * value_bytes, 5.0 * value_bytes);
  }

  /// Decays and rates are sigmoids (the decay scaled), first values are mixed in, keys are weighed
  /// and normed for what they take out, and weighed by their rates for what they put in: what each
  /// of these kernels reads and writes.  [flash-linear-attention, layers/rwkv7.py]
  void add_rates() {
    const double passes = 4.0 + 2.0 + (is_first_delta() ? 0.0 : 2.0 + 4.0) + 2.0 + 2.0 + 3.0;
    Operation op = begin("decays, rates and keys");
    op.saved = (is_first_delta() ? 3.0 : 5.0) * value_bytes;
    add_memory(op, passes * value_bytes, 1.5 * passes * value_bytes);
  }

  void add_delta_chunks() {
    const Bytes moved = 5.0 * key_bytes + value_bytes;
    const double with_keys = local_heads * chunk_tokens * key_dim;
    const double with_values = local_heads * chunk_tokens * value_dim;
    const double inverse = local_heads * chunk_tokens * chunk_tokens / 6.0;
    const double written = local_heads * key_dim * value_dim;
    const double triangles = 5.0 * with_keys + 2.0 * with_values + inverse;
    Operation made = products(
        "chunk inverses", triangles, triangles, moved + 4.0 * bytes(local_heads * chunk_tokens));
    made.saved = moved;
    builder.add(made);
    const Bytes state = states(builder.element());
    Operation passed = products(
        "chunk states", 3.0 * written, 3.0 * written, 3.0 * key_bytes + value_bytes + state);
    passed.working = state;
    builder.add(passed);
    Operation read = products(
        "chunk outputs", 2.0 * with_values + written, 0.0, key_bytes + 2.0 * value_bytes + state);
    read.working = 2.0 * state;
    builder.add(read);
    // The norm of the heads' results, what a token reads of itself, and gates.
    Operation norm = begin("gated norm");
    norm.saved = 3.0 * value_bytes;
    add_memory(norm, 8.0 * value_bytes, 13.0 * value_bytes);
  }

  bool first_;
};

}  // namespace

void add_rwkv(LayerBuilder& layer, const Mixer& mixer, bool first) {
  RwkvBuilder(layer, mixer, first).add();
}

}  // namespace titer
