#include "titer/study/sweep.hpp"

#include <CLI/CLI.hpp>
#include <memory>
#include <thread>

#include "command.hpp"
#include "output_file.hpp"
#include "progress.hpp"
#include "titer/report/step_report.hpp"

namespace titer {
namespace {

struct SweepCommandOptions {
  std::string sweep;
  std::string out;
  std::string fidelity = "closed";
  unsigned jobs = 0;
};

std::string cell(const Value& value) {
  return value.kind == Value::Kind::text ? value.text : to_json(value, 0);
}

std::string header(const Sweep& sweep) {
  Row row;
  for (const Axis& axis : sweep.axes) {
    row.push_back(axis.path);
  }
  row.emplace_back("status");
  const Row columns = result_columns();
  row.insert(row.end(), columns.begin(), columns.end());
  row.emplace_back("reason");
  return csv_line(row);
}

std::string line(const Sweep& sweep, const SweepPoint& point) {
  Row row;
  const std::vector<std::size_t> at = sweep.indices(point.index);
  for (std::size_t i = 0; i < at.size(); ++i) {
    row.push_back(cell(sweep.axes[i].values[at[i]]));
  }
  row.emplace_back(name(point.status));
  const bool has_result = point.status != PointStatus::invalid;
  const Row cells = has_result ? result_cells(point.result) : no_result_cells();
  row.insert(row.end(), cells.begin(), cells.end());
  row.push_back(point.reason);
  return csv_line(row);
}

int sweep_command(const SweepCommandOptions& options) {
  const Fidelity fidelity = chosen("--fidelity", options.fidelity, kFidelities);
  const Sweep sweep = load_sweep(options.sweep);
  OutputFile out(options.out);
  out.write(header(sweep));
  Progress progress("points", sweep.points());
  const unsigned jobs = options.jobs > 0 ? options.jobs : std::thread::hardware_concurrency();
  run_sweep(
      sweep,
      {.threads = jobs, .fidelity = fidelity},
      [&](const SweepPoint& point) { return line(sweep, point); },
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
