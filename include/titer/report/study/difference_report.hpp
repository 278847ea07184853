#pragma once
// Two scenarios side by side, as they are read.

#include "titer/view/view.hpp"
#include "titer/whatif/difference.hpp"

namespace titer {

/// A row for each part of the time and of the memory, rate, contribution and input.
[[nodiscard]] View difference_view(const Difference& difference);

}  // namespace titer
