#pragma once
// Groups of routers, all of a group joined, and all groups joined.

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "titer/input/fields.hpp"
#include "titer/topology/topology.hpp"

namespace titer {

/// A dragonfly.  [Kim, Dally, Scott & Abts 2008]
/// `pair_links` links join every pair of groups. Global port k of a group (they are dealt to its
/// routers in order, equally many each) leads to the group k mod (groups-1) + 1 places further,
/// around the circle of groups (the palm-tree arrangement).
struct Dragonfly {
  static constexpr std::string_view name = "dragonfly";
  static constexpr std::string_view about =
      "groups of routers, all of a group joined, and all groups joined";
  int groups = 0;
  int routers_per_group = 0;
  int devices_per_router = 0;
  int pair_links = 1;
  BytesPerSecond device_bandwidth;
  BytesPerSecond local_bandwidth;
  BytesPerSecond global_bandwidth;
  Seconds latency{};  // of any link
  [[nodiscard]] static std::span<const Field<Dragonfly>> fields();
  void check(Reader& in);
  [[nodiscard]] Topology build() const;
  [[nodiscard]] Dragonfly in_small(std::string& note) const;
  /// Of several groups: the global links between two halves of them, an estimate.
  [[nodiscard]] std::optional<Bisection> bisection() const;

  /// Global ports of one router; the last routers may use fewer.
  [[nodiscard]] int global_ports() const {
    return (pair_links * (groups - 1) + routers_per_group - 1) / routers_per_group;
  }
};

}  // namespace titer
