// A mixer of one layer: projections, short convolution, chunks or scan, gate.
//
// Kernels of chunks multiply small matrices on the chip, with decays between the products, as fused
// attention does with its softmax: they go at the rate of attention. What is made of a chunk's
// inputs in the backward pass again is not kept: states, and scores.
#include <algorithm>

#include "model/layer_builder.hpp"

namespace titer {
namespace {

/// All of a mixer is of this module, none of core attention: selective recomputation leaves it, as
/// its kernels repeat by themselves what is large.
constexpr Modules kMixer = bit(Module::attention);

class MixerBuilder {
 public:
  MixerBuilder(LayerBuilder& layer, const Mixer& mixer)
      : layer_(layer),
        mixer_(mixer),
        slice_(layer.slice()),
        tokens_(layer.tokens()),
        heads_(local(mixer.heads)),
        key_(static_cast<double>(mixer.key_dim)),
        value_(static_cast<double>(mixer.head_dim)),
        chunk_(static_cast<double>(std::min(mixer.chunk, slice_.sequence))),
        values_(bytes(local(mixer.value_width()))),
        keys_(copies() * bytes(local(mixer.key_width()))) {}

  void add(bool shares_transfers) {
    add_input();
    exchange("mixer scatter", scattered());
    if (mixer_.convolution > 0) {
      add_convolution();
    } else {
      add_activation();
    }
    add_mixing();
    exchange("mixer gather", returned());
    layer_.row_product({.name = "mixer output",
                        .inner = static_cast<double>(mixer_.value_width()),
                        .columns = layer_.hidden(),
                        .modules = kMixer,
                        .freed_by = kMixer,
                        .shares_transfers = shares_transfers});
  }

 private:
  /// Of so many columns or heads those of one tensor-parallel rank.
  [[nodiscard]] double local(std::int64_t all) const {
    return static_cast<double>(all) / layer_.tensor();
  }
  [[nodiscard]] Bytes bytes(double columns) const { return tokens_ * columns * layer_.element(); }
  [[nodiscard]] Bytes wide_bytes(double columns) const {
    return tokens_ * columns * size_of(DataType::fp32);
  }
  [[nodiscard]] static Operation begin(std::string_view name) {
    return {.name = name, .modules = kMixer, .freed_by = kMixer};
  }
  void add_memory(Operation op, Bytes forward, Bytes backward) {
    op.forward = LayerBuilder::memory(forward);
    op.input_gradient = LayerBuilder::memory(backward);
    op.forward.maker = KernelMaker::mixer;
    op.input_gradient.maker = KernelMaker::mixer;
    layer_.add(op);
  }
  /// Ranks with parts of a sequence share its heads out; keys of fewer heads are copied.
  /// [Megatron-Core, ssm/mamba_context_parallel.py]
  [[nodiscard]] double copies() const {
    const double own = std::max(1.0, local(mixer_.key_heads));
    return std::max(1.0, static_cast<double>(slice_.context) / own);
  }
  [[nodiscard]] bool is_kimi() const { return mixer_.kind == MixerKind::kimi_delta; }
  /// Columns of the convolution or of the activation in its place.
  [[nodiscard]] Bytes activated() const {
    return mixer_.kind == MixerKind::mamba ? values_ : values_ + 2.0 * keys_;
  }

  void add_input() {
    layer_.column_product({.name = "mixer input",
                           .inner = layer_.hidden(),
                           .columns = static_cast<double>(mixer_.input_width()),
                           .modules = kMixer,
                           .freed_by = layer_.input_norm()});
    if (!is_kimi()) {
      return;
    }
    const auto rank = static_cast<double>(mixer_.rank);
    layer_.replicated_product({.name = "decay and gate down",
                               .inner = layer_.hidden(),
                               .columns = 2.0 * rank,
                               .modules = kMixer,
                               .freed_by = layer_.input_norm(),
                               .keeps_input = false});
    const auto up = [&](std::string_view name, std::int64_t columns) {
      layer_.column_product({.name = name,
                             .inner = rank,
                             .columns = static_cast<double>(columns),
                             .modules = kMixer,
                             .freed_by = kMixer});
    };
    up("decay up", mixer_.key_width());
    up("gate up", mixer_.value_width());
  }

  [[nodiscard]] Bytes scattered() const {
    const Bytes copied = 2.0 * (keys_ - bytes(local(mixer_.key_width())));
    const Bytes low_rank = is_kimi() ? keys_ + values_ : Bytes{};
    return bytes(local(mixer_.input_width())) + low_rank + copied;
  }
  /// The norm over all of a group's heads comes when these are back, and their gates with them.
  [[nodiscard]] Bytes returned() const {
    return mixer_.kind == MixerKind::mamba2 && mixer_.norm ? 2.0 * values_ : values_;
  }
  /// From all heads of a part of the sequence to all parts of some heads, and back.
  void exchange(std::string_view name, Bytes sent) {
    if (slice_.context == 1) {
      return;
    }
    Operation op = begin(name);
    op.forward_transfer = {Collective::all_to_all, sent, LayerGroup::context};
    op.backward_transfer = op.forward_transfer;
    add_memory(op, 2.0 * sent, 2.0 * sent);
  }

  /// With its activation. Mamba-2 keeps the input only, and convolves again.
  void add_convolution() {
    const Bytes x = activated();
    Operation op = begin("short convolution");
    op.saved = x;
    add_memory(op, 2.0 * x, (mixer_.kind == MixerKind::mamba2 ? 5.0 : 3.0) * x);
  }
  void add_activation() {
    Operation op = begin("mixer activation");
    op.saved = activated();
    add_memory(op, 2.0 * op.saved, 3.0 * op.saved);
  }

  void add_mixing() {
    switch (mixer_.kind) {
      case MixerKind::mamba:
        add_time_steps();
        add_scan();
        return;
      case MixerKind::mamba2:
        add_decays(heads_, false);
        add_chunks();
        break;
      case MixerKind::gated_delta:
        add_decays(2.0 * heads_, true);
        add_delta_chunks();
        break;
      case MixerKind::kimi_delta:
        add_decays(local(mixer_.key_width()) + heads_, true);
        add_delta_chunks();
        break;
      case MixerKind::lightning:
        add_lightning();
        break;
    }
    add_gate();
  }

  /// Mamba's time steps, keys and queries are made of all channels' values: the ranks' partial sums
  /// are added, and backward those of their gradients.
  void add_time_steps() {
    const auto rank = static_cast<double>(mixer_.rank);
    const double columns = rank + 2.0 * static_cast<double>(mixer_.key_width());
    Operation made = begin("time steps, keys and queries");
    layer_.multiply(made, {tokens_, local(mixer_.value_width()), columns});
    made.saved = values_;
    made.weight_input = made.saved;
    made.output_gradient = bytes(columns);
    if (slice_.tensor > 1) {
      made.forward_transfer = {Collective::all_reduce, bytes(columns)};
      made.backward_transfer = made.forward_transfer;
    }
    layer_.add(made);
    if (mixer_.norm) {
      Operation norm = begin("time step, key and query norm");
      norm.saved = bytes(columns);
      add_memory(norm, 2.0 * norm.saved, 3.0 * norm.saved);
    }
    Operation up = begin("time step up");
    layer_.multiply(up, {tokens_, rank, local(mixer_.value_width())});
    up.saved = bytes(rank);
    up.weight_input = up.saved;
    up.output_gradient = values_;
    layer_.add(up);
  }
  /// One kernel with the gate: each channel's state stays on the chip, in fp32. It keeps time
  /// steps, gates and outputs beside its other inputs.  [Gu & Dao 2023, section 3.3.2]
  void add_scan() {
    const Bytes both = bytes(2.0 * static_cast<double>(mixer_.key_width()));
    Operation op = begin("selective scan");
    op.saved = 3.0 * values_ + both;
    add_memory(op, 4.0 * values_ + both, 8.0 * values_ + 3.0 * both);
  }

  /// Kept in fp32 where they are not made again.
  void add_decays(double columns, bool keeps) {
    Operation op = begin("decays");
    op.saved = bytes(columns) + (keeps ? wide_bytes(columns) : Bytes{});
    add_memory(
        op, bytes(columns) + wide_bytes(columns), 2.0 * bytes(columns) + wide_bytes(columns));
  }

  /// Products of chunks, so many multiply-adds per token: two gradients of each, and before them
  /// `repeated` of the forward pass.
  [[nodiscard]] Operation products(std::string_view name,
                                   double forward,
                                   double repeated,
                                   Bytes moved) const {
    Operation op = begin(name);
    const auto kernel = [&](double each, Bytes of) {
      return Kernel{.kind = KernelKind::attention,
                    .flops = Flops::from_si(2.0 * tokens_ * each),
                    .bytes = of,
                    .maker = KernelMaker::mixer};
    };
    op.forward = kernel(forward, moved);
    op.input_gradient = kernel(2.0 * forward + repeated, 3.0 * moved);
    return op;
  }
  /// One state per chunk and head.
  [[nodiscard]] Bytes states(Bytes element) const {
    return tokens_ / chunk_ * heads_ * key_ * value_ * element;
  }

  /// Mamba-2: states of all chunks at once, passed from chunk to chunk, and read; all of them made
  /// again backward, with the scores of keys and queries, which a group's heads share.
  /// [Dao & Gu 2024, section 6]
  void add_chunks() {
    const Bytes state = states(size_of(DataType::fp32));
    const double shared = copies() * local(mixer_.key_heads);
    const Bytes scores = wide_bytes(chunk_ * shared);
    const double written = heads_ * key_ * value_;
    Operation made = products("chunk states", written, written, values_ + keys_ + state);
    made.working = state;
    layer_.add(made);
    add_memory(begin("state passing"), 2.0 * state, 5.0 * state);
    const double scored = chunk_ * shared * key_;
    Operation read = products("chunk outputs",
                              scored + chunk_ * heads_ * value_ + written,
                              scored,
                              2.0 * (values_ + keys_) + state + 2.0 * scores);
    read.working = 2.0 * state + scores;
    layer_.add(read);
  }

  /// One kernel that goes from chunk to chunk with the state on the chip, and keeps its inputs.
  /// [Qin et al. 2024, section 3.2]
  void add_lightning() {
    const double scored = heads_ * chunk_ * key_;
    const double written = heads_ * key_ * value_;
    Operation op = products("lightning attention",
                            scored + heads_ * chunk_ * value_ + 2.0 * written,
                            scored + written,
                            2.0 * (values_ + keys_));
    op.saved = values_ + 2.0 * keys_;
    layer_.add(op);
  }

  /// The delta rule: what a chunk's tokens write in place of one another is the inverse of a
  /// triangle, which is kept; what it makes of keys and values, and the states, are made again.
  /// Every head of values has its own queries and keys.  [Yang et al. 2024, section 3.3]
  void add_delta_chunks() {
    const Bytes keys = bytes(heads_ * key_);
    Operation norm = begin("query and key norm");
    add_memory(norm, 2.0 * (keys_ + keys), 2.0 * (keys_ + 2.0 * keys));

    const Bytes inverse = bytes(heads_ * chunk_);
    const Bytes moved = 2.0 * (keys + values_);
    const double with_keys = heads_ * chunk_ * key_;
    const double with_values = heads_ * chunk_ * value_;
    Operation made = products("chunk inverses",
                              2.0 * with_keys + with_values + heads_ * chunk_ * chunk_ / 6.0,
                              with_keys + with_values,
                              moved + 2.0 * inverse);
    made.saved = 2.0 * keys + values_ + inverse;
    layer_.add(made);
    const Bytes state = states(layer_.element());
    const double written = heads_ * key_ * value_;
    Operation passed = products("chunk states", 2.0 * written, 2.0 * written, moved + state);
    passed.working = state;
    layer_.add(passed);
    Operation read =
        products("chunk outputs", with_keys + with_values + written, with_keys, moved + state);
    read.working = 2.0 * state + keys + 2.0 * values_;
    layer_.add(read);
  }

  void add_gate() {
    Operation op = begin(mixer_.norm ? "gated norm" : "gate");
    op.saved = 2.0 * values_;
    add_memory(op, 3.0 * values_, 5.0 * values_);
  }

  LayerBuilder& layer_;
  const Mixer& mixer_;
  const Slice& slice_;
  double tokens_;
  double heads_;
  double key_;
  double value_;
  double chunk_;
  Bytes values_;
  Bytes keys_;  // or queries, with their copies
};

}  // namespace

void add_mixer(LayerBuilder& layer, const Mixer& mixer, bool shares_transfers) {
  MixerBuilder(layer, mixer).add(shares_transfers);
}

}  // namespace titer
