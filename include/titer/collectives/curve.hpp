#pragma once
// A measured collective as a curve of two straight pieces over the size. It is an alternative to
// the closed forms where the very collective has been measured; it says nothing about other groups.

#include <optional>
#include <span>

#include "titer/hardware/evidence.hpp"
#include "titer/input/document.hpp"
#include "titer/units/quantity.hpp"

namespace titer {

class Reader;

/// t = start + S / bandwidth; without a bandwidth, the time does not grow with the size.
struct CurvePiece {
  Seconds start;
  std::optional<BytesPerSecond> bandwidth{};

  [[nodiscard]] constexpr Seconds time(Bytes size) const {
    return bandwidth ? start + size / *bandwidth : start;
  }
};

/// `below` up to the split, `above` beyond it. The pieces need not meet, but time never decreases:
/// beyond the split it is at least that at the split.
struct Curve {
  CurvePiece below;
  CurvePiece above;
  Bytes split;
  Bytes least;  // of the sizes that it was fitted on
  Bytes most;
  double mean_error = 0.0;  // |predicted - measured| / measured on those sizes
  double max_error = 0.0;
  double left_out_error = 0.0;  // the mean over sizes that were left out of the fit, one at a time

  [[nodiscard]] constexpr Seconds time(Bytes size) const {
    if (size <= split) {
      return below.time(size);
    }
    const Seconds beyond = above.time(size);
    const Seconds at_split = below.time(split);
    return beyond < at_split ? at_split : beyond;
  }
  /// Fitted inside the sizes that were measured, extrapolated outside.
  [[nodiscard]] constexpr Grade grade(Bytes size) const {
    return size < least || size > most ? Grade::extrapolated : Grade::fitted;
  }
};

/// One measurement.
struct CurveSample {
  Bytes size;
  Seconds time;
};

/// The curve with the least sum of squared relative errors. The split is one of the sizes, with
/// three or more sizes on each side; with fewer than six there is one piece. Throws InputError for
/// fewer than four distinct sizes, or figures that are not positive.
[[nodiscard]] Curve fit_curve(std::span<const CurveSample> samples);

}  // namespace titer
