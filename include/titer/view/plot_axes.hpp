#pragma once
// Axes of charts, by what is counted along them.

#include <string>

#include "titer/units/quantity.hpp"
#include "titer/view/plot.hpp"

namespace titer {

/// In the unit of time that suits the longest: "what, ms".
[[nodiscard]] PlotAxis time_axis(const std::string& what, Seconds longest);
/// In GiB.
[[nodiscard]] PlotAxis memory_axis(const std::string& what);
/// In thousands, millions or milliards where the largest is many: "what, millions".
[[nodiscard]] PlotAxis count_axis(const std::string& what, double largest);
/// In percent.
[[nodiscard]] PlotAxis percent_axis(const std::string& what);

}  // namespace titer
