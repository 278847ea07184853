#pragma once
// What people call the columns of measured runs.

#include "titer/input/csv.hpp"

namespace titer {

/// A table of runs whose columns have other names ("TP", "Global Batch Size", "num_gpus",
/// "step_time_ms") with those that rows are read by; any other table as it is.
[[nodiscard]] CsvTable with_run_columns(CsvTable table);

}  // namespace titer
