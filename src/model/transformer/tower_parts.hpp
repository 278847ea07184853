#pragma once
// What the files about towers share.

#include <cstdint>
#include <span>
#include <vector>

#include "titer/model/transformer/tower.hpp"

namespace titer {

/// Steps of time that the second convolution over spectra goes on by.
inline constexpr double kStride = 2;

/// A product of a projector; two after one another are split by columns and by rows.
struct TowerProduct {
  enum class Split : std::uint8_t { columns, rows, none };
  std::int64_t inner = 0;
  std::int64_t columns = 0;
  Split split = Split::none;
};
[[nodiscard]] std::vector<TowerProduct> products_of(const Tower& tower);

[[nodiscard]] std::span<const Field<Patches>> patch_fields();
/// With what is taken where a file leaves it out.
[[nodiscard]] Patches read_patches(Reader& in, const Patches& otherwise);

/// Columns of a token that is made of a square of patches.
[[nodiscard]] std::int64_t joined_width(const Tower& tower);

}  // namespace titer
