#pragma once
// Predictions beside measurements as text, CSV and JSON.

#include <cstddef>
#include <span>
#include <string>

#include "titer/measured/decisions.hpp"
#include "titer/measured/statistics.hpp"
#include "titer/report/picture/validation_plot.hpp"
#include "titer/view/view.hpp"

namespace titer {

/// What a view shows; `groups` are those of the rows, "all" first.
struct ValidationView {
  std::span<const Comparison> rows;
  std::span<const GroupStatistics> groups;
  std::span<const SweepDecision> decisions{};  // of the rows' sweeps
  std::size_t worst = 10;  // rows listed with the largest errors, and sweeps with the most regret
  bool every_row = false;  // list them all
};

/// Statistics of every group, what sweeps of plans decide, the worst rows, why rows were skipped.
[[nodiscard]] TextView validation_text(const ValidationView& view);

/// A line per row, in their order, each behind what was asked; an empty cell is a figure that there
/// is not.
[[nodiscard]] std::string validation_csv(std::span<const Comparison> rows,
                                         const Figures& asked = {});

/// {"format_version", "groups": […], "decisions": {…}, "rows": […]}; null is a figure that there is
/// not. Shares are in percent where the name ends in _pct.
[[nodiscard]] std::string validation_json(const ValidationView& view);

/// The text and the pictures, for reports.
[[nodiscard]] View validation_view(const ValidationView& view, const ValidationPicture& picture);

}  // namespace titer
