#pragma once
// N workers push their gradients to M servers and pull the weights back.  [seed equation E13]

#include "titer/units/quantity.hpp"

namespace titer {

struct ParameterServers {
  double workers = 1;          // N
  double servers = 1;          // M, no more than workers (trap T13); they train nothing
  BytesPerSecond bandwidth{};  // BW_node, of a server's node

  /// t1 = N g / (M BW_node)
  [[nodiscard]] constexpr Seconds push(Bytes gradient) const {
    return workers * gradient / (servers * bandwidth);
  }
  /// t2 = N W / (M BW_node)
  [[nodiscard]] constexpr Seconds pull(Bytes weights) const {
    return workers * weights / (servers * bandwidth);
  }
  /// t_ps = t1 + t2: they cannot overlap.
  [[nodiscard]] constexpr Seconds time(Bytes gradient, Bytes weights) const {
    return push(gradient) + pull(weights);
  }
};

}  // namespace titer
