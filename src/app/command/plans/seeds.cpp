#include <CLI/CLI.hpp>

#include "app/question_command.hpp"
#include "titer/report/evidence/seed_report.hpp"
#include "titer/units/lists.hpp"

namespace titer {
namespace {

struct SeedsOptions {
  std::vector<std::string> ids;
  bool all = false;
  std::optional<Reading> reading;
  Format format = Format::text;
};
constexpr std::array kSeedsOptions = {
    options::texts<&SeedsOptions::ids>(
        "ids", "ID", "statements, such as E13 F33 T11; default: a list of all")
        .first(),
    options::flag<&SeedsOptions::all>("all", "all of them in full"),
    options::choice<&SeedsOptions::reading, kReadings>(
        "reading",
        "NAME",
        "where a document is wrong or garbled: literal (as it is printed) or right; default: both"),
    format_option<&SeedsOptions::format, kFormats>()};

/// Leaves out the checks of the other reading.
void keep_reading(Reading reading, SeedReport& report) {
  std::erase_if(report.results, [&](const CheckResult& result) {
    return result.check->reading && *result.check->reading != reading;
  });
}

std::vector<SeedReport> reports_of(const std::vector<Seed>& seeds, std::optional<Reading> reading) {
  Progress progress("statements", seeds.size());
  std::vector<SeedReport> reports;
  reports.reserve(seeds.size());
  for (const Seed& seed : seeds) {
    reports.push_back(run_seed(seed));
    if (reading) {
      keep_reading(*reading, reports.back());
    }
    progress.update(reports.size());
  }
  return reports;
}

int seeds_command(const SeedsOptions& options) {
  const std::vector<Seed> seeds = each_of(options.ids.empty() ? seed_ids() : options.ids,
                                          [&](const std::string& id) { return load_seed(id); });
  const std::vector<SeedReport> reports = reports_of(seeds, options.reading);
  print(options.format, seed_view(reports, options.all || !options.ids.empty()));
  const bool any_fails = includes(reports, SeedStatus::fails, &SeedReport::status);
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
  return own_command(*app, kSeedsOptions, seeds_command);
}

}  // namespace titer
