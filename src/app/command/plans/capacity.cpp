#include <CLI/CLI.hpp>
#include <array>
#include <memory>

#include "app/command.hpp"
#include "app/measured_option.hpp"
#include "app/output/processes.hpp"
#include "app/output/progress.hpp"
#include "titer/ask/campaign.hpp"
#include "titer/campaign/capacity.hpp"

namespace titer {
namespace {

struct CapacityCommandOptions {
  std::string question;
  std::vector<std::string> sets;
  std::string tokens;
  std::string deadline;
  std::string chance;
  std::string budget;
  std::string devices;
  std::string batch_slack;
  std::string prices;
  std::string against;
  std::string currency;
  std::string grid;
  std::string reliability;
  std::string dollars_per_hour;
  std::string watts;
  std::string format = "text";
  bool search = false;
  unsigned jobs = 0;
  MeasuredOption measured;
  std::shared_ptr<ReportFile> report = std::make_shared<ReportFile>();
};

/// Options that put a value at a key of the question.
struct CapacityOption {
  const char* flag;
  const char* key;
  std::string CapacityCommandOptions::*value;
  const char* type;
  const char* help;
};
constexpr std::array<CapacityOption, 13> kCapacityOptions = {{
    {"--tokens",
     "tokens",
     &CapacityCommandOptions::tokens,
     "COUNT",
     "to train on, such as 15T or 300B"},
    {"--deadline",
     "deadline",
     &CapacityCommandOptions::deadline,
     "TIME",
     "such as 60d, 8w or \"2 months\" (of 30 days; a year has 365)"},
    {"--chance",
     "chance",
     &CapacityCommandOptions::chance,
     "SHARE",
     "of the runs that keep the deadline, such as 90%; otherwise it is kept on average"},
    {"--budget",
     "budget",
     &CapacityCommandOptions::budget,
     "AMOUNT",
     "such as 10M, in the currency of the answer: dollars, the prices' or --currency's"},
    {"--devices",
     "devices",
     &CapacityCommandOptions::devices,
     "LIST",
     "numbers to try, such as 1024,2048; otherwise all that share the batch out evenly"},
    {"--batch-slack",
     "batch_slack",
     &CapacityCommandOptions::batch_slack,
     "SHARE",
     "by how much the batch may be another where devices do not share it out, such as 5%"},
    {"--prices",
     "prices",
     &CapacityCommandOptions::prices,
     "NAME",
     "of devices (titer list prices), or a file"},
    {"--against",
     "against",
     &CapacityCommandOptions::against,
     "NAME",
     "other prices of the same devices, as of ones that are bought: what they cost, and from how "
     "much use on buying is cheaper than renting"},
    {"--currency",
     "currency",
     &CapacityCommandOptions::currency,
     "NAME=RATE@DATE",
     "of the answer, with what one of it is in dollars and when, such as EUR=1.08@2026-10"},
    {"--grid",
     "grid",
     &CapacityCommandOptions::grid,
     "NAME",
     "where the electricity comes from (titer list grids), or a file"},
    {"--reliability",
     "reliability",
     &CapacityCommandOptions::reliability,
     "NAME",
     "how often what fails (titer list reliabilities), or a file"},
    {"--dollars-per-hour",
     "dollars_per_hour",
     &CapacityCommandOptions::dollars_per_hour,
     "X",
     "rent of a device, always in dollars, in place of the price file's"},
    {"--watts",
     "power",
     &CapacityCommandOptions::watts,
     "X",
     "rated power of a device, in place of its chip's"},
}};

std::vector<Assignment> changes_of(const CapacityCommandOptions& options) {
  std::vector<Assignment> changes = parse_assignments(options.sets);
  for (const CapacityOption& option : kCapacityOptions) {
    const std::string& value = options.*option.value;
    if (!value.empty()) {
      const bool is_power = option.value == &CapacityCommandOptions::watts;
      changes.push_back({.path = option.key,
                         .value = Value(is_power ? watts_of(value) : value),
                         .source = std::string(option.flag) + " " + value});
    }
  }
  return changes;
}

int capacity_command(const CapacityCommandOptions& options) {
  const Format format = chosen("--format", options.format, kFormats);
  CapacityRequest request{.question = {.what = options.question, .changes = changes_of(options)},
                          .search = options.search,
                          .threads = threads_or_usual(options.jobs, this_process(""))};
  const std::vector<std::string> learned = options.measured.learn(kCapacityData, request.question);
  Answer answer = ask_with_progress(request, "numbers of devices");
  add_notes(learned, answer.view);
  return print(format, answer, *options.report);
}

}  // namespace

Command add_capacity(CLI::App& program) {
  CLI::App* app = program.add_subcommand(
      "capacity",
      "Find how many devices a training run needs for a deadline or a budget, with failures, cost, "
      "energy and carbon (exit 1 where none will do)");
  app->footer(
      "Examples:\n"
      "  titer capacity llama3-405b\n"
      "  titer capacity gpt3-175b --search --devices 512,1024\n"
      "  titer capacity llama3-70b-64xh100 --tokens 1T --deadline \"60 days\" --reliability "
      "assumed");
  const auto options = std::make_shared<CapacityCommandOptions>();
  app->add_option("question",
                  options->question,
                  "a capacity file, a run file, or the name of a shipped one (titer list "
                  "capacities, titer list runs)")
      ->required()
      ->type_name("CAPACITY");
  for (const CapacityOption& option : kCapacityOptions) {
    app->add_option(option.flag, (*options).*option.value, option.help)->type_name(option.type);
  }
  app->add_flag("--search",
                options->search,
                "for each number of devices the best of all plans, not the scenario's with as many "
                "replicas");
  app->add_option("--jobs", options->jobs, "threads of the search; default: all cores")
      ->check(CLI::Range(1U, 4096U))
      ->type_name("N");
  app->add_option("--set",
                  options->sets,
                  "put a value at a path of the scenario, such as plan.tensor=4, or of the "
                  "question, such as growth.demand=3; may be repeated")
      ->take_all()
      ->allow_extra_args(false)
      ->type_name("PATH=VALUE");
  options->measured.add_to(*app);
  add_format(*app, options->format, *options->report);
  options->report->add_plot_to(*app);
  return {app, [options] { return capacity_command(*options); }, options->report};
}

}  // namespace titer
