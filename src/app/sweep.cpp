#include "titer/report/sweep_report.hpp"

#include <CLI/CLI.hpp>
#include <memory>
#include <thread>

#include "command.hpp"
#include "output_file.hpp"
#include "progress.hpp"
#include "titer/study/sweep_run.hpp"

namespace titer {
namespace {

struct SweepCommandOptions {
  std::string sweep;
  std::string out;
  std::string fidelity = "closed";
  unsigned jobs = 0;
};

int sweep_command(const SweepCommandOptions& options) {
  const Fidelity fidelity = chosen("--fidelity", options.fidelity, kFidelities);
  const Sweep sweep = load_sweep(options.sweep);
  OutputFile out(options.out);
  out.write(sweep_csv_header(sweep));
  Progress progress("points", sweep.points());
  const unsigned jobs = options.jobs > 0 ? options.jobs : std::thread::hardware_concurrency();
  run_sweep(
      sweep,
      {.threads = jobs, .fidelity = fidelity},
      [&](const SweepPoint& point) { return sweep_csv_row(sweep, point); },
      [&](std::string_view row, std::size_t done) {
        out.write(row);
        progress.update(done);
      });
  out.finish();
  return kSuccess;
}

}  // namespace

Command add_sweep(CLI::App& program) {
  CLI::App* app = program.add_subcommand(
      "sweep", "Compute a scenario along axes: one CSV row per combination, in a fixed order");
  app->footer(
      "Examples:\n"
      "  titer sweep gpt3-175b-plans --out plans.csv\n"
      "  titer sweep my-sweep.json --jobs 8 > rows.csv");
  const auto options = std::make_shared<SweepCommandOptions>();
  app->add_option("sweep", options->sweep, "a sweep file, or a shipped sweep (titer list sweeps)")
      ->required()
      ->type_name("SWEEP");
  app->add_option("--out", options->out, "write the CSV to this file, whole or not at all")
      ->type_name("FILE");
  app->add_option("--jobs", options->jobs, "threads; default: all cores")
      ->check(CLI::Range(1U, 4096U))
      ->type_name("N");
  app->add_option(
         "--fidelity",
         options->fidelity,
         "closed (closed form), event (event engine) or network (events whose transfers share "
         "the links of the cluster)")
      ->default_str("closed")
      ->type_name("NAME");
  return {app, [options] { return sweep_command(*options); }};
}

}  // namespace titer
