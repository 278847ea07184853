#pragma once
// Measurements as a calibration takes them: kernels of a chip, collectives of a cluster or network,
// runs of a software stack.

#include <array>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "titer/evidence/calibration.hpp"
#include "titer/input/csv.hpp"
#include "titer/step/scenario.hpp"

namespace titer {

/// Rows of kernel tables (gemm: m, n, k; attention: batch, seq, heads, …) of the data types of
/// `figures` and of `least` operations or more; others are skipped and counted. Groups: powers of
/// two of a product's inner dimension, and of an attention's sequence. The document is a chip.
[[nodiscard]] CalibrationData kernel_data(std::span<const std::filesystem::path> files,
                                          const std::vector<FittedFigure>& figures,
                                          Flops least = {});

/// Collectives by nccl-tests (anything but .csv) or tables of the corpus (.csv) of `least` bytes
/// and more, as the fastest algorithm takes on the cluster. Groups: the files. The document is a
/// cluster or, where `cluster` names one, a network that takes the place of that cluster's.
[[nodiscard]] CalibrationData collective_data(std::span<const std::filesystem::path> files,
                                              const Document& base,
                                              const std::string& cluster,
                                              Bytes least);
/// Whether any of these was measured on several nodes.
[[nodiscard]] bool crosses_nodes(std::span<const std::filesystem::path> files);

/// A training run as measured.
struct MeasuredRun {
  Scenario scenario;
  Seconds iteration_time;
  std::string group;
  std::string name{};  // the run's, as a table of runs has it
};
/// What of each run's stack a calibrated one takes the place of.
enum class StackPart : std::uint8_t { whole, kernels };
/// Runs by the closed form; the document is a stack.
[[nodiscard]] CalibrationData run_data(std::vector<MeasuredRun> runs,
                                       StackPart part = StackPart::whole);
/// What a table of runs by their files must have.
inline constexpr std::array<std::string_view, 2> kNamedRunColumns = {"run", "iter_time_s"};
/// Its rows: `run` (a run file, found from `folder`, or a shipped run), `iter_time_s`, and perhaps
/// `family`. Throws InputError with the place of what is wrong. REQUIRES the columns.
[[nodiscard]] std::vector<MeasuredRun> read_named_runs(const CsvTable& table,
                                                       const std::filesystem::path& folder);
/// A table of runs: `run` (a run file, found from the table's folder, or a shipped run),
/// `iter_time_s`, and perhaps `family`; or one of the corpus (evidence/run_row.hpp), of which the
/// rows count that ran the stack of that name (any, if it is empty), leave nothing open and are not
/// of grade C. Throws InputError with the place of what is wrong.
[[nodiscard]] std::vector<MeasuredRun> load_measured_runs(const std::filesystem::path& path,
                                                          const std::string& stack);

/// What is fitted where the user names nothing: see the table in calibration_figures.cpp.
[[nodiscard]] std::vector<std::string> usual_chip_figures(
    const Document& chip, std::span<const std::filesystem::path> files);
[[nodiscard]] std::vector<std::string> usual_network_figures(const Document& base,
                                                             bool crosses_nodes);
[[nodiscard]] std::vector<std::string> usual_stack_figures(const Document& stack);

}  // namespace titer
