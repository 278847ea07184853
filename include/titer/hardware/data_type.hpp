#pragma once
// Number formats of tensors.

#include <array>
#include <string_view>

#include "titer/input/reader.hpp"
#include "titer/units/quantity.hpp"

namespace titer {

enum class DataType { fp32, tf32, fp16, bf16, fp8, fp4, int8 };

inline constexpr std::array<Choice<DataType>, 7> kDataTypes = {{{"fp32", DataType::fp32},
                                                                {"tf32", DataType::tf32},
                                                                {"fp16", DataType::fp16},
                                                                {"bf16", DataType::bf16},
                                                                {"fp8", DataType::fp8},
                                                                {"fp4", DataType::fp4},
                                                                {"int8", DataType::int8}}};

[[nodiscard]] constexpr std::string_view name(DataType type) {
  return kDataTypes[static_cast<std::size_t>(type)].name;
}

/// Memory of one element. tf32 is a way to multiply fp32 numbers: four bytes.
[[nodiscard]] constexpr Bytes size_of(DataType type) {
  constexpr std::array<double, 7> bytes = {4.0, 4.0, 2.0, 2.0, 1.0, 0.5, 1.0};
  return Bytes::from_si(bytes[static_cast<std::size_t>(type)]);
}

/// Whether a training in this type has products with weights alone in it, and the rest in bf16.
[[nodiscard]] constexpr bool is_of_products(DataType type) {
  return type == DataType::fp8 || type == DataType::fp4 || type == DataType::int8;
}

}  // namespace titer
