#pragma once
// What mixes the tokens of a layer without comparing each with all others.

#include <array>
#include <cstdint>

#include "titer/input/choice.hpp"

namespace titer {

enum class MixerKind : std::uint8_t {
  mamba,        // a selective scan of every channel by itself [Gu & Dao 2023]
  mamba2,       // one decay per head and token: scans as products of chunks [Dao & Gu 2024]
  gated_delta,  // writes replace what a key held [Yang et al. 2024]
  kimi_delta,   // likewise, with a decay per column of keys [Kimi Linear 2025]
  lightning,    // a fixed decay per head [Qin et al. 2024]
};
inline constexpr std::array<Choice<MixerKind>, 5> kMixerKinds = {
    {{"mamba", MixerKind::mamba},
     {"mamba2", MixerKind::mamba2},
     {"gated-delta", MixerKind::gated_delta},
     {"kimi-delta", MixerKind::kimi_delta},
     {"lightning", MixerKind::lightning}}};

/// Each head carries a state of key_dim x head_dim from token to token: keys say where a token's
/// values are written, queries where they are read. State-space models call queries C, keys B, and
/// key_dim the state's size.  [Dao & Gu 2024, section 7]
struct Mixer {
  MixerKind kind = MixerKind::mamba2;
  std::int64_t heads = 0;      // of values; Mamba's are its channels
  std::int64_t head_dim = 0;   // of a value
  std::int64_t key_heads = 0;  // of queries and keys, each for heads / key_heads heads of values
  std::int64_t key_dim = 0;
  std::int64_t convolution = 0;  // taps of the causal convolution before it; 0: none
  std::int64_t chunk = 0;        // tokens that are mixed by products at a time; 0: by a scan
  std::int64_t rank = 0;         // of the two products that make time steps, decays or gates
  bool bias = false;             // of the products with the hidden state
  bool convolution_bias = false;
  bool norm = true;  // of what the heads return; of Mamba's time steps, keys and queries

  [[nodiscard]] std::int64_t value_width() const { return heads * head_dim; }
  [[nodiscard]] std::int64_t key_width() const { return key_heads * key_dim; }
  /// Whether heads of values may have queries and keys in common. All of Mamba's have the same.
  [[nodiscard]] bool shares_keys() const {
    return kind == MixerKind::mamba2 || kind == MixerKind::gated_delta;
  }
  /// Columns of the product with the hidden state: values, their gates, queries and keys, and what
  /// there is one of per head. Mamba's queries and keys are made of the values, Kimi's gates of a
  /// product of low rank.
  [[nodiscard]] std::int64_t input_width() const;
  /// Those of them that go through the convolution.
  [[nodiscard]] std::int64_t convolved_width() const;
  /// Multiply-adds of its products with weights, for one token of so many columns.
  [[nodiscard]] double products(std::int64_t hidden) const;
  /// Multiply-adds of its chunks' products for one token of a sequence: all of a chunk's pairs of
  /// tokens, of which kernels compute whole tiles. A scan has none.
  [[nodiscard]] double scan_products(std::int64_t sequence) const;

  friend bool operator==(const Mixer&, const Mixer&) = default;
};

}  // namespace titer
