#pragma once
// The alpha-beta link that explains measured times best.

#include <span>

#include "titer/collectives/link.hpp"

namespace titer {

/// One measurement: `messages` of `size` each, one after the other, took `time` in all. A ring
/// all-reduce of S over n ranks is 2 (n-1) messages of S/n.
struct LinkSample {
  Bytes size;
  Seconds time;
  int messages = 1;
};

/// The link, and how far off it is on the samples that it was fitted on: |predicted - measured| /
/// measured.
struct LinkFit {
  Link link;
  double mean_error = 0.0;
  double max_error = 0.0;
};

/// The alpha >= 0 and B > 0 that minimise the sum of squared relative errors of
/// t = messages (alpha + size / B). Throws InputError when the samples cannot tell the two apart
/// (fewer than two distinct sizes, times that do not grow with size) or are not positive.
[[nodiscard]] LinkFit fit_link(std::span<const LinkSample> samples);

}  // namespace titer
