#include "titer/model/transformer/mixer.hpp"

#include <algorithm>

#include "transformer_reading.hpp"

namespace titer {
namespace {

double number(std::int64_t integer) { return static_cast<double>(integer); }

constexpr Range kWide = {1, kMostWidth};

bool has_columns(const Mixer& mixer) { return !mixer.has_channels(); }
bool has_state(const Mixer& mixer) {
  return mixer.kind != MixerKind::short_convolution && !mixer.is_rwkv();
}
bool has_taps(const Mixer& mixer) { return !mixer.is_rwkv(); }
bool has_norm(const Mixer& mixer) {
  return mixer.kind != MixerKind::short_convolution && !mixer.is_rwkv();
}
bool has_mix_rank(const Mixer& mixer) {
  return mixer.kind == MixerKind::rwkv6 || mixer.kind == MixerKind::rwkv7;
}
bool shares_keys(const Mixer& mixer) { return mixer.shares_keys(); }
bool has_rank(const Mixer& mixer) {
  return mixer.kind == MixerKind::mamba || mixer.kind == MixerKind::kimi_delta ||
         has_mix_rank(mixer);
}
/// Of the kernels that each method was published with; flash-linear-attention's of RWKV.
std::int64_t usual_chunk(MixerKind kind) {
  switch (kind) {
    case MixerKind::gated_delta:
    case MixerKind::kimi_delta:
    case MixerKind::rwkv5:
    case MixerKind::rwkv6:
      return 64;
    case MixerKind::rwkv7:
      return 16;
    default:
      return 256;
  }
}
void read_chunk(const Field<Mixer>& own, Reader& in, Mixer& mixer) {
  mixer.chunk =
      fields::read_integer(own.key, own.range, own.required, in).value_or(usual_chunk(mixer.kind));
}
constexpr std::array kMixerFields = {
    fields::choice<&Mixer::kind, kMixerKinds>("kind", "its method").needed(),
    fields::integer<&Mixer::heads>(
        "heads", kWide, "of values; Mamba's, RWKV-4's and short convolutions' are their channels")
        .needed(),
    fields::integer<&Mixer::head_dim>("head_dim", kWide, "columns of a value; of channels none")
        .needed()
        .or_else("required but of channels")
        .where(has_columns),
    fields::integer<&Mixer::key_heads>(
        "key_heads", kWide, "heads of queries and keys, of mamba2 and gated-delta")
        .needed()
        .or_else("required of these, else as many as `heads`")
        .where(shares_keys),
    fields::integer<&Mixer::key_dim>(
        "key_dim", kWide, "columns of a query and a key (C and B of state-space models)")
        .needed()
        .or_else("required, but RWKV's are as wide as values and short convolutions have none")
        .where(has_state),
    fields::integer<&Mixer::convolution>(
        "convolution", {0, kMostTaps}, "taps of the convolution before it; 0: none")
        .where(has_taps),
    fields::integer<&Mixer::chunk>("chunk",
                                   Range{1, kMostTokens},
                                   "tokens that are mixed by products at a time; of channels none")
        .read_by(read_chunk)
        .or_else("256; of delta rules, RWKV-5 and RWKV-6 64, of RWKV-7 16")
        .where(has_columns),
    fields::integer<&Mixer::rank>(
        "rank",
        kWide,
        "of the products that make Mamba's time steps, Kimi's decays and gates, RWKV-6's decays "
        "and RWKV-7's decays, rates and gates")
        .needed()
        .or_else("required of these")
        .where(has_rank),
    fields::integer<&Mixer::mix_rank>(
        "mix_rank",
        kWide,
        "of the products by which RWKV-6 mixes tokens and RWKV-7 the first layer's values in")
        .needed()
        .or_else("required of these")
        .where(has_mix_rank),
    fields::flag<&Mixer::bias>("bias", "of the products with the hidden state").where(has_taps),
    fields::flag<&Mixer::convolution_bias>("convolution_bias", "of the convolution")
        .where(has_taps),
    fields::flag<&Mixer::norm>("norm", "of what the heads return").where(has_norm)};

/// What is not told of a kind, since it follows from it.
void follow_kind(Mixer& mixer) {
  if (mixer.is_rwkv() && !mixer.has_channels()) {
    mixer.key_dim = mixer.head_dim;
  }
  if (mixer.has_channels()) {
    mixer.head_dim = 1;
    mixer.key_heads = mixer.is_rwkv() ? mixer.heads : 1;
    mixer.key_dim = mixer.kind == MixerKind::mamba ? mixer.key_dim : 1;
  } else if (!mixer.shares_keys()) {
    mixer.key_heads = mixer.heads;
  }
}

}  // namespace

std::int64_t Mixer::input_width() const {
  const std::int64_t values_and_keys = value_width() + 2 * key_width();
  switch (kind) {
    case MixerKind::mamba:
      return 2 * value_width();
    case MixerKind::mamba2:  // and time steps
      return value_width() + values_and_keys + heads;
    case MixerKind::gated_delta:  // and decays and strengths of writing
      return value_width() + values_and_keys + 2 * heads;
    case MixerKind::kimi_delta:  // and strengths of writing
      return values_and_keys + heads;
    case MixerKind::lightning:
    case MixerKind::rwkv5:
    case MixerKind::rwkv6:
      return value_width() + values_and_keys;
    case MixerKind::short_convolution:  // with both gates
      return 3 * value_width();
    case MixerKind::rwkv4:
    case MixerKind::rwkv7:
      break;
  }
  return values_and_keys;
}

std::int64_t Mixer::shifted_inputs() const {
  switch (kind) {
    case MixerKind::rwkv4:
      return 3;
    case MixerKind::rwkv5:  // and of gates
      return 4;
    case MixerKind::rwkv6:  // and of decays
      return 5;
    case MixerKind::rwkv7:  // and of rates
      return 6;
    default:
      return 0;
  }
}

std::int64_t Mixer::convolved_width() const {
  if (convolution == 0) {
    return 0;
  }
  return value_width() + (has_channels() ? 0 : 2 * key_width());
}

double Mixer::products(std::int64_t hidden, bool first) const {
  const double around = number(hidden) * number(input_width() + value_width());
  const double both = number(hidden + value_width());
  switch (kind) {
    case MixerKind::mamba:  // time steps, keys and queries of the values, and back
      return around + number(value_width()) * number(2 * rank + 2 * key_width());
    case MixerKind::kimi_delta:  // decays and gates
      return around + number(rank) * number(2 * hidden + key_width() + value_width());
    case MixerKind::rwkv6:  // all mixtures' weights, of as many ranks; decays
      return around + number(mix_rank * shifted_inputs()) * number(2 * hidden) +
             number(rank) * both;
    case MixerKind::rwkv7:
      return around + number(rank + (first ? 0 : mix_rank)) * both;
    default:
      return around;
  }
}

double Mixer::scan_products(std::int64_t sequence) const {
  const double c = number(std::min(chunk, sequence));
  const double k = number(key_dim);
  const double v = number(head_dim);
  switch (kind) {
    case MixerKind::mamba:
    case MixerKind::short_convolution:
    case MixerKind::rwkv4:
      return 0.0;
    case MixerKind::mamba2:
    case MixerKind::lightning:
    case MixerKind::rwkv5:
    case MixerKind::rwkv6:
      // Scores of a chunk, shared by the heads of a group, and what they weigh; states made of it
      // and read.  [Dao & Gu 2024, section 6]
      return c * (number(key_width()) + number(value_width())) + 2.0 * number(heads) * k * v;
    case MixerKind::gated_delta:
    case MixerKind::kimi_delta:
      // Keys with keys, the inverse of that triangle (c^3/6), and it with keys and with values;
      // queries with keys, and these with values; the state read for writing, written, and read.
      // [Yang et al. 2024, section 3.3]
      return number(heads) * (c * (3.0 * k + 2.0 * v) + c * c / 6.0 + 3.0 * k * v);
    case MixerKind::rwkv7:
      // What is taken from the state and what is put in its place are vectors of their own: of each
      // pair of tokens four products of keys and the inverse's with keys, two of values on either
      // side of it, and the state read twice and written twice.
      // [flash-linear-attention, ops/generalized_delta_rule/dplr]
      return number(heads) * (c * (5.0 * k + 4.0 * v) + c * c / 6.0 + 4.0 * k * v);
  }
  return 0.0;
}

namespace {

/// What each version has beside its products, which other mixers have not.
ParameterCount rwkv_parameters(std::int64_t hidden, const Mixer& mixer, bool first) {
  const std::int64_t values = mixer.value_width();
  switch (mixer.kind) {
    case MixerKind::rwkv4:  // decay, and what a channel's own token weighs
      return {.split = 2 * values};
    case MixerKind::rwkv5:  // and the norm of what the heads return
      return {.split = 4 * values};
    case MixerKind::rwkv6:  // a mixture before all others, and the products that tell these
      return {
          .split = (4 + mixer.rank) * values,
          .replicated = hidden * (1 + 2 * mixer.mix_rank * mixer.shifted_inputs() + mixer.rank)};
    case MixerKind::rwkv7: {  // biases of decays, rates and first values; weights of keys, of
                              // their rates and of what a token reads of itself; the norm
      const std::int64_t rank = mixer.rank + (first ? 0 : mixer.mix_rank);
      return {.split = values * (rank + (first ? 7 : 8)), .replicated = hidden * rank};
    }
    default:
      return {};
  }
}

}  // namespace

/// All of it is split by heads, but what they share. Mamba's norms are of time steps, keys and
/// queries, which every rank has whole.
ParameterCount mixer_parameters(std::int64_t hidden, const Mixer& mixer, bool first) {
  const std::int64_t values = mixer.value_width();
  const std::int64_t keys = mixer.key_width();
  const std::int64_t taps = mixer.convolution + (mixer.convolution_bias ? 1 : 0);
  ParameterCount count{
      .split = hidden * (mixer.input_width() + values) + mixer.convolved_width() * taps,
      .replicated = hidden * mixer.shifted_inputs()};
  if (mixer.bias) {
    count.split += mixer.input_width();
    count.replicated += hidden;
  }
  switch (mixer.kind) {
    case MixerKind::mamba:  // time steps with a bias; decays of each channel's state, and D
      count.split += values * (2 * mixer.rank + 2 * keys + 1) + values * (keys + 1);
      count.replicated += mixer.norm ? mixer.rank + 2 * keys : 0;
      break;
    case MixerKind::mamba2:  // decay, bias of the time step, and D
      count.split += 3 * mixer.heads + (mixer.norm ? values : 0);
      break;
    case MixerKind::gated_delta:  // decay and its bias
      count.split += 2 * mixer.heads;
      count.replicated += mixer.norm ? mixer.head_dim : 0;
      break;
    case MixerKind::kimi_delta:  // decay, and a bias for each column of keys
      count.split += mixer.heads + keys + mixer.rank * (keys + values);
      count.replicated += 2 * hidden * mixer.rank + (mixer.norm ? mixer.head_dim : 0);
      break;
    case MixerKind::lightning:
      count.split += mixer.norm ? values : 0;
      break;
    default:
      count += rwkv_parameters(hidden, mixer, first);
      break;
  }
  return count;
}

std::span<const Field<Mixer>> mixer_fields() { return kMixerFields; }

void read_mixer(const Field<Transformer>& own, Reader& in, Transformer& model) {
  auto object = in.maybe_object(own.key);
  if (!object) {
    return;
  }
  Mixer& mixer = model.mixer.emplace();
  read_fields(mixer_fields(), *object, mixer);
  follow_kind(mixer);
  check_mixer(in, own.key, mixer);
  if (!model.causal) {
    in.fail("causal", "expected true: a mixer's state goes from token to token");
  }
}

}  // namespace titer
