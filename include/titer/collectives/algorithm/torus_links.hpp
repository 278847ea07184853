#pragma once
// The torus algorithms with all wires busy at once: the buffer in d parts, part j starting with
// axis j, so that in every phase each axis carries another part. For d axes that are all alike.

#include "titer/collectives/algorithm/torus.hpp"

namespace titer {

/// All-gather: t = d (p-1) a + (1 - 1/P) S / (d w B), w: 2 where the axes wrap, 1 on lines.
/// [Sack & Gropp 2015]
struct TorusAllLinksAllGather : TorusAlgorithm {
  static constexpr std::string_view name = "torus-all-links";
  static constexpr std::string_view formula =
      "d (p-1) a + ((P-1)/P) S / (d w B), w: 2 on rings, 1 on lines";
  static constexpr std::string_view source = "Sack & Gropp 2015";
  static constexpr std::string_view needs =
      "ranks that are a torus of equal axes, all closed or all open";

  [[nodiscard]] static constexpr bool applies(const Group& group, const Fabric& fabric) {
    return is_regular(group.torus) && TorusAlgorithm::applies(group, fabric);
  }
  [[nodiscard]] static Seconds time(Bytes size, const Group& group, const Fabric& fabric) {
    if (group.ranks() == 1) {
      return Seconds{};
    }
    const WireLoad load = bucket_load(group.torus);  // of one part
    return fabric.wire.stream(load.messages,
                              load.share * (size / static_cast<double>(group.torus.axes)));
  }
  [[nodiscard]] static constexpr Bytes volume(Bytes size, const Group& group) {
    return TorusAllGather::volume(size, group);
  }
  [[nodiscard]] static Steps steps(Bytes size, const Group& group, const Fabric& fabric);
};

/// Reduce-scatter: the same the other way round.
struct TorusAllLinksReduceScatter : TorusAllLinksAllGather {
  [[nodiscard]] static Steps steps(Bytes size, const Group& group, const Fabric& fabric);
};

/// All-reduce, both after one another: t = 2 d (p-1) a + 2 (1 - 1/P) S / (d w B).
struct TorusAllLinksAllReduce : TorusAllLinksAllGather {
  static constexpr std::string_view formula =
      "2 d (p-1) a + 2 ((P-1)/P) S / (d w B), w: 2 on rings, 1 on lines";

  [[nodiscard]] static Seconds time(Bytes size, const Group& group, const Fabric& fabric) {
    if (group.ranks() == 1) {
      return Seconds{};
    }
    const WireLoad load = bucket_load(group.torus);
    return fabric.wire.stream(2 * load.messages,
                              2 * load.share * (size / static_cast<double>(group.torus.axes)));
  }
  [[nodiscard]] static constexpr Bytes volume(Bytes size, const Group& group) {
    return TorusAllReduce::volume(size, group);
  }
  [[nodiscard]] static Steps steps(Bytes size, const Group& group, const Fabric& fabric);
};

}  // namespace titer
