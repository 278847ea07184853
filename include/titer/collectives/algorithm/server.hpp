#pragma once
// All-reduce over parameter servers that stand beside the ranks.

#include "titer/collectives/algorithm.hpp"

namespace titer {

/// n workers push a shard of their vector to each of M servers, which add up and hand back:
/// t = 2 a + 2 max(n / M, 1) S / B.  [E13: N g / (M BW) + N W / (M BW), push and pull do not
/// overlap] For M > n the workers' own ports bind (trap T13). Every server has the port of a
/// worker.
struct ParameterServer {
  static constexpr std::string_view name = "parameter-server";
  static constexpr std::string_view formula = "2 a + 2 max(n / M, 1) S / B, M: servers";
  static constexpr std::string_view source = "seed equation E13; Li et al. 2014";
  static constexpr std::string_view needs = "parameter servers beside the ranks";
  static constexpr bool exact = true;

  [[nodiscard]] static constexpr bool applies(const Group& group, const Fabric& fabric) {
    return group.servers >= 1 && fabric.at(group.exchange_tier()).exists();
  }
  [[nodiscard]] static Seconds time(Bytes size, const Group& group, const Fabric& fabric) {
    if (group.ranks() == 1) {
      return Seconds{};
    }
    const double load = static_cast<double>(group.ranks()) / group.servers;
    return fabric.at(group.exchange_tier()).stream(2, 2 * (load > 1 ? load : 1) * size);
  }
  [[nodiscard]] static constexpr Bytes volume(Bytes size, const Group& group) {
    return group.ranks() == 1 ? Bytes{} : size;
  }
  [[nodiscard]] static Steps steps(Bytes size, const Group& group, const Fabric& fabric);
};

}  // namespace titer
