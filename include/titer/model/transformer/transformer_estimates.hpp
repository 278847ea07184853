#pragma once
// What slides and back-of-the-envelope plans take a transformer for: closed forms of its width,
// depth and length only. The model itself counts every tensor (transformer.hpp); these are near it
// where the width is large.  [seed equation E10; Narayanan et al. 2021; Korthikanti et al. 2022]

#include "titer/units/quantity.hpp"

namespace titer {

struct TransformerEstimate {
  double layers = 0;      // l
  double hidden = 0;      // d
  double heads = 0;       // a
  double sequence = 0;    // s
  double vocabulary = 0;  // V; 0 where it is left out

  /// P = 12 d^2 l: without embeddings, biases and norms.  [E10]
  [[nodiscard]] constexpr double parameters() const { return 12 * hidden * hidden * layers; }
  /// P = 12 l d^2 (1 + 13/(12 d) + (V + s)/(12 l d)).  [Narayanan 2021, eq. 2; trap T28]
  [[nodiscard]] constexpr double all_parameters() const {
    return parameters() *
           (1 + 13 / (12 * hidden) + (vocabulary + sequence) / (12 * layers * hidden));
  }
  /// b (72 s d^2 + 12 s^2 d) l: forward and backward, no recomputation, no logits.  [E10]
  [[nodiscard]] constexpr Flops flops(double batch) const {
    return Flops::from_si(
        batch * (72 * sequence * hidden * hidden + 12 * sequence * sequence * hidden) * layers);
  }
  /// c B s l d^2 (1 + s/(6 d) + V/(k l d)): c = 72, k = 12, and with full recomputation of the
  /// layers c = 96, k = 16.  [Narayanan 2021, eq. 3; trap T8]
  [[nodiscard]] constexpr Flops all_flops(double batch, bool recomputed) const {
    const double per_layer = recomputed ? 96 : 72;
    const double logits = vocabulary / (per_layer / 6 * layers * hidden);
    return Flops::from_si(per_layer * batch * sequence * layers * hidden * hidden *
                          (1 + sequence / (6 * hidden) + logits));
  }
  /// b (34 s d + 5 a s^2) l: 16 bits, masks of dropouts, scores kept.  [E10; Korthikanti 2022]
  [[nodiscard]] constexpr Bytes activations(double batch) const {
    return Bytes::from_si(batch * (34 * sequence * hidden + 5 * heads * sequence * sequence) *
                          layers);
  }
};

}  // namespace titer
