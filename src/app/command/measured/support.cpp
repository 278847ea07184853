#include <CLI/CLI.hpp>
#include <memory>

#include "app/command.hpp"
#include "titer/measured/dataset.hpp"
#include "titer/report/evidence/support_report.hpp"

namespace titer {
namespace {

struct SupportOptions {
  std::vector<std::string> datasets;
  std::string scenario;
  std::string format = "text";
  std::shared_ptr<ReportFile> report = std::make_shared<ReportFile>();
};

std::vector<SupportCell> cells_of(const std::vector<std::string>& datasets) {
  if (datasets.empty()) {
    return shipped_support();
  }
  std::vector<Comparison> rows;
  for (const std::string& dataset : datasets) {
    std::vector<Comparison> more = compare_dataset(dataset);
    std::move(more.begin(), more.end(), std::back_inserter(rows));
  }
  return support_cells(rows);
}

int support_command(const SupportOptions& options) {
  const Format format = chosen("--format", options.format, kFormats);
  std::optional<Combination> asked;
  if (!options.scenario.empty()) {
    asked = combination_of(ScenarioSource::load(options.scenario).read());
  }
  const View view = support_view(cells_of(options.datasets), asked);
  options.report->write(view);
  print(written(format, view));
  return kSuccess;
}

}  // namespace

Command add_support(CLI::App& program) {
  CLI::App* app = program.add_subcommand(
      "support", "What was measured of which model, chip, software and precision, and how far off");
  app->footer(
      "Errors are of |predicted / measured - 1|, in percent; bias: the mean with its sign. What "
      "was\n"
      "never measured is predicted all the same, by the figures of its parts.\n"
      "Examples:\n"
      "  titer support\n"
      "  titer support --scenario llama3-70b-64xh100\n"
      "  titer support my-runs.csv --format csv");
  const auto options = std::make_shared<SupportOptions>();
  app->add_option("datasets",
                  options->datasets,
                  "tables of runs, as `titer validate` takes them; otherwise what the public runs "
                  "came to")
      ->type_name("DATASET.csv");
  app->add_option("--scenario",
                  options->scenario,
                  "first what is known of runs like this one, a run file or a shipped run")
      ->type_name("SCENARIO");
  add_format(*app, options->format, *options->report);
  return {app, [options] { return support_command(*options); }, options->report};
}

}  // namespace titer
