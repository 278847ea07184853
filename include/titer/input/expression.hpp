#pragma once
// Arithmetic over named numbers, as text: "far.comm_s / near.comm_s >= 2".

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace titer {

/// A figure by its name, in SI units: "comm_total_s.data_comm".
struct NamedNumber {
  std::string name;
  double value = 0.0;
};
using NamedNumbers = std::vector<NamedNumber>;

/// Letters, digits, "_" and "." of a text, other characters as "_": a name that an expression can
/// use.
[[nodiscard]] std::string expression_name(std::string_view text);

/// The value of `text`: + - * / ^, comparisons (1 or 0), && || and c ? a : b; min max sum avg abs
/// sqrt exp ln log2 log10 floor ceil. Throws InputError, beginning with `where`, for what is no
/// expression, for a name that is not known (with the closest) and for a value that is not finite.
[[nodiscard]] double evaluate_expression(const std::string& text,
                                         std::span<const NamedNumber> names,
                                         std::string_view where);

}  // namespace titer
