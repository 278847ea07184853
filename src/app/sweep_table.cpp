#include "sweep_table.hpp"

#include <fmt/format.h>

#include <fstream>
#include <utility>

#include "app/output/progress.hpp"
#include "command.hpp"
#include "titer/ask/shipped.hpp"
#include "titer/sweep/sweep_point.hpp"

namespace titer {
namespace {

Sweep sweep_of(const SweepRequest& request) {
  std::vector<std::string> notes;
  Sweep sweep = asked_sweep(request, kUsualMostPoints, notes);
  tell_notes(notes);
  return sweep;
}

}  // namespace

SweepTable::SweepTable(const SweepRequest& request,
                       RowFormat format,
                       std::string out,
                       const Shard& shard)
    : sweep_(sweep_of(request)),
      format_(format),
      rows_(sweep_, format),
      out_(std::move(out)),
      run_{.threads = request.threads, .fidelity = request.fidelity, .shard = shard},
      chunks_(sweep_chunks(sweep_, run_.fidelity)) {}

RowOrigin SweepTable::origin() const {
  return {.version = std::string(version()),
          .inputs = sweep_.fingerprint(),
          .format = std::string(kRowFormats[static_cast<std::size_t>(format_)].name),
          .fidelity = std::string(
              run_.fidelity ? kFidelities[static_cast<std::size_t>(*run_.fidelity)].name : "usual"),
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
  const std::size_t before = points(done);
  Progress progress("points", points(own_chunks()), before);
  SizeForecast size(points(own_chunks()) - before);
  return run_sweep(sweep_, options, row_maker(), [&](std::span<const SweepChunk> ready) {
    emit(ready);
    for (const SweepChunk& chunk : ready) {
      size.wrote(chunk.rows.size());
    }
    done += ready.size();
    tell_if_large(out_, size.after(points(done) - before).value_or(0));
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
