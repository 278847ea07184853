#pragma once
// A mixer of each kind, and a model with layers of it.

#include <array>

#include "model/samples.hpp"

namespace titer::samples {

inline constexpr Mixer kMamba{.kind = MixerKind::mamba,
                              .heads = 8192,
                              .head_dim = 1,
                              .key_heads = 1,
                              .key_dim = 16,
                              .convolution = 4,
                              .rank = 256,
                              .convolution_bias = true};
inline constexpr Mixer kMamba2{.kind = MixerKind::mamba2,
                               .heads = 128,
                               .head_dim = 64,
                               .key_heads = 8,
                               .key_dim = 128,
                               .convolution = 4,
                               .chunk = 256,
                               .convolution_bias = true};
inline constexpr Mixer kGatedDelta{.kind = MixerKind::gated_delta,
                                   .heads = 32,
                                   .head_dim = 128,
                                   .key_heads = 16,
                                   .key_dim = 64,
                                   .convolution = 4,
                                   .chunk = 64};
inline constexpr Mixer kKimi{.kind = MixerKind::kimi_delta,
                             .heads = 32,
                             .head_dim = 128,
                             .key_heads = 32,
                             .key_dim = 128,
                             .convolution = 4,
                             .chunk = 64,
                             .rank = 128};
inline constexpr Mixer kLightning{.kind = MixerKind::lightning,
                                  .heads = 64,
                                  .head_dim = 128,
                                  .key_heads = 64,
                                  .key_dim = 128,
                                  .chunk = 256};
inline constexpr Mixer kShortConvolution{.kind = MixerKind::short_convolution,
                                         .heads = 4096,
                                         .head_dim = 1,
                                         .key_heads = 1,
                                         .key_dim = 1,
                                         .convolution = 3};
inline constexpr Mixer kRwkv4{
    .kind = MixerKind::rwkv4, .heads = 4096, .head_dim = 1, .key_heads = 4096, .key_dim = 1};
/// Of 64 heads, with ranks where a version has them.
constexpr Mixer rwkv(MixerKind kind, std::int64_t chunk, std::int64_t rank, std::int64_t mix_rank) {
  return {.kind = kind,
          .heads = 64,
          .head_dim = 64,
          .key_heads = 64,
          .key_dim = 64,
          .chunk = chunk,
          .rank = rank,
          .mix_rank = mix_rank};
}
inline constexpr Mixer kRwkv5 = rwkv(MixerKind::rwkv5, 64, 0, 0);
inline constexpr Mixer kRwkv6 = rwkv(MixerKind::rwkv6, 64, 128, 64);
inline constexpr Mixer kRwkv7 = rwkv(MixerKind::rwkv7, 16, 512, 96);
inline constexpr std::array kMixers = {kMamba,
                                       kMamba2,
                                       kGatedDelta,
                                       kKimi,
                                       kLightning,
                                       kShortConvolution,
                                       kRwkv4,
                                       kRwkv5,
                                       kRwkv6,
                                       kRwkv7};

/// Layers of a mixer with and without an MLP, of an MLP only, and of attention.
inline Transformer hybrid(const Mixer& mixer) {
  Transformer model = llama();
  model.layers = 8;
  model.mixer = mixer;
  model.attention_gate = true;
  model.vocabulary_multiple = 1;
  model.kinds = {{.tokens = TokenMixing::mixer},
                 {.tokens = TokenMixing::mixer, .mlp = false},
                 {.tokens = TokenMixing::none},
                 {.mlp = false}};
  model.order = {{0, 4}, {1, 2}, {2, 1}, {3, 1}};
  return model;
}

}  // namespace titer::samples
