#pragma once
// A finished sweep, as it is read: the best of its points, and how its axes move the time.

#include "titer/input/csv.hpp"
#include "titer/sweep/sweep.hpp"
#include "titer/view/view.hpp"

namespace titer {

/// `rows`: the table that the sweep made, whole.
[[nodiscard]] View sweep_view(const Sweep& sweep, const CsvTable& rows);

}  // namespace titer
