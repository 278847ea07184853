#pragma once
// Measured training runs beside what this program predicts of them.

#include <filesystem>
#include <string>
#include <vector>

#include "titer/measured/comparison.hpp"
#include "titer/measured/run_scenario.hpp"

namespace titer {

/// Every row of the table, in its order. A row that may be read in several ways is predicted by
/// their geometric mean if they are within 10 % of one another, and otherwise skipped. Throws
/// InputError with the cells that are no numbers. `folder`, `changes`: as RunReader's.
[[nodiscard]] std::vector<Comparison> compare_runs(const CsvTable& table,
                                                   const std::filesystem::path& folder = {},
                                                   const std::vector<Assignment>& changes = {});

/// Every row of a table of runs by their files (read_named_runs).
[[nodiscard]] std::vector<Comparison> compare_named_runs(const CsvTable& table,
                                                         const std::filesystem::path& folder);

/// A row of a table of runs, and how it was read.
struct RunCase {
  Comparison compared;
  Scenario scenario;               // of several the first
  std::vector<std::string> notes;  // what stands beside it
};
/// The rows called `name` (a case_id, or what validate calls a row of named runs); what all rows
/// are called comes to `names`. Throws InputError as the comparisons do.
[[nodiscard]] std::vector<RunCase> run_cases(const std::filesystem::path& path,
                                             const std::string& name,
                                             std::vector<std::string>& names);

}  // namespace titer
