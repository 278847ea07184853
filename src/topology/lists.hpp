#pragma once
// Keys whose value is a list, or one entry for all.

#include <cstdint>
#include <string_view>
#include <vector>

#include "titer/input/fields.hpp"

namespace titer {

inline constexpr std::int64_t kMostDevicesOfFamily = 1 << 20;  // of a family told by its counts
inline constexpr std::string_view kReducesAbout =
    "whether the switches can add up what passes (SHARP)";

/// The integers of a list, each in 1 .. most; empty after a problem or where the key is missing.
[[nodiscard]] std::vector<int> maybe_counts(Reader& in, std::string_view key, std::int64_t most);
/// The same, required.
[[nodiscard]] std::vector<int> read_counts(Reader& in, std::string_view key, std::int64_t most);
/// A bandwidth for all of `count`, or a list of so many.
[[nodiscard]] std::vector<BytesPerSecond> read_bandwidths(Reader& in,
                                                          std::string_view key,
                                                          std::size_t count);
/// true or false for all of `count`, or a list of so many; true where the key is missing.
[[nodiscard]] std::vector<bool> read_flags(Reader& in, std::string_view key, std::size_t count);
/// A ratio, down over up, for all of `count`, or a list of so many; empty where missing or wrong.
[[nodiscard]] std::vector<double> maybe_ratios(Reader& in, std::string_view key, std::size_t count);
/// A key whose value is a list of integers in 1 .. most, which `read` reads.
template <class T>
[[nodiscard]] constexpr Field<T> count_list(std::string_view key,
                                            double most,
                                            void (*read)(const Field<T>&, Reader&, T&),
                                            std::string_view about) {
  constexpr auto written = [](const Field<T>& own) {
    return schema::list_of(schema::integer(own.range));
  };
  Field<T> field = fields::special<T>(key, {read, written, nullptr}, about);
  field.range = {1, most};
  return field;
}
/// What the others may be.
[[nodiscard]] Value bandwidths_schema();
[[nodiscard]] Value flags_schema();
[[nodiscard]] Value ratios_schema();
/// Whether the product of the counts stays within `most`.
[[nodiscard]] bool product_within(const std::vector<int>& counts, std::int64_t most);

}  // namespace titer
