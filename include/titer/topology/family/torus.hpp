#pragma once
// Grids of any number of dimensions, each closed to a ring or open.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "titer/input/fields.hpp"
#include "titer/topology/topology.hpp"

namespace titer {

/// A torus, and without wrap-around links a mesh (TPU pods). Devices are numbered along the first
/// dimension first. A dimension of length 2 has one link between its two devices, one of length 1
/// none. `bandwidth`: of one link, one direction.
struct Torus {
  static constexpr std::string_view name = "torus";
  static constexpr std::string_view about = "any number of dimensions, each closed or open";
  static constexpr std::size_t most_dimensions = 8;
  /// Cubes of this side that switches join to closed tori, of axes up to `longest` chips and `most`
  /// chips in all.
  struct Cubes {
    int side = 0;
    int longest = 0;
    int most = 0;
  };
  std::vector<int> dimensions;
  std::vector<bool> wrap;  // per dimension
  BytesPerSecond bandwidth;
  Seconds latency{};
  /// What parts of it are handed out, fewest chips first, for each number of them the most compact;
  /// the whole torus is not among them.
  std::vector<Torus> slices{};
  std::optional<Cubes> cubes{};
  [[nodiscard]] static std::span<const Field<Torus>> fields();
  /// Cuts it to the box, or to the whole cubes, whose lengths are the list "slice" of `in`, if
  /// there is one: then that is all there is of it.
  void read_slice(Reader& in);
  [[nodiscard]] Topology build() const;
  [[nodiscard]] Torus in_small(std::string& note) const;
  /// The links cut across the dimension where they are fewest: c P / p, c = 2 where it is closed
  /// (2 P / p_max links of a torus).
  [[nodiscard]] std::optional<Bisection> bisection() const;
  /// The sum of p/2 (closed) or p-1 (open).
  [[nodiscard]] std::optional<int> diameter() const;

  /// The torus that so many of its chips are: itself, or a slice. Null where none has so many.
  [[nodiscard]] const Torus* of(std::int64_t chips) const;

  [[nodiscard]] int devices() const;
  /// Links that leave a cut across dimension `i` on both its sides: 2 for a closed one.
  [[nodiscard]] int links_across(std::size_t i) const;

 private:
  void read_slices(Reader in);
  void add_shape(const Value& shape, Reader& in);
  /// Adds those that its cubes make.
  void add_closed();
  [[nodiscard]] bool is_box(const std::vector<int>& lengths) const;
  /// Whether lengths, one for each axis, are of whole cubes that may be joined.
  [[nodiscard]] bool is_of_cubes(const std::vector<int>& lengths) const;
  /// An axis stays closed only where the box goes all the way round it.
  [[nodiscard]] Torus box(std::vector<int> lengths) const;
  [[nodiscard]] Torus joined_cubes(std::vector<int> lengths) const;
};

}  // namespace titer
