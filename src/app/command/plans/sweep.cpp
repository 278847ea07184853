#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <fstream>
#include <memory>

#include "app/command.hpp"
#include "app/output/interrupt.hpp"
#include "app/output/output_file.hpp"
#include "app/output/processes.hpp"
#include "app/output/row_saver.hpp"
#include "app/sweep_table.hpp"
#include "titer/input/file.hpp"
#include "titer/report/study/sweep_view.hpp"
#include "titer/units/shell_word.hpp"

namespace titer {
namespace {

/// What goes on with an interrupted run.
std::string resume_command(const SweepCommandOptions& options) {
  std::string text =
      fmt::format("titer sweep {} --out {}", shell_word(options.sweep), shell_word(options.out));
  const SweepCommandOptions usual;
  const auto add = [&](std::string_view option, const std::string& value, bool given) {
    text += given ? fmt::format(" {} {}", option, shell_word(value)) : "";
  };
  add("--format", options.format, options.format != usual.format);
  add("--fidelity", options.fidelity, options.fidelity != usual.fidelity);
  for (const std::string& column : options.columns) {
    add("--columns", column, true);
  }
  add("--shard", options.shard, !options.shard.empty());
  for (const std::string& file : options.measured.files()) {
    add("--measured", file, true);
  }
  add("--limit", std::to_string(options.limit), options.limit != usual.limit);
  add("--jobs", std::to_string(options.jobs), options.jobs > 0);
  return text + " --resume";
}

/// A report tells of all rows, and reads them as CSV.
void check_report(const SweepCommandOptions& options, const Launch& launch) {
  if (options.report->is_any_wanted() && (!launch.shard.whole() || options.format != "csv")) {
    throw InputError(
        fmt::format("--report, --plot: expected all rows in one table of --format csv{}",
                    launch.shard.whole() ? "" : "; titer merge makes one of shards"));
  }
  if (options.report->is_plot_printed() && options.out.empty()) {
    throw InputError("--plot: expected a FILE.svg, or --out FILE for the rows");
  }
}

void report_rows(const SweepCommandOptions& options,
                 const SweepTable& table,
                 std::string_view text) {
  if (options.report->is_any_wanted()) {
    options.report->write(sweep_view(table.sweep(), CsvTable::parse(text, options.sweep)));
    print(options.report->charts());
  }
}

/// Refuses what needs a file where the rows are kept.
void expect_no_file(const SweepCommandOptions& options, const Launch& launch) {
  if (options.resume || options.restart || !launch.shard.whole()) {
    throw InputError(fmt::format("{}: expected --out FILE beside it, where the rows are kept",
                                 options.resume            ? "--resume"
                                 : options.restart         ? "--restart"
                                 : launch.launcher.empty() ? "--shard " + options.shard
                                                           : fmt::format("process {} of {} of {}",
                                                                         launch.shard.rank + 1,
                                                                         launch.shard.size,
                                                                         launch.launcher)));
  }
}

/// To standard output, or through a device: there is nothing to go on with.
int stream_sweep(const SweepCommandOptions& options, const Launch& launch) {
  expect_no_file(options, launch);
  SweepTable table(options, launch);
  OutputFile out(options.out);
  std::string kept = options.report->is_any_wanted() ? table.columns() : "";
  out.write(table.columns());
  std::size_t rows = 0;
  std::size_t beyond = 0;
  DefectRows defects;
  const SweepOutcome outcome = table.compute(0, nullptr, [&](std::span<const SweepChunk> ready) {
    for (const SweepChunk& chunk : ready) {
      out.write(chunk.rows);
      kept += options.report->is_any_wanted() ? chunk.rows : "";
      rows += chunk.chunk.rows;
      beyond += chunk.chunk.beyond;
      defects += chunk.chunk.defects;
    }
  });
  out.finish();
  tell_left_out(table, outcome, rows);
  report_rows(options, table, kept);
  tell_beyond(table, beyond, rows);
  return tell_defects(table, defects, rows);
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
void tell_merge(const SweepCommandOptions& options, const Launch& launch, const std::string& name) {
  if (!launch.launcher.empty() && launch.shard.rank == 0 && !launch.shard.whole()) {
    fmt::print(stderr,
               "{}: shard 1 of {}, as {} says; when all are done: titer merge {}\n",
               name,
               launch.shard.size,
               launch.launcher,
               shell_word(options.out));
  }
}

/// Into a file that can be gone on with.
int write_sweep(const SweepCommandOptions& options, const Launch& launch) {
  SweepTable table(options, launch);
  using Start = RowFile::Start;
  RowFile file(options.out,
               table.origin(options),
               launch.shard,
               table.columns(),
               options.resume    ? Start::resume
               : options.restart ? Start::restart
                                 : Start::fresh);
  const std::string name = file.target().string();
  if (file.complete()) {
    if (launch.shard.whole()) {
      table.expect_ends(file.target());
    }
    fmt::print(stderr, "{}: is complete; there is nothing to resume\n", name);
    return launch.shard.whole()
               ? tell_defects_in(file.target(), chosen("--format", options.format, kRowFormats))
               : tell_defects(table, file.tally().defects, file.tally().rows);
  }
  const std::size_t before = file.tally().chunks;
  const SweepOutcome outcome = append_rows(table, file);
  if (!outcome.all) {
    fmt::print(stderr,
               "{}: interrupted with {} of {} points done; go on with: {}\n",
               name,
               table.points(file.tally().chunks),
               table.points(table.own_chunks()),
               resume_command(options));
    return kInterrupted;
  }
  if (launch.shard.whole() && file.tally().rows == 0) {
    file.discard();
    tell_left_out(table, outcome, 0);
  }
  file.finish();
  if (options.report->is_any_wanted()) {
    report_rows(options, table, read_text(options.out));
  }
  if (launch.shard.whole() && before == 0) {
    tell_left_out(table, outcome, file.tally().rows);
  }
  tell_beyond(table, file.tally().beyond, file.tally().rows);
  tell_merge(options, launch, name);
  return tell_defects(table, file.tally().defects, file.tally().rows);
}

/// What takes the place of a device or pipe would be none any more.
bool is_stream(const std::string& path) {
  std::error_code missing;
  const std::filesystem::file_status status = std::filesystem::status(path, missing);
  return std::filesystem::exists(status) && !std::filesystem::is_regular_file(status) &&
         !std::filesystem::is_directory(status);
}

int sweep_command(const SweepCommandOptions& options) {
  const Launch launch = this_process(options.shard);
  check_report(options, launch);
  return options.out.empty() || is_stream(options.out) ? stream_sweep(options, launch)
                                                       : write_sweep(options, launch);
}

void add_partition_options(CLI::App& app, SweepCommandOptions& options) {
  app.add_option("--shard",
                 options.shard,
                 "compute the I-th of N parts, from 1, into FILE.shard-I-of-N for titer merge; "
                 "default: what srun, mpirun or a Slurm array says; 1/1: all of it")
      ->type_name("I/N");
  CLI::Option* resume =
      app.add_flag("--resume", options.resume, "go on with an interrupted run, if there is one");
  app.add_flag("--restart", options.restart, "begin again, and drop what an interrupted run left")
      ->excludes(resume);
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
  const auto options = std::make_shared<SweepCommandOptions>();
  app->add_option("sweep", options->sweep, "a sweep file, or a shipped sweep (titer list sweeps)")
      ->required()
      ->type_name("SWEEP");
  app->add_option("--out", options->out, "write the rows to this file, whole or not at all")
      ->type_name("FILE");
  app->add_option("--format", options->format, "csv, or jsonl (an object per line)")
      ->default_str("csv")
      ->type_name("NAME");
  app->add_option("--jobs", options->jobs, "threads; default: the cores of this process")
      ->check(CLI::Range(1U, 4096U))
      ->type_name("N");
  app->add_option("--limit", options->limit, "the most points that the axes may make")
      ->check(CLI::Range(std::size_t{1}, std::numeric_limits<std::size_t>::max() / 2))
      ->default_str("100000000")
      ->type_name("N");
  app->add_option("--columns",
                  options->columns,
                  "further columns: algorithms (those that links choose in place of those of the "
                  "closed form; with --fidelity network), beyond_software (what of the plan its "
                  "software does not have)")
      ->delimiter(',')
      ->take_all()
      ->allow_extra_args(false)
      ->type_name("NAMES");
  options->measured.add_to(*app);
  options->report->add_to(*app);
  options->report->add_plot_to(*app);
  add_partition_options(*app, *options);
  app->add_option(
         "--fidelity",
         options->fidelity,
         "closed (closed form), event (event engine) or network (events whose transfers share "
         "the links of the cluster)")
      ->default_str("closed; event where devices differ")
      ->type_name("NAME");
  return {app, [options] { return sweep_command(*options); }, options->report};
}

}  // namespace titer
