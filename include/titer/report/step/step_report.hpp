#pragma once
// One step's result, as it is read.

#include <optional>
#include <string>
#include <vector>

#include "titer/estimate/result.hpp"
#include "titer/scenario/scenario.hpp"
#include "titer/search/fit_advice.hpp"
#include "titer/simulate/samples.hpp"
#include "titer/view/view.hpp"

namespace titer {

/// A result by the columns of tables: results only (a sweep puts its inputs before them).
[[nodiscard]] Figures result_figures(const StepResult& result);
[[nodiscard]] Row result_columns();

/// The tree. The advice, where the scenario does not fit, is among the memory. `notes`:
/// answer_notes().
[[nodiscard]] Figures step_figures(const Scenario& scenario,
                                   const StepResult& result,
                                   const std::vector<FitAdvice>& advice = {},
                                   const std::vector<std::string>& notes = {});
/// What was asked, then the result; the table is one row.
[[nodiscard]] View step_view(const Scenario& scenario,
                             const StepResult& result,
                             const std::vector<FitAdvice>& advice = {},
                             const std::vector<std::string>& notes = {},
                             const std::optional<SampleStatistics>& samples = {});
/// Whether it fits in memory.
[[nodiscard]] View check_view(const Scenario& scenario,
                              const StepResult& result,
                              const std::vector<std::string>& notes = {});
/// What was asked: model, devices, plan, training.
[[nodiscard]] Figures asked_figures(const Scenario& scenario);
/// The same in few columns, for tables that have other rows than runs.
[[nodiscard]] Figures asked_columns(const Scenario& scenario);
/// "batch 128 x 8192 tokens"; of a model of no sequences "batch 2048 samples".
[[nodiscard]] std::string batch_words(const Scenario& scenario);
/// Model and devices, plan, training: the three lines that say what was computed.
[[nodiscard]] std::string step_heading(const Scenario& scenario);
/// "Llama 3 8B on 64 x NVIDIA H100 SXM5 80 GB: 1f1b"
[[nodiscard]] std::string step_title(const Scenario& scenario);
/// What events say beside the closed form. REQUIRES that they do.
[[nodiscard]] std::string events_sentence(const StepResult& result);
/// What each simulated rank does, waits for and has in memory; nothing where none was simulated.
[[nodiscard]] TextView ranks_text(const StepResult& result);

}  // namespace titer
