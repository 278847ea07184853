#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>

#include "app/output/interrupt.hpp"
#include "app/output/output_file.hpp"
#include "app/output/row_saver.hpp"
#include "app/question_command.hpp"
#include "app/sweep_table.hpp"
#include "titer/input/file.hpp"
#include "titer/report/study/sweep_view.hpp"
#include "titer/units/number_text.hpp"
#include "titer/units/shell_word.hpp"

namespace titer {
namespace {

/// Where the rows go, and which of them.
struct SweepFiles {
  std::string out = {};
  std::string format = "csv";
  std::string shard = {};
  bool resume = false;
  bool restart = false;
};
constexpr std::array kSweepFiles = {
    out_option<&SweepFiles::out>("write the rows to this file, whole or not at all"),
    options::text<&SweepFiles::format>("format", "NAME", "csv, or jsonl (an object per line)")
        .or_else("csv"),
    options::text<&SweepFiles::shard>(
        "shard",
        "I/N",
        "compute the I-th of N parts, from 1, into FILE.shard-I-of-N for titer merge; default: "
        "what srun, mpirun or a Slurm array says; 1/1: all of it"),
    options::flag<&SweepFiles::resume>("resume", "go on with an interrupted run, if there is one"),
    options::flag<&SweepFiles::restart>("restart",
                                        "begin again, and drop what an interrupted run left")};

using AskedSweep = QuestionCommand<SweepRequest, SweepFiles>;

struct SweepCommand : SweepFiles {
  explicit SweepCommand(const AskedSweep& command)
      : SweepFiles(command.own()),
        asked(command),
        report(command.report()),
        limits(command.fail_on()) {}

  const AskedSweep& asked;
  std::shared_ptr<ReportFile> report;
  FailOn limits;

  [[nodiscard]] RowFormat row_format() const { return chosen("--format", format, kRowFormats); }
  [[nodiscard]] SweepTable table(const Launch& launch) const {
    SweepRequest request = asked.request();
    request.threads = threads_or_usual(asked.jobs(), launch);
    SweepTable table(request, row_format(), out, launch.shard);
    if (limits.is_asked()) {
      const std::vector<std::string> columns =
          CsvTable::parse(table.columns(), "columns").columns();
      limits.expect_in(std::vector<std::string_view>(columns.begin(), columns.end()));
    }
    return table;
  }
  /// Whether all rows are looked at once more when the last is there.
  [[nodiscard]] bool reads_rows() const { return report->is_any_wanted() || limits.is_asked(); }
};

/// What goes on with an interrupted run.
std::string resume_command(const SweepCommand& command) {
  std::string text = "titer sweep" + command.asked.typed() + " --out " + shell_word(command.out);
  const auto add = [&](std::string_view option, const std::string& value, bool given) {
    text += given ? fmt::format(" {} {}", option, shell_word(value)) : "";
  };
  add("--format", command.format, command.row_format() != RowFormat::csv);
  add("--shard", command.shard, !command.shard.empty());
  add("--jobs", std::to_string(command.asked.jobs()), command.asked.jobs() > 0);
  return text + " --resume";
}

/// A report tells of all rows, as a limit does, and reads them as CSV.
void check_report(const SweepCommand& command, const Launch& launch) {
  if (command.reads_rows() && (!launch.shard.whole() || command.row_format() != RowFormat::csv)) {
    throw InputError(
        fmt::format("--report, --plot, --fail-on: expected all rows in one table of --format csv{}",
                    launch.shard.whole() ? "" : "; titer merge makes one of shards"));
  }
  if (command.report->is_plot_printed() && command.out.empty()) {
    throw InputError("--plot: expected a FILE.svg or FILE.png, or --out FILE for the rows");
  }
}

/// What --fail-on asks of rows: numbers, and whether a plan fits, which no point without a result
/// does.
FigureRows limited_rows(const CsvTable& rows) {
  FigureRows limited;
  for (std::size_t row = 0; row < rows.rows(); ++row) {
    Figures figures = {{"fits", rows.text(row, "status") == name(PointStatus::ok)}};
    for (const std::string& column : rows.columns()) {
      if (const auto number = number_of_text<double>(rows.text(row, column))) {
        figures.push_back({column, *number});
      }
    }
    limited.push_back(std::move(figures));
  }
  return limited;
}

/// Shows the rows to whoever asked more of them than to be written; the exit code of that.
int report_rows(const SweepCommand& command, const SweepTable& table, std::string_view text) {
  if (!command.reads_rows()) {
    return kSuccess;
  }
  const CsvTable rows = CsvTable::parse(text, "rows");
  if (command.report->is_any_wanted()) {
    command.report->write(sweep_view(table.sweep(), rows));
    print(command.report->charts());
  }
  return command.limits.fails(limited_rows(rows)) ? kNo : kSuccess;
}

/// The same of the rows in the file.
int report_written(const SweepCommand& command, const SweepTable& table) {
  return command.reads_rows() ? report_rows(command, table, read_text(command.out)) : kSuccess;
}

/// Refuses what needs a file where the rows are kept.
void expect_no_file(const SweepCommand& command, const Launch& launch) {
  if (command.resume || command.restart || !launch.shard.whole()) {
    throw InputError(fmt::format("{}: expected --out FILE beside it, where the rows are kept",
                                 command.resume            ? "--resume"
                                 : command.restart         ? "--restart"
                                 : launch.launcher.empty() ? "--shard " + command.shard
                                                           : fmt::format("process {} of {} of {}",
                                                                         launch.shard.rank + 1,
                                                                         launch.shard.size,
                                                                         launch.launcher)));
  }
}

/// To standard output, or through a device: there is nothing to go on with.
int stream_sweep(const SweepCommand& command, const Launch& launch) {
  expect_no_file(command, launch);
  SweepTable table = command.table(launch);
  OutputFile out(command.out);
  std::string kept = command.reads_rows() ? table.columns() : "";
  out.write(table.columns());
  std::size_t rows = 0;
  std::size_t beyond = 0;
  DefectRows defects;
  const SweepOutcome outcome = table.compute(0, nullptr, [&](std::span<const SweepChunk> ready) {
    for (const SweepChunk& chunk : ready) {
      out.write(chunk.rows);
      kept += command.reads_rows() ? chunk.rows : "";
      rows += chunk.chunk.rows;
      beyond += chunk.chunk.beyond;
      defects += chunk.chunk.defects;
    }
  });
  out.finish();
  tell_left_out(table, outcome, rows);
  const int code = report_rows(command, table, kept);
  tell_beyond(table, beyond, rows);
  return std::max(code, tell_defects(table, defects, rows));
}

/// Adds the rows that are not in the file, until an interrupt; what is appended is safe then.
SweepOutcome append_rows(SweepTable& table, RowFile& file) {
  if (!file.damage().empty()) {
    fmt::print(stderr,
               "{}; {} of {} points are kept, the others computed again\n",
               file.damage(),
               table.points(file.tally().chunks),
               table.points(table.own_chunks()));
  }
  RowSaver saver(file);
  const Interrupt interrupt;
  SweepOutcome outcome = table.compute(
      file.tally().chunks, &interrupt.requested(), [&](std::span<const SweepChunk> ready) {
        for (const SweepChunk& chunk : ready) {
          file.append(chunk.chunk, chunk.rows);
        }
        file.hand_over();
        saver.save_if_due();
      });
  if (!outcome.all) {
    file.flush();
  }
  return outcome;
}

/// The first of several processes says what to do when all are done.
void tell_merge(const SweepCommand& command, const Launch& launch, const std::string& name) {
  if (!launch.launcher.empty() && launch.shard.rank == 0 && !launch.shard.whole()) {
    fmt::print(stderr,
               "{}: shard 1 of {}, as {} says; when all are done: titer merge {}\n",
               name,
               launch.shard.size,
               launch.launcher,
               shell_word(command.out));
  }
}

/// Into a file that can be gone on with.
int write_sweep(const SweepCommand& command, const Launch& launch) {
  SweepTable table = command.table(launch);
  using Start = RowFile::Start;
  RowFile file(command.out,
               table.origin(),
               launch.shard,
               table.columns(),
               command.resume    ? Start::resume
               : command.restart ? Start::restart
                                 : Start::fresh);
  const std::string name = file.target().string();
  if (file.complete()) {
    if (launch.shard.whole()) {
      table.expect_ends(file.target());
    }
    fmt::print(stderr, "{}: is complete; there is nothing to resume\n", name);
    if (!launch.shard.whole()) {
      return tell_defects(table, file.tally().defects, file.tally().rows);
    }
    return std::max(report_written(command, table),
                    tell_defects_in(file.target(), command.row_format()));
  }
  const std::size_t before = file.tally().chunks;
  const SweepOutcome outcome = append_rows(table, file);
  if (!outcome.all) {
    fmt::print(stderr,
               "{}: interrupted with {} of {} points done; go on with: {}\n",
               name,
               table.points(file.tally().chunks),
               table.points(table.own_chunks()),
               resume_command(command));
    return kInterrupted;
  }
  if (launch.shard.whole() && file.tally().rows == 0) {
    file.discard();
    tell_left_out(table, outcome, 0);
  }
  file.finish();
  const int code = report_written(command, table);
  if (launch.shard.whole() && before == 0) {
    tell_left_out(table, outcome, file.tally().rows);
  }
  tell_beyond(table, file.tally().beyond, file.tally().rows);
  tell_merge(command, launch, name);
  return std::max(code, tell_defects(table, file.tally().defects, file.tally().rows));
}

/// What takes the place of a device or pipe would be none any more.
bool is_stream(const std::string& path) {
  std::error_code missing;
  const std::filesystem::file_status status = std::filesystem::status(path, missing);
  return std::filesystem::exists(status) && !std::filesystem::is_regular_file(status) &&
         !std::filesystem::is_directory(status);
}

int sweep_command(const AskedSweep& asked) {
  const SweepCommand command(asked);
  check_ending("--out", command.out, command.format);
  if (command.resume && command.restart) {
    throw InputError("--restart: expected no --resume beside it");
  }
  const Launch launch = this_process(command.shard);
  check_report(command, launch);
  return command.out.empty() || is_stream(command.out) ? stream_sweep(command, launch)
                                                       : write_sweep(command, launch);
}

}  // namespace

Command add_sweep(CLI::App& program) {
  CLI::App* app = program.add_subcommand(
      "sweep", "Compute a scenario along axes: one row per combination, in a fixed order");
  app->footer(
      "Ctrl-C stops a run that writes a file so that --resume goes on with it; exit code 130.\n"
      "A point at which the program meets a defect of its own is a row that says so; exit code 3.\n"
      "Examples:\n"
      "  titer sweep gpt3-175b-plans --out plans.csv\n"
      "  titer sweep my-sweep.json --jobs 8 > rows.csv\n"
      "  srun -n 64 titer sweep my-sweep.json --out rows.csv && titer merge rows.csv");
  return question_command(*app,
                          sweep_options(),
                          kSweepFiles,
                          sweep_command,
                          {.threads = "threads; default: the cores of this process",
                           .has_plot = true,
                           .has_fail_on = true});
}

}  // namespace titer
