#pragma once
// A sweep as a table: its axes, what became of each point, and the point's results.

#include <string>

#include "titer/study/sweep.hpp"

namespace titer {

[[nodiscard]] std::string sweep_csv_header(const Sweep& sweep);
[[nodiscard]] std::string sweep_csv_row(const Sweep& sweep, const SweepPoint& point);

}  // namespace titer
