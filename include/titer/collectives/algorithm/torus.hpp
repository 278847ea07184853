#pragma once
// All-reduce, all-gather and reduce-scatter on an n-dimensional torus, one axis after the other.
// d: axes; p_i: length of axis i; P: all ranks; a, B: one wire, one direction; S: the full result.

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "titer/collectives/algorithm.hpp"

namespace titer {

/// Whether an axis is a ring of wires, which carries two directed rings, one each way. Other axes
/// are lines. A line carries one directed ring, 0, 2, 4, .., 5, 3, 1: its neighbours lie at most
/// two wires apart, and every wire carries one message each way in every step.
[[nodiscard]] constexpr bool is_two_way(const TorusShape& torus, std::size_t axis) {
  return torus.wrap[axis] && torus.length[axis] > 2;
}

/// Whether all the ranks of the group are wired as a torus (or mesh).
[[nodiscard]] constexpr bool is_torus(const Group& group) {
  return group.torus.axes >= 1 && group.torus.ranks() == group.ranks();
}

/// Messages go along the axes, from neighbour to neighbour.
struct TorusAlgorithm {
  static constexpr std::string_view needs = "ranks that are a torus, or a box of one";
  static constexpr bool exact = true;
  [[nodiscard]] static constexpr bool applies(const Group& group, const Fabric& fabric) {
    return is_torus(group) && fabric.wire.exists();
  }
};

/// How long an axis takes for the bytes of one message, in those of a ring of wires of its own.
[[nodiscard]] constexpr double wire_cost(const TorusShape& torus, std::size_t axis) {
  return torus.sharing[axis] / (is_two_way(torus, axis) ? 2 : 1);
}

/// The axes in the order of a reduce-scatter: each takes c_i (1 - 1/p_i) of what those before have
/// left, c: wire_cost. Swapping neighbours i, j of the order changes the sum by
/// (c_i - c_j) (1 - 1/p_i) (1 - 1/p_j), so the cheapest wires come first.
[[nodiscard]] constexpr std::array<std::size_t, TorusShape::most_axes> axis_order(
    const TorusShape& torus) {
  std::array<std::size_t, TorusShape::most_axes> order{0, 1, 2, 3};
  for (std::size_t i = 1; i < torus.axes; ++i) {
    for (std::size_t j = i; j > 0; --j) {
      if (wire_cost(torus, order[j]) < wire_cost(torus, order[j - 1])) {
        std::swap(order[j], order[j - 1]);
      }
    }
  }
  return order;
}

/// Whether there are several axes, and all are alike.
[[nodiscard]] constexpr bool is_regular(const TorusShape& torus) {
  for (std::size_t axis = 1; axis < torus.axes; ++axis) {
    if (torus.length[axis] != torus.length[0] || is_two_way(torus, axis) != is_two_way(torus, 0) ||
        torus.hops[axis] != torus.hops[0] || torus.sharing[axis] != torus.sharing[0]) {
      return false;
    }
  }
  return torus.axes >= 2;
}

/// The ranks between two neighbours along an axis, by number.
[[nodiscard]] constexpr int stride(const TorusShape& torus, std::size_t axis) {
  int product = 1;
  for (std::size_t before = 0; before < axis; ++before) {
    product *= torus.length[before];
  }
  return product;
}

[[nodiscard]] constexpr int coordinate(const TorusShape& torus, int rank, std::size_t axis) {
  return rank / stride(torus, axis) % torus.length[axis];
}

/// The coordinates along an axis in the order of its directed ring.
[[nodiscard]] std::vector<int> ring_order(const TorusShape& torus, std::size_t axis);

/// What one wire carries one way, one message after the other; bytes as a share of S.
struct WireLoad {
  int messages = 0;
  double share = 0.0;
};

/// Of a reduce-scatter (or all-gather), axis by axis: p_i - 1 messages of S / (p_1 .. p_i) each on
/// axis i, or of half as much on an axis that is two-way; the axes counted in axis_order(). Among
/// every k-th chip a message has k hops, and waits for the others that share its wires.
[[nodiscard]] constexpr WireLoad bucket_load(const TorusShape& torus) {
  WireLoad load;
  double block = 1.0;
  const auto order = axis_order(torus);
  for (std::size_t phase = 0; phase < torus.axes; ++phase) {
    const std::size_t axis = order[phase];
    const int length = torus.length[axis];
    block /= length;
    load.messages += (length - 1) * torus.hops[axis];
    load.share += (length - 1) * block * wire_cost(torus, axis);
  }
  return load;
}

/// Of every rank sending to the next of a ring through all of them, at once: along one axis after
/// the other, there and back, so that the longest and most shared step is the one to wait for.
[[nodiscard]] constexpr WireLoad neighbour_load(const TorusShape& torus) {
  WireLoad load;
  for (std::size_t axis = 0; axis < torus.axes; ++axis) {
    load.messages = std::max(load.messages, torus.hops[axis]);
    load.share = std::max(load.share, torus.sharing[axis]);
  }
  return load;
}

/// All-gather: the last axis first, each gathering what the axes before have gathered:
/// t = sum over i of (p_i - 1) (a + S / (w_i p_1 .. p_i B)), w_i: 2 where the axis wraps, 1 on a
/// line; axes with wider wires are counted first. [Barnett, van de Geijn et al. 1993; Chan et al.
/// 2007; over every k-th chip of an axis: Kumar et al. 2021]
/// With a wrap on all axes: sum of (p_i - 1) a + (1 - 1/P) S / (2 B). A mesh takes twice that.
struct TorusAllGather : TorusAlgorithm {
  static constexpr std::string_view name = "torus-bucket";
  static constexpr std::string_view formula =
      "sum_i (p_i-1) (a + S / (w_i p_1..p_i B)), w: 2 on a ring, 1 on a line";
  static constexpr std::string_view source = "Barnett, van de Geijn et al. 1993; Chan et al. 2007";

  [[nodiscard]] static Seconds time(Bytes size, const Group& group, const Fabric& fabric) {
    const WireLoad load = bucket_load(group.torus);
    return fabric.wire.stream(load.messages, load.share * size);
  }
  [[nodiscard]] static constexpr Bytes volume(Bytes size, const Group& group) {
    return size * (static_cast<double>(group.ranks() - 1) / group.ranks());
  }
  [[nodiscard]] static Steps steps(Bytes size, const Group& group, const Fabric& fabric);
};

/// Reduce-scatter: the same the other way round, the first axis first.
struct TorusReduceScatter : TorusAllGather {
  [[nodiscard]] static Steps steps(Bytes size, const Group& group, const Fabric& fabric);
};

/// All-reduce: the reduce-scatter, then the all-gather.
struct TorusAllReduce : TorusAllGather {
  static constexpr std::string_view formula =
      "2 sum_i (p_i-1) (a + S / (w_i p_1..p_i B)), w: 2 on a ring, 1 on a line";

  [[nodiscard]] static Seconds time(Bytes size, const Group& group, const Fabric& fabric) {
    const WireLoad load = bucket_load(group.torus);
    return fabric.wire.stream(2 * load.messages, 2 * load.share * size);
  }
  [[nodiscard]] static constexpr Bytes volume(Bytes size, const Group& group) {
    return 2 * TorusAllGather::volume(size, group);
  }
  [[nodiscard]] static Steps steps(Bytes size, const Group& group, const Fabric& fabric);
};

}  // namespace titer
