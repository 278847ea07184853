#include "titer/measured/measured_runs.hpp"

#include <fmt/format.h>

#include "titer/measured/run_scenario.hpp"
#include "titer/scenario/source.hpp"

namespace titer {
namespace {

/// The row's run as it was: columns that are called by a part of a scenario or a path into one put
/// their cells there. A file is found from the table's folder first.
ScenarioSource source_of_row(const CsvTable& table,
                             std::size_t row,
                             const std::filesystem::path& folder) {
  ScenarioSource source(load_data(kRunData, table.text(row, "run"), folder));
  for (const std::string& column : table.columns()) {
    const std::string cell(table.text(row, column));
    if (scenario_part(column) && !cell.empty()) {
      Assignment change = parse_assignment(fmt::format("{}={}", column, cell), "column");
      source.assign(change);
    }
  }
  return source;
}

/// Columns that are called by a part of a scenario or a path into one, and do not say the same in
/// all rows.
std::vector<std::string> telling_columns(const CsvTable& table) {
  std::vector<std::string> columns;
  for (const std::string& column : table.columns()) {
    for (std::size_t row = 1; row < table.rows() && scenario_part(column); ++row) {
      if (table.text(row, column) != table.text(0, column)) {
        columns.push_back(column);
        break;
      }
    }
  }
  return columns;
}

/// "llama3-70b-64xh100, plan.tensor 4": what tells the row from the others.
std::string name_of_row(const CsvTable& table,
                        std::size_t row,
                        const std::vector<std::string>& columns) {
  std::string text(table.text(row, "run"));
  for (const std::string& column : columns) {
    if (const std::string_view cell = table.text(row, column); !cell.empty()) {
      text += fmt::format(", {} {}", column, cell);
    }
  }
  return text;
}

/// Rows of the corpus that the stack ran (any, if it is empty), read in one way only; those of
/// grade C are for sanity.
std::vector<MeasuredRun> corpus_runs(const CsvTable& table,
                                     const std::filesystem::path& folder,
                                     const std::string& stack) {
  check_run_table(table);
  RunReader reader(folder);
  std::vector<MeasuredRun> runs;
  for (std::size_t i = 0; i < table.rows(); ++i) {
    const RunRow row(table, i);
    const auto time = row.iteration_time();
    RunReadings read = reader.read(row);
    if (time && (stack.empty() || read.stack == stack) && row.text("grade") != "C" &&
        read.readings.size() == 1 && read.readings.front().scenarios.size() == 1) {
      runs.push_back({.scenario = std::move(read.readings.front().scenarios.front()),
                      .iteration_time = *time,
                      .group = row.text("family"),
                      .name = row.text("case_id"),
                      .source = read.source});
    }
  }
  return runs;
}

}  // namespace

std::vector<MeasuredRun> read_named_runs(const CsvTable& table,
                                         const std::filesystem::path& folder) {
  Problems problems;
  std::vector<MeasuredRun> runs;
  const std::vector<std::string> columns = telling_columns(table);
  for (std::size_t row = 0; row < table.rows(); ++row) {
    const std::string run(table.text(row, "run"));
    const auto time = table.maybe_number(row, "iter_time_s", 1e-9, 1e9, problems);
    if (!time) {
      if (table.text(row, "iter_time_s").empty()) {
        problems.add(table.where(row, "iter_time_s") + ": expected the seconds of an iteration");
      }
      continue;
    }
    try {
      auto source = std::make_shared<ScenarioSource>(source_of_row(table, row, folder));
      runs.push_back({.scenario = source->read(),
                      .iteration_time = Seconds::from_si(*time),
                      .group = table.has("family") ? std::string(table.text(row, "family")) : run,
                      .name = name_of_row(table, row, columns),
                      .source = source});
    } catch (const InputError& error) {
      problems.add(table.where(row, "run") + ": " + error.lines.front());
    }
  }
  problems.raise();
  return runs;
}

std::vector<MeasuredRun> measured_runs(const CsvTable& table,
                                       const std::filesystem::path& path,
                                       const std::string& stack) {
  if (table.has("case_id")) {
    return corpus_runs(table, path.parent_path(), stack);
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

std::vector<MeasuredRun> load_measured_runs(const std::filesystem::path& path,
                                            const std::string& stack) {
  return measured_runs(load_dataset(path), path, stack);
}

}  // namespace titer
