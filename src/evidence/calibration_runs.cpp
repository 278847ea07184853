// Measured training runs as data of a stack's calibration.

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>

#include "titer/evidence/calibration_data.hpp"
#include "titer/evidence/run_scenario.hpp"
#include "titer/input/csv.hpp"
#include "titer/input/read_document.hpp"
#include "titer/step/estimate.hpp"
#include "titer/step/source.hpp"
#include "titer/units/ensure.hpp"
#include "titer/units/text.hpp"

namespace titer {
namespace {

/// The run as a scenario; a file is found from the table's folder first.
Scenario scenario_of(const std::string& run, const std::filesystem::path& folder) {
  return ScenarioSource(load_data(kRunData, run, folder)).read();
}

/// Rows of the corpus that the stack ran (any, if it is empty), read in one way only; those of
/// grade C are for sanity.
std::vector<MeasuredRun> corpus_runs(const CsvTable& table, const std::string& stack) {
  Problems problems;
  check_run_table(table, problems);
  problems.raise();
  RunReader reader;
  std::vector<MeasuredRun> runs;
  for (std::size_t i = 0; i < table.rows(); ++i) {
    const RunRow row(table, i);
    const auto time = row.iteration_time();
    RunReadings read = reader.read(row);
    if (time && (stack.empty() || read.stack == stack) && row.text("grade") != "C" &&
        read.readings.size() == 1 && read.readings.front().scenarios.size() == 1) {
      runs.push_back({.scenario = std::move(read.readings.front().scenarios.front()),
                      .iteration_time = *time,
                      .group = row.text("family")});
    }
  }
  return runs;
}

}  // namespace

std::vector<MeasuredRun> read_named_runs(const CsvTable& table,
                                         const std::filesystem::path& folder) {
  Problems problems;
  std::vector<MeasuredRun> runs;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    const std::string run(table.text(row, "run"));
    const auto time = table.maybe_number(row, "iter_time_s", 1e-9, 1e9, problems);
    if (!time) {
      problems.add(table.where(row, "iter_time_s") + ": expected the seconds of an iteration");
      continue;
    }
    try {
      runs.push_back({.scenario = scenario_of(run, folder),
                      .iteration_time = Seconds::from_si(*time),
                      .group = table.has("family") ? std::string(table.text(row, "family")) : run,
                      .name = run});
    } catch (const InputError& error) {
      problems.add(table.where(row, "run") + ": " + error.lines.front());
    }
  }
  problems.raise();
  return runs;
}

std::vector<MeasuredRun> load_measured_runs(const std::filesystem::path& path,
                                            const std::string& stack) {
  const CsvTable table = CsvTable::load(path);
  if (table.has("case_id")) {
    return corpus_runs(table, stack);
  }
  for (const std::string_view column : kNamedRunColumns) {
    if (!table.has(column)) {
      throw InputError(path.string() + ": no column \"" + std::string(column) +
                       "\": expected a table of runs with run (a run file, or a shipped run), "
                       "iter_time_s and perhaps family");
    }
  }
  return read_named_runs(table, path.parent_path());
}

CalibrationData run_data(std::vector<MeasuredRun> runs, StackPart part) {
  if (runs.empty()) {
    throw InputError("expected measured runs, found none");
  }
  struct State {
    std::vector<MeasuredRun> runs;
    Estimator estimator;
    StepResult result;
  };
  CalibrationData data;
  data.what = "training runs";
  data.of_steps = true;
  for (const MeasuredRun& run : runs) {
    ensure(run.iteration_time > Seconds{}, "a run that was measured took some time");
    data.measured.push_back(run.iteration_time.si());
    data.groups.push_back(run.group);
  }
  const auto [least, most] = std::minmax_element(data.measured.begin(), data.measured.end());
  data.range = format(Seconds::from_si(*least)) + " to " + format(Seconds::from_si(*most));
  auto state = std::make_shared<State>();
  state->runs = std::move(runs);
  data.predict = [state, part](const Document& document,
                               std::span<const std::size_t> rows,
                               std::span<double> seconds) {
    const Stack stack = read_document(document, read_stack);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      Scenario& scenario = state->runs[rows[i]].scenario;
      if (part == StackPart::whole) {
        scenario.stack = stack;
      } else {
        scenario.stack.kernels = stack.kernels;
      }
      state->estimator.estimate(scenario, state->result);
      seconds[i] = state->result.iteration_time.si();
    }
  };
  return data;
}

}  // namespace titer
