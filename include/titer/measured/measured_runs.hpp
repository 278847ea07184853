#pragma once
// Training runs as measured, from tables that name them or describe them.

#include <array>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "titer/input/csv.hpp"
#include "titer/scenario/source.hpp"
#include "titer/units/quantity.hpp"

namespace titer {

/// A training run as measured.
struct MeasuredRun {
  Scenario scenario;
  Seconds iteration_time;
  std::string group;
  std::string name{};                              // the run's or row's, as its table has it
  std::shared_ptr<const ScenarioSource> source{};  // of its cluster and its stack
};

/// What a table of runs by their files must have.
inline constexpr std::array<std::string_view, 2> kNamedRunColumns = {"run", "iter_time_s"};
/// Its rows: `run` (a run file, found from `folder`, or a shipped run), `iter_time_s`, and perhaps
/// `family`; columns called `stack`, `cluster`, `plan.tensor` or any other path of a scenario say
/// what a row's run has there, where the cell is not empty. Throws InputError with the place of
/// what is wrong. REQUIRES the columns.
[[nodiscard]] std::vector<MeasuredRun> read_named_runs(const CsvTable& table,
                                                       const std::filesystem::path& folder);
/// A table of runs: `run` (a run file, found from the table's folder, or a shipped run),
/// `iter_time_s`, and perhaps `family`; or one of the corpus (measured/run_row.hpp), of which the
/// rows count that ran the stack of that name (any, if it is empty), leave nothing open and are not
/// of grade C. Throws InputError with the place of what is wrong.
[[nodiscard]] std::vector<MeasuredRun> measured_runs(const CsvTable& table,
                                                     const std::filesystem::path& path,
                                                     const std::string& stack);
[[nodiscard]] std::vector<MeasuredRun> load_measured_runs(const std::filesystem::path& path,
                                                          const std::string& stack);

/// What is fitted where the user names nothing: see the table in calibration_figures.cpp.
[[nodiscard]] std::vector<std::string> usual_chip_figures(
    const Document& chip, std::span<const std::filesystem::path> files);
[[nodiscard]] std::vector<std::string> usual_network_figures(const Document& base,
                                                             bool crosses_nodes);
[[nodiscard]] std::vector<std::string> usual_stack_figures(const Document& stack);

}  // namespace titer
