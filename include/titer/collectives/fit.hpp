#pragma once
// The alpha-beta link, or the protocols of one wire, that explain measured times best.

#include <span>
#include <vector>

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

/// The protocols by which a library seems to drive a wire, the one of small messages first, and
/// how far off they are on the samples that they were fitted on.
struct ProtocolFit {
  std::vector<Link> links;  // one or two; without startups, which one number of messages hides
  Bytes least;              // of the messages
  Bytes most;
  double mean_error = 0.0;
  double max_error = 0.0;

  /// The fastest of them.
  [[nodiscard]] Seconds time(int messages, Bytes size) const;
};

/// The one or two links, none faster than `wire`, whose minimum has the least sum of squared
/// relative errors: one for the sizes up to some sample's, one beyond, three or more samples each.
/// Throws InputError as fit_link does.
[[nodiscard]] ProtocolFit fit_protocols(std::span<const LinkSample> samples, BytesPerSecond wire);

}  // namespace titer
