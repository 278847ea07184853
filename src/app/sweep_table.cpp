#include "sweep_table.hpp"

#include <fmt/format.h>

#include <fstream>

#include "app/output/progress.hpp"
#include "command.hpp"
#include "titer/ask/version.hpp"
#include "titer/sweep/sweep_point.hpp"

namespace titer {
namespace {

std::optional<Fidelity> wanted_fidelity(const SweepCommandOptions& options) {
  return options.fidelity.empty()
             ? std::nullopt
             : std::optional(chosen("--fidelity", options.fidelity, kFidelities));
}

/// Puts what measured runs tell into the scenario that is varied, and says it on standard error.
/// An axis that puts other data in the place of what they tell of would leave it out in silence.
void learn(const MeasuredOption& measured, Sweep& sweep) {
  std::vector<Assignment> changes;
  const std::vector<std::string> notes = measured.learn(sweep.base, changes);
  for (const Assignment& change : changes) {
    for (const Axis& axis : sweep.axes) {
      if (change.path == axis.path || change.path.starts_with(axis.path + ".")) {
        throw InputError(
            fmt::format("{}: the runs tell of {}, which the axis {} replaces: expected "
                        "axes of other parts",
                        change.source,
                        change.path,
                        axis.path));
      }
    }
    sweep.base.assign(change);
  }
  tell_notes(notes);
}

/// With the columns that are asked for beside those that the file asks for.
Sweep asked_sweep(const SweepCommandOptions& options) {
  Sweep sweep = load_sweep(options.sweep, options.limit);
  for (const std::string& word : options.columns) {
    const SweepColumn column = chosen("--columns", word, kSweepColumns);
    if (!sweep.has(column)) {
      sweep.columns.push_back(column);
    }
  }
  learn(options.measured, sweep);
  check_columns(sweep, wanted_fidelity(options));
  return sweep;
}

}  // namespace

SweepTable::SweepTable(const SweepCommandOptions& options, const Launch& launch)
    : sweep_(asked_sweep(options)),
      rows_(sweep_, chosen("--format", options.format, kRowFormats)),
      run_{.threads = threads_or_usual(options.jobs, launch),
           .fidelity = wanted_fidelity(options),
           .shard = launch.shard},
      chunks_(sweep_chunks(sweep_, run_.fidelity)) {}

RowOrigin SweepTable::origin(const SweepCommandOptions& options) const {
  return {.version = std::string(version()),
          .inputs = sweep_.fingerprint(),
          .format = options.format,
          .fidelity = options.fidelity.empty() ? "usual" : options.fidelity,
          .chunks = chunks_};
}

std::size_t SweepTable::points(std::size_t count) const {
  const std::size_t last = run_.shard.chunk(count - 1);
  return count == 0 ? 0 : (count - 1) * chunks_.size + chunks_.end(last) - chunks_.begin(last);
}

SweepOutcome SweepTable::compute(std::size_t done,
                                 const std::atomic<bool>* stop,
                                 const std::function<void(std::span<const SweepChunk>)>& emit) {
  SweepOptions options = run_;
  options.done = done;
  options.stop = stop;
  Progress progress("points", points(own_chunks()), points(done));
  return run_sweep(sweep_, options, row_maker(), [&](std::span<const SweepChunk> ready) {
    emit(ready);
    done += ready.size();
    progress.update(points(done));
  });
}

/// The rows of one chunk.
std::string SweepTable::rows_of(std::size_t chunk) {
  SweepOptions options = run_;
  options.threads = 1;
  options.shard = {.rank = chunk, .size = chunks_.count()};
  std::string text;
  run_sweep(sweep_, options, row_maker(), [&](std::span<const SweepChunk> ready) {
    text = ready.front().rows;
  });
  return text;
}

std::function<void(const SweepPoint&, std::string&)> SweepTable::row_maker() const {
  return [this, kept = KeptCells()](const SweepPoint& point, std::string& text) mutable {
    rows_.append(point, kept, text);
  };
}

void SweepTable::expect_ends(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  const auto read = [&](std::size_t bytes) {
    std::string text(bytes, '\0');
    file.read(text.data(), static_cast<std::streamsize>(bytes));
    return text;
  };
  const std::string first = columns() + rows_of(0);
  const std::string last = rows_of(own_chunks() - 1);
  const bool begins = read(first.size()) == first;
  file.clear();
  file.seekg(-static_cast<std::streamoff>(last.size()), std::ios::end);
  if (!begins || read(last.size()) != last) {
    throw InputError(path.string() +
                     ": has other rows than this sweep; expected its own, or no "
                     "--resume to replace it");
  }
}

void tell_left_out(const SweepTable& table, const SweepOutcome& outcome, std::size_t rows) {
  if (rows == 0) {
    refuse_empty(table.sweep(), outcome.left_out);
  }
  for (const std::string& line : left_out_lines(table.sweep(), outcome.left_out)) {
    fmt::print(stderr, "{}\n", line);
  }
}

void tell_beyond(const SweepTable& table, std::size_t beyond, std::size_t rows) {
  if (beyond > 0 && !table.sweep().has(SweepColumn::beyond_software)) {
    fmt::print(stderr,
               "note: {} of {} rows are beyond what their software can do; --columns "
               "beyond_software says of each what it lacks\n",
               beyond,
               rows);
  }
}

int tell_defects(const SweepTable& table, const DefectRows& defects, std::size_t rows) {
  if (defects.count == 0) {
    return kSuccess;
  }
  fmt::print(stderr,
             "{} of {} rows have no result for a defect of the program, please report it; the "
             "first again: {}\n",
             defects.count,
             rows,
             run_command_of(table.sweep(), defects.first, table.fidelity()));
  return kDefect;
}

int tell_defects_in(const std::filesystem::path& path, RowFormat format) {
  const WrittenDefects found = written_defects(path, format);
  if (found.count == 0) {
    return kSuccess;
  }
  fmt::print(stderr,
             "{}: {} of {} rows have no result for a defect of the program, please report it; the "
             "first, row {}: {}\n",
             path.string(),
             found.count,
             found.rows,
             found.first,
             found.reason);
  return kDefect;
}

}  // namespace titer
