#pragma once
// Grids of any number of dimensions, each closed to a ring or open.

#include <cstddef>
#include <string_view>
#include <vector>

#include "titer/input/reader.hpp"
#include "titer/topology/topology.hpp"

namespace titer {

/// A torus, and without wrap-around links a mesh (TPU pods). Devices are numbered along the first
/// dimension first. A dimension of length 2 has one link between its two devices, one of length 1
/// none. `bandwidth`: of one link, one direction.
struct Torus {
  static constexpr std::string_view name = "torus";
  static constexpr std::size_t most_dimensions = 8;
  std::vector<int> dimensions;
  std::vector<bool> wrap;  // per dimension
  BytesPerSecond bandwidth;
  Seconds latency{};
  [[nodiscard]] static Torus read(Reader& in);
  /// Cuts it to the box whose lengths are the list "slice" of `in`, if there is one. An axis stays
  /// closed only where the slice goes all the way round it.
  void read_slice(Reader& in);
  [[nodiscard]] Topology build() const;

  [[nodiscard]] int devices() const;
  /// Links that leave a cut across dimension `i` on both its sides: 2 for a closed one.
  [[nodiscard]] int links_across(std::size_t i) const;
};

}  // namespace titer
