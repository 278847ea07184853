#pragma once
// Views of one step's result: text for people, a CSV row for tables, JSON for programs.

#include <span>
#include <string>
#include <string_view>

#include "titer/input/document.hpp"
#include "titer/report/table.hpp"
#include "titer/search/fit_advice.hpp"
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

/// Columns that one row has beyond a result's.
struct MoreCells {
  Row columns = {};
  Row cells = {};
};
/// Header and one row: what was asked, then the result, then more.
[[nodiscard]] std::string step_csv(const Scenario& scenario,
                                   const StepResult& result,
                                   const MoreCells& more = {});
/// The advice, where the scenario does not fit, is among the memory. `notes`: answer_notes().
[[nodiscard]] Value step_json(const Scenario& scenario,
                              const StepResult& result,
                              std::span<const FitAdvice> advice = {},
                              std::span<const std::string> notes = {});
/// "Llama 3 8B on 64 x NVIDIA H100 SXM5 80 GB: 1f1b"
[[nodiscard]] std::string step_title(const Scenario& scenario);
/// What each simulated rank does, waits for and has in memory; "" where nothing was simulated.
[[nodiscard]] std::string ranks_text(const StepResult& result);
[[nodiscard]] std::string step_text(const Scenario& scenario,
                                    const StepResult& result,
                                    std::span<const FitAdvice> advice = {},
                                    std::span<const std::string> notes = {});

}  // namespace titer
