#pragma once
// Send and receive: rank 0 of a pair hands S bytes to rank 1.

#include <string_view>
#include <vector>

#include "titer/collectives/send.hpp"

namespace titer {

/// One message: t = alpha + S / B.  [Hockney 1994]
struct PointToPoint {
  static constexpr std::string_view name = "point-to-point";
  static constexpr std::string_view formula = "a + S / B";
  static constexpr std::string_view source = "Hockney 1994";

  [[nodiscard]] static constexpr bool applies(Group group) { return group.ranks() <= 2; }
  [[nodiscard]] static constexpr Seconds time(Bytes size, Group group, const Fabric& fabric) {
    return fabric.at(group.widest_tier()).time(group.ranks() == 1 ? 0 : 1, size);
  }
  [[nodiscard]] static constexpr Bytes volume(Bytes size, Group group) {
    return group.ranks() == 1 ? Bytes{} : size;
  }
  [[nodiscard]] static std::vector<Send> sends(Bytes size, Group group);
};

}  // namespace titer
