#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "app/command.hpp"
#include "app/output/progress.hpp"
#include "titer/report/evidence/seed_report.hpp"

namespace titer {
namespace {

struct SeedsOptions {
  std::vector<std::string> ids;
  bool all = false;
  std::string reading;
  std::string format = "text";
};

/// Leaves out the checks of the other reading.
void keep_reading(Reading reading, SeedReport& report) {
  std::erase_if(report.results, [&](const CheckResult& result) {
    return result.check->reading && *result.check->reading != reading;
  });
}

std::vector<SeedReport> reports_of(const std::vector<Seed>& seeds, const std::string& reading) {
  Progress progress("statements", seeds.size());
  std::vector<SeedReport> reports;
  reports.reserve(seeds.size());
  for (const Seed& seed : seeds) {
    reports.push_back(run_seed(seed));
    if (!reading.empty()) {
      keep_reading(chosen("--reading", reading, kReadings), reports.back());
    }
    progress.update(reports.size());
  }
  return reports;
}

int seeds_command(const SeedsOptions& options) {
  const Format format = chosen("--format", options.format, kFormats);
  std::vector<Seed> seeds;
  for (const std::string& id : options.ids.empty() ? seed_ids() : options.ids) {
    seeds.push_back(load_seed(id));
  }
  const std::vector<SeedReport> reports = reports_of(seeds, options.reading);
  print(format, seed_view(reports, options.all || !options.ids.empty()));
  const bool any_fails = std::any_of(reports.begin(), reports.end(), [](const SeedReport& report) {
    return report.status() == SeedStatus::fails;
  });
  return any_fails ? kNo : kSuccess;
}

}  // namespace

Command add_seeds(CLI::App& program) {
  CLI::App* app = program.add_subcommand(
      "seeds",
      "Reproduce the documents that Titer started from: systems, equations, tables, findings");
  app->footer(
      "A printed figure that is not met is said, the worst first, and is no failure.\n"
      "Exit code 1: a law (structure, volume, transcription) does not hold.\n"
      "Examples:\n"
      "  titer seeds\n"
      "  titer seeds F33\n"
      "  titer seeds T11 --reading literal\n"
      "  titer seeds --all --format csv");
  const auto options = std::make_shared<SeedsOptions>();
  app->add_option("ids", options->ids, "statements, such as E13 F33 T11; default: a list of all")
      ->type_name("ID");
  app->add_flag("--all", options->all, "all of them in full");
  app->add_option("--reading",
                  options->reading,
                  "where a document is wrong or garbled: literal (as it is printed) or right; "
                  "default: both")
      ->type_name("NAME");
  add_format(*app, options->format);
  return {app, [options] { return seeds_command(*options); }};
}

}  // namespace titer
