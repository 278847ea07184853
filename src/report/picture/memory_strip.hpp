#pragma once
// What each rank of a timeline holds over time, as a strip below its row.

#include <string>
#include <vector>

#include "canvas.hpp"

namespace titer {

/// What a full strip of these timelines stands for: the most that is held on any, or the limit
/// where that is more; 0 where nothing is held.
[[nodiscard]] double full_strip(std::span<const TimelineView> views);

[[nodiscard]] double most_held(const std::vector<HeldPoint>& points);

/// In each of so many columns of equal time, the most.
[[nodiscard]] std::vector<double> held_columns(const std::vector<HeldPoint>& points,
                                               Ticks makespan,
                                               int columns);

/// A character for each column, in eighths of `full`; anything above zero is seen.
[[nodiscard]] std::string strip_text(const std::vector<double>& columns, double full);

/// `area`: of the whole makespan, as high as `full`.
void draw_strip(Canvas& canvas,
                const Area& area,
                const std::vector<double>& columns,
                double full,
                std::string_view colour);

}  // namespace titer
