#include "titer/model/transformer/mixer.hpp"

#include <algorithm>

#include "transformer_reading.hpp"

namespace titer {
namespace {

double number(std::int64_t integer) { return static_cast<double>(integer); }

constexpr Range kWide = {1, kMostWidth};

bool has_columns(const Mixer& mixer) { return mixer.kind != MixerKind::mamba; }
bool shares_keys(const Mixer& mixer) { return mixer.shares_keys(); }
bool has_rank(const Mixer& mixer) {
  return mixer.kind == MixerKind::mamba || mixer.kind == MixerKind::kimi_delta;
}
/// Of the kernels that each method was published with.
void read_chunk(const Field<Mixer>& own, Reader& in, Mixer& mixer) {
  const bool is_delta = mixer.kind == MixerKind::gated_delta || mixer.kind == MixerKind::kimi_delta;
  mixer.chunk =
      fields::read_integer(own.key, own.range, own.required, in).value_or(is_delta ? 64 : 256);
}
constexpr std::array kMixerFields = {
    fields::choice<&Mixer::kind, kMixerKinds>("kind", "its method").needed(),
    fields::integer<&Mixer::heads>("heads", kWide, "of values; Mamba's are its channels").needed(),
    fields::integer<&Mixer::head_dim>("head_dim", kWide, "columns of a value; of Mamba none")
        .needed()
        .or_else("required but of Mamba")
        .where(has_columns),
    fields::integer<&Mixer::key_heads>(
        "key_heads", kWide, "heads of queries and keys, of mamba2 and gated-delta")
        .needed()
        .or_else("required of these, else as many as `heads`")
        .where(shares_keys),
    fields::integer<&Mixer::key_dim>(
        "key_dim", kWide, "columns of a query and a key (C and B of state-space models)")
        .needed(),
    fields::integer<&Mixer::convolution>(
        "convolution", {0, kMostTaps}, "taps of the convolution before it; 0: none"),
    fields::integer<&Mixer::chunk>("chunk",
                                   Range{1, kMostTokens},
                                   "tokens that are mixed by products at a time; of Mamba none")
        .read_by(read_chunk)
        .or_else("256; of delta rules 64")
        .where(has_columns),
    fields::integer<&Mixer::rank>(
        "rank", kWide, "of the products that make Mamba's time steps, Kimi's decays and gates")
        .needed()
        .or_else("required of these")
        .where(has_rank),
    fields::flag<&Mixer::bias>("bias", "of the products with the hidden state"),
    fields::flag<&Mixer::convolution_bias>("convolution_bias", "of the convolution"),
    fields::flag<&Mixer::norm>("norm", "of what the heads return")};

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
      return value_width() + values_and_keys;
  }
  return values_and_keys;
}

std::int64_t Mixer::convolved_width() const {
  if (convolution == 0) {
    return 0;
  }
  return value_width() + (kind == MixerKind::mamba ? 0 : 2 * key_width());
}

double Mixer::products(std::int64_t hidden) const {
  const double around = number(hidden) * number(input_width() + value_width());
  if (kind == MixerKind::mamba) {  // time steps, keys and queries of the values, and back
    return around + number(value_width()) * number(2 * rank + 2 * key_width());
  }
  if (kind == MixerKind::kimi_delta) {  // decays and gates
    return around + number(rank) * number(2 * hidden + key_width() + value_width());
  }
  return around;
}

double Mixer::scan_products(std::int64_t sequence) const {
  const double c = number(std::min(chunk, sequence));
  const double k = number(key_dim);
  const double v = number(head_dim);
  switch (kind) {
    case MixerKind::mamba:
      return 0.0;
    case MixerKind::mamba2:
    case MixerKind::lightning:
      // Scores of a chunk, shared by the heads of a group, and what they weigh; states made of it
      // and read.  [Dao & Gu 2024, section 6]
      return c * (number(key_width()) + number(value_width())) + 2.0 * number(heads) * k * v;
    case MixerKind::gated_delta:
    case MixerKind::kimi_delta:
      // Keys with keys, the inverse of that triangle (c^3/6), and it with keys and with values;
      // queries with keys, and these with values; the state read for writing, written, and read.
      // [Yang et al. 2024, section 3.3]
      return number(heads) * (c * (3.0 * k + 2.0 * v) + c * c / 6.0 + 3.0 * k * v);
  }
  return 0.0;
}

std::span<const Field<Mixer>> mixer_fields() { return kMixerFields; }

void read_mixer(const Field<Transformer>& own, Reader& in, Transformer& model) {
  auto object = in.maybe_object(own.key);
  if (!object) {
    return;
  }
  Mixer& mixer = model.mixer.emplace();
  read_fields(mixer_fields(), *object, mixer);
  if (!has_columns(mixer)) {
    mixer.head_dim = mixer.key_heads = 1;
  } else if (!mixer.shares_keys()) {
    mixer.key_heads = mixer.heads;
  }
  check_mixer(in, own.key, mixer);
  if (!model.causal) {
    in.fail("causal", "expected true: a mixer's state goes from token to token");
  }
}

}  // namespace titer
