#include "titer/model/transformer/mixer.hpp"

#include <algorithm>

namespace titer {
namespace {

double number(std::int64_t integer) { return static_cast<double>(integer); }

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

}  // namespace titer
