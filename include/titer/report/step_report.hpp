#pragma once
// Views of one step's result: text for people, a CSV row for tables, JSON for programs.

#include <span>
#include <string>
#include <string_view>

#include "titer/input/document.hpp"
#include "titer/report/table.hpp"
#include "titer/step/result.hpp"
#include "titer/step/scenario.hpp"

namespace titer {

/// Added fields leave it as it is; a changed meaning raises it.
inline constexpr int kFormatVersion = 1;

/// The columns of a result in CSV, in order: results only (a sweep puts its inputs before them).
[[nodiscard]] Row result_columns();
[[nodiscard]] Row result_cells(const StepResult& result);
/// As many empty cells, for a row without a result.
[[nodiscard]] Row no_result_cells();

/// Header and one row: what was asked, then the result.
[[nodiscard]] std::string step_csv(const Scenario& scenario, const StepResult& result);
[[nodiscard]] Value step_json(const Scenario& scenario, const StepResult& result);
[[nodiscard]] std::string step_text(const Scenario& scenario, const StepResult& result);

}  // namespace titer
