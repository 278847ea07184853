#pragma once
// Two scenarios side by side, as text, CSV and JSON.

#include <string>

#include "titer/whatif/difference.hpp"

namespace titer {

[[nodiscard]] std::string difference_text(const Difference& difference);
/// One table: a row for each part of the time and of the memory, rate, contribution and input.
[[nodiscard]] std::string difference_csv(const Difference& difference);
[[nodiscard]] Value difference_json(const Difference& difference);

}  // namespace titer
