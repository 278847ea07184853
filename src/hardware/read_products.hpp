#pragma once
// "measured_products" of a chip.

#include <memory>
#include <string_view>

#include "titer/hardware/chip.hpp"
#include "titer/hardware/chip_schema.hpp"
#include "titer/hardware/measured_products.hpp"
#include "titer/input/field_table.hpp"

namespace titer {

inline constexpr std::string_view kMeasuredProducts = "measured_products";

[[nodiscard]] Value products_schema(const Field<Chip>& own);

/// Null where the object has none. The chip's own figures, which are all read, say how far off they
/// are.
[[nodiscard]] std::shared_ptr<const MeasuredProducts> read_products(Reader& in, const Chip& chip);

}  // namespace titer
