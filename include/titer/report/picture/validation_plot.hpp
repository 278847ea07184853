#pragma once
// Predictions beside measurements as pictures.

#include <span>
#include <string>

#include "titer/measured/statistics.hpp"

namespace titer {

struct ValidationPicture {
  std::span<const Comparison> rows;
  GroupBy by = GroupBy::all;  // what shares a colour
  std::string title{};
};

/// SVG: every row with a time measured and predicted as a point, both axes logarithmic, with the
/// diagonal and bands of 10 % and 20 % about it. Points of a group that lie on each other are one.
[[nodiscard]] std::string validation_scatter_svg(const ValidationPicture& picture);

/// SVG: the error of every such row, predicted / measured - 1, over its measured time. What lies
/// beyond the axis, as in the histogram, is put on the edge.
[[nodiscard]] std::string validation_residuals_svg(const ValidationPicture& picture);

/// SVG: how many rows have which error, predicted / measured - 1, with its mean (bias) and median.
/// The outermost bars hold what lies beyond, 2 % of the rows at the most where a range up to 200 %
/// can do so.
[[nodiscard]] std::string validation_histogram_svg(const ValidationPicture& picture);

}  // namespace titer
