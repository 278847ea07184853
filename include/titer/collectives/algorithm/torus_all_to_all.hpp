#pragma once
// All-to-all on an n-dimensional torus: along one axis after the other, every message hopping from
// neighbour to neighbour the shorter way round. It is limited by the wires across the middle of the
// longest axis. S: the bytes that each rank hands out, its own share included.

#include "titer/collectives/algorithm/torus.hpp"

namespace titer {

/// What the busiest wire of an axis of length p must carry each way, as a share of S, where all
/// messages take a shortest way: floor(p^2/4) / (2 p) around a ring (p/8 for even p), and
/// floor(p^2/4) / p on a line, across its middle.
[[nodiscard]] constexpr double all_to_all_share(const TorusShape& torus, std::size_t axis) {
  const int length = torus.length[axis];
  const double pairs = length * length / 4;  // NOLINT(bugprone-integer-division): floored
  return pairs / length / (is_two_way(torus, axis) ? 2 : 1);
}

/// Along a ring of p: in step k = 1 .. floor(p/2) every rank hands on, each way, what has k-1 hops
/// behind it and any before it; of what goes half way round, half goes each way. A line is folded
/// to a ring whose two ways share the wires: they take turns (and two ranks need one message).
[[nodiscard]] constexpr WireLoad all_to_all_load(const TorusShape& torus) {
  WireLoad load;
  for (std::size_t axis = 0; axis < torus.axes; ++axis) {
    const int length = torus.length[axis];
    const int turns = is_two_way(torus, axis) || length <= 2 ? 1 : 2;
    load.messages += turns * (length / 2) * torus.hops[axis];
    load.share += torus.sharing[axis] * all_to_all_share(torus, axis);
  }
  return load;
}

/// t = sum over the axes of h a + f S / B; a ring of length p: h = floor(p/2) hops,
/// f = floor(p^2/4) / (2 p); a line: twice that (but h = 1 for p = 2).
struct TorusAllToAll : TorusAlgorithm {
  static constexpr std::string_view name = "torus-bucket";
  static constexpr std::string_view formula =
      "sum_i h_i a + f_i S / B, h = floor(p/2), f = floor(p^2/4) / (2 p) on a ring, twice on a "
      "line";
  static constexpr std::string_view source = "ring exchange by hops, axis by axis (derived)";

  [[nodiscard]] static Seconds time(Bytes size, const Group& group, const Fabric& fabric) {
    const WireLoad load = all_to_all_load(group.torus);
    return fabric.wire.exchange(load.messages, load.share * size);
  }
  [[nodiscard]] static constexpr Bytes volume(Bytes size, const Group& group) {
    double share = 0.0;
    for (std::size_t axis = 0; axis < group.torus.axes; ++axis) {
      share += (is_two_way(group.torus, axis) ? 2 : 1) * all_to_all_share(group.torus, axis);
    }
    return share * size;
  }
  [[nodiscard]] static Steps steps(Bytes size, const Group& group, const Fabric& fabric);
};

/// In d parts, part j starting with axis j, all axes at once; for axes that are all alike. It takes
/// the bandwidth of the bound: t = d h a + f S / B.
struct TorusAllLinksAllToAll : TorusAlgorithm {
  static constexpr std::string_view name = "torus-all-links";
  static constexpr std::string_view formula =
      "d h a + f S / B, h = floor(p/2), f = floor(p^2/4) / (2 p) on rings, twice on lines";
  static constexpr std::string_view source = TorusAllToAll::source;

  [[nodiscard]] static constexpr bool applies(const Group& group, const Fabric& fabric) {
    return is_regular(group.torus) && TorusAlgorithm::applies(group, fabric);
  }
  [[nodiscard]] static Seconds time(Bytes size, const Group& group, const Fabric& fabric) {
    if (group.ranks() == 1) {
      return Seconds{};
    }
    const WireLoad load = all_to_all_load(group.torus);
    return fabric.wire.exchange(load.messages,
                                load.share * (size / static_cast<double>(group.torus.axes)));
  }
  [[nodiscard]] static constexpr Bytes volume(Bytes size, const Group& group) {
    if (group.ranks() == 1) {
      return Bytes{};
    }
    return TorusAllToAll::volume(size, group);
  }
  [[nodiscard]] static Steps steps(Bytes size, const Group& group, const Fabric& fabric);
};

}  // namespace titer
