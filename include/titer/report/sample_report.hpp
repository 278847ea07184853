#pragma once
// Views of a step's samples: text for people, CSV columns for tables, JSON for programs.

#include <string>

#include "titer/input/document.hpp"
#include "titer/report/table.hpp"
#include "titer/step/samples.hpp"

namespace titer {

[[nodiscard]] Row sample_columns();
/// A figure that there is none of is an empty cell.
[[nodiscard]] Row sample_cells(const SampleStatistics& samples);
/// A figure that there is none of is null.
[[nodiscard]] Value sample_json(const SampleStatistics& samples);
[[nodiscard]] std::string sample_text(const SampleStatistics& samples);

}  // namespace titer
