#pragma once
// The collectives by name, what each must move at least, and the bandwidths to report for it.

#include <array>
#include <cstddef>
#include <string_view>

#include "titer/collectives/link.hpp"

namespace titer {

enum class Collective {
  all_reduce,
  all_gather,
  reduce_scatter,
  all_to_all,
  broadcast,
  reduce,
  send_recv
};

inline constexpr std::array kCollectives = {Collective::all_reduce,
                                            Collective::all_gather,
                                            Collective::reduce_scatter,
                                            Collective::all_to_all,
                                            Collective::broadcast,
                                            Collective::reduce,
                                            Collective::send_recv};
static_assert(kCollectives.size() == kCollectiveKinds);

[[nodiscard]] constexpr std::string_view name_of(Collective collective) {
  constexpr std::array<std::string_view, kCollectives.size()> names = {"all-reduce",
                                                                       "all-gather",
                                                                       "reduce-scatter",
                                                                       "all-to-all",
                                                                       "broadcast",
                                                                       "reduce",
                                                                       "send-recv"};
  return names[static_cast<std::size_t>(collective)];
}

/// Bus bandwidth over algorithm bandwidth: all-reduce 2 (n-1)/n; all-gather, reduce-scatter and
/// all-to-all (n-1)/n; broadcast, reduce and send-recv 1.  [nccl-tests, doc/PERFORMANCE.md]
/// For one rank it is 0: nothing moves.
[[nodiscard]] constexpr double bus_factor(Collective collective, int ranks) {
  const double others = static_cast<double>(ranks - 1) / ranks;
  switch (collective) {
    case Collective::all_reduce:
      return 2.0 * others;
    case Collective::all_gather:
    case Collective::reduce_scatter:
    case Collective::all_to_all:
      return others;
    case Collective::broadcast:
    case Collective::reduce:
    case Collective::send_recv:
      return ranks == 1 ? 0.0 : 1.0;
  }
  ensure(false, "a collective is one of the enumerated ones");
  return 0.0;
}

/// The bytes that each rank has to send when all send alike: the factor above times S. (E6, E11)
[[nodiscard]] constexpr Bytes volume(Collective collective, Bytes size, int ranks) {
  return bus_factor(collective, ranks) * size;
}

/// The bandwidth that a rank's port would show if the volume above were sent in `time`.
[[nodiscard]] constexpr BytesPerSecond bus_bandwidth(Collective collective,
                                                     Bytes size,
                                                     int ranks,
                                                     Seconds time) {
  return volume(collective, size, ranks) / time;
}

}  // namespace titer
