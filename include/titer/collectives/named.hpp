#pragma once
// Algorithms that a cluster or a stack names for its collectives, so that the fastest is not looked
// for.

#include <array>
#include <cstddef>
#include <cstdint>

namespace titer {

inline constexpr std::size_t kCollectiveKinds = 7;

/// Of each kind of collective the named algorithm, by its number in the list of that collective
/// (algorithms.hpp), from one. 0: none is named.
using AlgorithmNumbers = std::array<std::uint8_t, kCollectiveKinds>;

/// Of groups inside a node, and of those on several.
struct NamedAlgorithms {
  AlgorithmNumbers in_node{};
  AlgorithmNumbers between_nodes{};

  [[nodiscard]] constexpr const AlgorithmNumbers& of(int nodes) const {
    return nodes > 1 ? between_nodes : in_node;
  }
  /// The same, with what `others` name for groups of either kind put in its place.
  [[nodiscard]] constexpr NamedAlgorithms with(const AlgorithmNumbers& others) const {
    NamedAlgorithms changed = *this;
    for (std::size_t kind = 0; kind < kCollectiveKinds; ++kind) {
      if (others[kind] > 0) {
        changed.in_node[kind] = others[kind];
        changed.between_nodes[kind] = others[kind];
      }
    }
    return changed;
  }
};

}  // namespace titer
