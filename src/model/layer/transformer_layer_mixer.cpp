// A mixer of one layer: projections, short convolution, chunks or scan, gate.
#include "mixer_parts.hpp"

namespace titer {
namespace {

class MixerBuilder : MixerParts {
 public:
  using MixerParts::MixerParts;

  void add(bool shares_transfers) {
    add_input();
    exchange("mixer scatter", scattered());
    if (shape.kind == MixerKind::short_convolution) {
      add_gated_convolution();
    } else {
      if (shape.convolution > 0) {
        add_convolution();
      } else {
        add_activation();
      }
      add_mixing();
    }
    exchange("mixer gather", returned());
    add_output(shares_transfers);
  }

 private:
  [[nodiscard]] bool is_kimi() const { return shape.kind == MixerKind::kimi_delta; }
  /// Columns of the convolution or of the activation in its place.
  [[nodiscard]] Bytes activated() const {
    return shape.has_channels() ? value_bytes : value_bytes + 2.0 * key_bytes;
  }

  void add_input() {
    builder.column_product({.name = "mixer input",
                            .inner = builder.hidden(),
                            .columns = static_cast<double>(shape.input_width()),
                            .modules = kMixer,
                            .freed_by = builder.input_norm()});
    if (!is_kimi()) {
      return;
    }
    const auto rank = static_cast<double>(shape.rank);
    builder.replicated_product({.name = "decay and gate down",
                                .inner = builder.hidden(),
                                .columns = 2.0 * rank,
                                .modules = kMixer,
                                .freed_by = builder.input_norm(),
                                .keeps_input = false});
    const auto up = [&](std::string_view name, std::int64_t columns) {
      builder.column_product({.name = name,
                              .inner = rank,
                              .columns = static_cast<double>(columns),
                              .modules = kMixer,
                              .freed_by = kMixer});
    };
    up("decay up", shape.key_width());
    up("gate up", shape.value_width());
  }

  [[nodiscard]] Bytes scattered() const {
    const Bytes copied = 2.0 * (key_bytes - bytes(local(shape.key_width())));
    const Bytes low_rank = is_kimi() ? key_bytes + value_bytes : Bytes{};
    return bytes(local(shape.input_width())) + low_rank + copied;
  }
  /// The norm over all of a group's heads comes when these are back, and their gates with them.
  [[nodiscard]] Bytes returned() const {
    return shape.kind == MixerKind::mamba2 && shape.norm ? 2.0 * value_bytes : value_bytes;
  }
  /// From all heads of a part of the sequence to all parts of some heads, and back.
  void exchange(std::string_view name, Bytes sent) {
    if (part.context == 1) {
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
    add_memory(op, 2.0 * x, (shape.kind == MixerKind::mamba2 ? 5.0 : 3.0) * x);
  }
  /// A gate before it and one behind: three kernels, each of which keeps what it reads.
  void add_gated_convolution() {
    const auto add_one = [&](std::string_view name, double read) {
      Operation op = begin(name);
      op.saved = read * value_bytes;
      add_memory(op, (read + 1.0) * value_bytes, (2.0 * read + 1.0) * value_bytes);
    };
    add_one("convolution input gate", 2.0);
    add_one("short convolution", 1.0);
    add_one("convolution output gate", 2.0);
  }
  void add_activation() {
    Operation op = begin("mixer activation");
    op.saved = activated();
    add_memory(op, 2.0 * op.saved, 3.0 * op.saved);
  }

  void add_mixing() {
    switch (shape.kind) {
      case MixerKind::mamba:
        add_time_steps();
        add_scan();
        return;
      case MixerKind::mamba2:
        add_decays(local_heads, false);
        add_chunks();
        break;
      case MixerKind::gated_delta:
        add_decays(2.0 * local_heads, true);
        add_delta_chunks();
        break;
      case MixerKind::kimi_delta:
        add_decays(local(shape.key_width()) + local_heads, true);
        add_delta_chunks();
        break;
      case MixerKind::lightning:
        add_lightning();
        break;
      default:  // made elsewhere
        break;
    }
    add_gate();
  }

  /// Mamba's time steps, keys and queries are made of all channels' values: the ranks' partial sums
  /// are added, and backward those of their gradients.
  void add_time_steps() {
    const auto rank = static_cast<double>(shape.rank);
    const double columns = rank + 2.0 * static_cast<double>(shape.key_width());
    Operation made = begin("time steps, keys and queries");
    builder.multiply(made, {local_tokens, local(shape.value_width()), columns});
    made.saved = value_bytes;
    made.weight_input = made.saved;
    made.output_gradient = bytes(columns);
    if (part.tensor > 1) {
      made.forward_transfer = {Collective::all_reduce, bytes(columns)};
      made.backward_transfer = made.forward_transfer;
    }
    builder.add(made);
    if (shape.norm) {
      Operation norm = begin("time step, key and query norm");
      norm.saved = bytes(columns);
      add_memory(norm, 2.0 * norm.saved, 3.0 * norm.saved);
    }
    Operation up = begin("time step up");
    builder.multiply(up, {local_tokens, rank, local(shape.value_width())});
    up.saved = bytes(rank);
    up.weight_input = up.saved;
    up.output_gradient = value_bytes;
    builder.add(up);
  }
  /// One kernel with the gate: each channel's state stays on the chip, in fp32. It keeps time
  /// steps, gates and outputs beside its other inputs.  [Gu & Dao 2023, section 3.3.2]
  void add_scan() {
    const Bytes both = bytes(2.0 * static_cast<double>(shape.key_width()));
    Operation op = begin("selective scan");
    op.saved = 3.0 * value_bytes + both;
    add_memory(op, 4.0 * value_bytes + both, 8.0 * value_bytes + 3.0 * both);
  }

  /// Kept in fp32 where they are not made again.
  void add_decays(double columns, bool keeps) {
    Operation op = begin("decays");
    op.saved = bytes(columns) + (keeps ? wide_bytes(columns) : Bytes{});
    add_memory(
        op, bytes(columns) + wide_bytes(columns), 2.0 * bytes(columns) + wide_bytes(columns));
  }

  /// Mamba-2: states of all chunks at once, passed from chunk to chunk, and read; all of them made
  /// again backward, with the scores of keys and queries, which a group's heads share.
  /// [Dao & Gu 2024, section 6]
  void add_chunks() {
    const Bytes state = states(size_of(DataType::fp32));
    const double shared = copies() * local(shape.key_heads);
    const Bytes scores = wide_bytes(chunk_tokens * shared);
    const double written = local_heads * key_dim * value_dim;
    Operation made = products("chunk states", written, written, value_bytes + key_bytes + state);
    made.working = state;
    builder.add(made);
    add_memory(begin("state passing"), 2.0 * state, 5.0 * state);
    const double scored = chunk_tokens * shared * key_dim;
    Operation read = products("chunk outputs",
                              scored + chunk_tokens * local_heads * value_dim + written,
                              scored,
                              2.0 * (value_bytes + key_bytes) + state + 2.0 * scores);
    read.working = 2.0 * state + scores;
    builder.add(read);
  }

  /// One kernel that goes from chunk to chunk with the state on the chip, and keeps its inputs.
  /// [Qin et al. 2024, section 3.2]
  void add_lightning() {
    const double scored = local_heads * chunk_tokens * key_dim;
    const double written = local_heads * key_dim * value_dim;
    Operation op = products("lightning attention",
                            scored + local_heads * chunk_tokens * value_dim + 2.0 * written,
                            scored + written,
                            2.0 * (value_bytes + key_bytes));
    op.saved = value_bytes + 2.0 * key_bytes;
    builder.add(op);
  }

  /// The delta rule: what a chunk's tokens write in place of one another is the inverse of a
  /// triangle, which is kept; what it makes of keys and values, and the states, are made again.
  /// Every head of values has its own queries and keys.  [Yang et al. 2024, section 3.3]
  void add_delta_chunks() {
    const Bytes keys = bytes(local_heads * key_dim);
    Operation norm = begin("query and key norm");
    add_memory(norm, 2.0 * (key_bytes + keys), 2.0 * (key_bytes + 2.0 * keys));

    const Bytes inverse = bytes(local_heads * chunk_tokens);
    const Bytes moved = 2.0 * (keys + value_bytes);
    const double with_keys = local_heads * chunk_tokens * key_dim;
    const double with_values = local_heads * chunk_tokens * value_dim;
    Operation made =
        products("chunk inverses",
                 2.0 * with_keys + with_values + local_heads * chunk_tokens * chunk_tokens / 6.0,
                 with_keys + with_values,
                 moved + 2.0 * inverse);
    made.saved = 2.0 * keys + value_bytes + inverse;
    builder.add(made);
    const Bytes state = states(builder.element());
    const double written = local_heads * key_dim * value_dim;
    Operation passed = products("chunk states", 2.0 * written, 2.0 * written, moved + state);
    passed.working = state;
    builder.add(passed);
    Operation read =
        products("chunk outputs", with_keys + with_values + written, with_keys, moved + state);
    read.working = 2.0 * state + keys + 2.0 * value_bytes;
    builder.add(read);
  }

  void add_gate() {
    Operation op = begin(shape.norm ? "gated norm" : "gate");
    op.saved = 2.0 * value_bytes;
    add_memory(op, 3.0 * value_bytes, 5.0 * value_bytes);
  }
};

}  // namespace

void add_mixer(LayerBuilder& layer, const LayerKind& kind) {
  const Mixer& mixer = *layer.model().mixer;
  if (mixer.is_rwkv()) {
    add_rwkv(layer, mixer, kind.first_values);
  } else {
    MixerBuilder(layer, mixer).add(sums_once(layer.model(), kind));
  }
}

}  // namespace titer
