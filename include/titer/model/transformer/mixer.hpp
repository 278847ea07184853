#pragma once
// What mixes the tokens of a layer without comparing each with all others.

#include <array>
#include <cstdint>

#include "titer/input/choice.hpp"
#include "titer/model/parameter_count.hpp"

namespace titer {

enum class MixerKind : std::uint8_t {
  mamba,              // a selective scan of every channel by itself [Gu & Dao 2023]
  mamba2,             // one decay per head and token: scans as products of chunks [Dao & Gu 2024]
  gated_delta,        // writes replace what a key held [Yang et al. 2024]
  kimi_delta,         // likewise, with a decay per column of keys [Kimi Linear 2025]
  lightning,          // a fixed decay per head [Qin et al. 2024]
  short_convolution,  // of gated values, gated again; no state [LFM2 2025, section 2]
  rwkv4,              // weighed means of each channel by itself [Peng et al. 2023]
  rwkv5,              // a fixed decay per column of keys [Peng et al. 2024, Eagle]
  rwkv6,              // decays that tokens tell [Peng et al. 2024, Finch]
  rwkv7,              // and writes that replace what was held [Peng et al. 2025]
};
inline constexpr std::array<Choice<MixerKind>, 10> kMixerKinds = {
    {{"mamba", MixerKind::mamba},
     {"mamba2", MixerKind::mamba2},
     {"gated-delta", MixerKind::gated_delta},
     {"kimi-delta", MixerKind::kimi_delta},
     {"lightning", MixerKind::lightning},
     {"short-convolution", MixerKind::short_convolution},
     {"rwkv4", MixerKind::rwkv4},
     {"rwkv5", MixerKind::rwkv5},
     {"rwkv6", MixerKind::rwkv6},
     {"rwkv7", MixerKind::rwkv7}}};

/// Each head carries a state of key_dim x head_dim from token to token: keys say where a token's
/// values are written, queries where they are read. State-space models call queries C, keys B, and
/// key_dim the state's size.  [Dao & Gu 2024, section 7]
struct Mixer {
  MixerKind kind = MixerKind::mamba2;
  std::int64_t heads = 0;      // of values; channels, where each is mixed by itself
  std::int64_t head_dim = 0;   // of a value
  std::int64_t key_heads = 0;  // of queries and keys, each for heads / key_heads heads of values
  std::int64_t key_dim = 0;
  std::int64_t convolution = 0;  // taps of the causal convolution before it; 0: none
  std::int64_t chunk = 0;        // tokens that are mixed by products at a time; 0: by a scan
  std::int64_t rank = 0;         // of the two products that make time steps, decays or gates
  std::int64_t mix_rank = 0;     // of those that mix tokens (RWKV-6) or first values (RWKV-7) in
  bool bias = false;             // of the products with the hidden state
  bool convolution_bias = false;
  bool norm = true;  // of what the heads return; of Mamba's time steps, keys and queries

  /// Whether every channel is by itself: its own head, one column wide.
  [[nodiscard]] bool has_channels() const {
    return kind == MixerKind::mamba || kind == MixerKind::short_convolution ||
           kind == MixerKind::rwkv4;
  }
  /// Of RWKV, whose MLPs mix each token with the one before, too.
  [[nodiscard]] bool is_rwkv() const { return shifted_inputs() > 0; }
  /// Mixtures of a token and the one before that its products are of.
  [[nodiscard]] std::int64_t shifted_inputs() const;
  /// Likewise of its MLPs' products: up, and before RWKV-7 what gates their result.
  [[nodiscard]] std::int64_t shifted_mlp_inputs() const {
    return is_rwkv() ? (kind == MixerKind::rwkv7 ? 1 : 2) : 0;
  }
  [[nodiscard]] bool gates_mlp() const { return shifted_mlp_inputs() > 1; }
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
  /// Multiply-adds of its products with weights, for one token of so many columns; `first`: of the
  /// layer whose values the others mix in.
  [[nodiscard]] double products(std::int64_t hidden, bool first = false) const;
  /// Multiply-adds of its chunks' products for one token of a sequence: all of a chunk's pairs of
  /// tokens, of which kernels compute whole tiles. A scan has none.
  [[nodiscard]] double scan_products(std::int64_t sequence) const;

  friend bool operator==(const Mixer&, const Mixer&) = default;
};

[[nodiscard]] ParameterCount mixer_parameters(std::int64_t hidden, const Mixer& mixer, bool first);

}  // namespace titer
