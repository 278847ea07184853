#pragma once
// What public runs measured of which kind of model on which chip by which software in which
// precision, and how far off predictions of it were: configs/support.csv.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "titer/input/csv.hpp"

namespace titer {

/// A combination that predictions may be asked of.
struct Combination {
  std::string model;  // its kind, "mixture of experts"
  std::string chip;   // shipped names
  std::string stack;
  std::string precision;

  friend auto operator<=>(const Combination&, const Combination&) = default;
};

/// One that was measured; errors are shares of the measured time.
struct SupportCell {
  Combination combination;
  std::size_t runs = 0;
  double mean_error = 0;  // of |predicted / measured - 1|
  double bias = 0;        // with the sign
};

/// A table with these columns: how the shipped one is written.
inline constexpr std::string_view kSupportColumns =
    "model chip stack precision runs mean_error_pct bias_pct";
/// Throws InputError with the place of what is wrong.
[[nodiscard]] std::vector<SupportCell> read_support(const CsvTable& table);
/// The shipped one, made of the public runs; none where the data have no such table.
[[nodiscard]] std::vector<SupportCell> shipped_support();

}  // namespace titer
