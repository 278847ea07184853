#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <memory>

#include "app/command.hpp"
#include "app/output/processes.hpp"
#include "app/output/progress.hpp"
#include "titer/ask/campaign.hpp"
#include "titer/ask/whatif.hpp"

namespace titer {
namespace {

struct CompareCommandOptions {
  std::string run;
  std::vector<std::string> sets;
  std::array<std::string, 17> values;  // of kCompareOptions
  std::string topologies;
  std::string oversubscriptions;
  std::string failed_links;
  std::string sort = "asked";
  std::string best_of = "all";
  std::string format = "text";
  bool search = false;
  unsigned jobs = 0;
  std::shared_ptr<ReportFile> report = std::make_shared<ReportFile>();
};

/// Options that put a value at a key.
struct CompareOption {
  const char* flag;
  const char* key;
  const char* type;
  const char* help;
};
constexpr std::array<CompareOption, 18> kCompareOptions = {{
    {"--model", "models", "A,B", "models (titer list models), or files"},
    {"--cluster", "clusters", "X,Y", "clusters (titer list clusters), or files"},
    {"--stack",
     "stacks",
     "NAMES",
     "training software: one for all, or one for each cluster; otherwise the run's, without a run "
     "megatron-core"},
    {"--tokens", "tokens", "COUNT", "to train on, such as 10T or 300B"},
    {"--deadline", "deadlines", "TIMES", "such as 60d or 60d,12w; several are rows of their own"},
    {"--chance", "chance", "SHARE", "of the runs that keep it, such as 90%; otherwise on average"},
    {"--devices",
     "devices",
     "LIST",
     "numbers to try, such as 1024,2048; otherwise the fewest that keep the deadline are found"},
    {"--budget", "budget", "AMOUNT", "such as 10M, in the currency of the answer"},
    {"--batch", "training.global_batch", "N", "sequences of a step; otherwise 16 Mi tokens"},
    {"--sequence", "training.sequence", "N", "tokens of a sequence; otherwise 8192 or fewer"},
    {"--precision", "training.precision", "TYPE", "of products: bf16 (usual), fp8, …"},
    {"--batch-slack", "batch_slack", "SHARE", "by how much the batch may be another, such as 5%"},
    {"--prices", "prices", "NAME", "of devices (titer list prices), or a file"},
    {"--dollars-per-hour",
     "dollars_per_hour",
     "X,…",
     "rent of a device in place of the prices': one, or one for each cluster (- for theirs)"},
    {"--watts", "power", "X,…", "rated power of a device in place of its chip's, likewise"},
    {"--currency",
     "currency",
     "NAME=RATE@DATE",
     "of the answer, with what one of it is in dollars and when, such as EUR=1.08@2026-10"},
    {"--grid", "grid", "NAME", "where the electricity comes from (titer list grids), or a file"},
    {"--reliability", "reliability", "NAME", "what fails how often (titer list reliabilities)"},
}};

/// A number where it is one: keys of scenarios do not read texts.
Assignment assignment_of(const CompareOption& option, const std::string& value) {
  Assignment assignment = parse_assignment(std::string(option.key) + "=" + value, option.flag);
  const std::string_view key = option.key;
  if (!key.starts_with("training.")) {
    assignment.value = Value(key == "power" ? watts_of(value) : value);
    assignment.source = std::string(option.flag) + " " + value;
  }
  return assignment;
}

Asked asked_table(const CompareCommandOptions& options) {
  Asked asked{.what = options.run, .changes = parse_assignments(options.sets)};
  if (options.run.empty()) {
    asked.what = Document{.root = Value::make_object(), .sources = {}};
  }
  for (std::size_t i = 0; i < kCompareOptions.size(); ++i) {
    if (!options.values[i].empty()) {
      asked.changes.push_back(assignment_of(kCompareOptions[i], options.values[i]));
    }
  }
  return asked;
}

/// Between commas.
std::vector<std::string> parts_of(std::string_view text) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    parts.emplace_back(text.substr(0, text.find(',')));
    text.remove_prefix(std::min(text.size(), parts.back().size() + 1));
  }
  return parts;
}

std::vector<double> numbers_of(std::string_view option, const std::string& text) {
  std::vector<double> numbers;
  for (const std::string& part : parts_of(text)) {
    const Assignment read = parse_assignment("x=" + part, option);
    if (read.value.kind != Value::Kind::number || read.value.number < 0) {
      throw InputError(fmt::format(
          "{}: {}: expected numbers with commas between them, such as 1,2,4", option, text));
    }
    numbers.push_back(read.value.number);
  }
  return numbers;
}

int compare_networks_of(const CompareCommandOptions& options, Format format) {
  const bool has_others = std::any_of(options.values.begin(),
                                      options.values.end(),
                                      [](const std::string& value) { return !value.empty(); });
  if (options.run.empty() || has_others) {
    throw InputError(
        "--topology, --oversubscription and --failed-links compare networks of one RUN: expected "
        "it, and none of the options that compare models and clusters");
  }
  CompareNetworksRequest request{
      .scenario = {.what = options.run, .changes = parse_assignments(options.sets)},
      .topologies = parts_of(options.topologies),
      .oversubscriptions = numbers_of("--oversubscription", options.oversubscriptions),
      .failed_links = numbers_of("--failed-links", options.failed_links)};
  return print(format, ask_with_progress(request), *options.report);
}

int compare_command(const CompareCommandOptions& options) {
  const Format format = chosen("--format", options.format, kFormats);
  if (!options.topologies.empty() || !options.oversubscriptions.empty() ||
      !options.failed_links.empty()) {
    return compare_networks_of(options, format);
  }
  CompareRequest request{.table = asked_table(options),
                         .search = options.search,
                         .sort = options.sort,
                         .best_of = options.best_of,
                         .threads = threads_or_usual(options.jobs, this_process(""))};
  return print(format, ask_with_progress(request, "rows"), *options.report);
}

}  // namespace

Command add_compare(CLI::App& program) {
  CLI::App* app = program.add_subcommand(
      "compare",
      "Compare models on clusters by deadlines: devices, plan, days, cost, energy and carbon of "
      "each (exit 1 where none will do)");
  app->footer(
      "Examples:\n"
      "  titer compare --model llama3-70b,mixtral-8x22b --cluster dgx-h100,dgx-b200 --tokens 10T "
      "--deadline 60d --prices gpu-clouds-2026\n"
      "  titer compare --model llama3-8b --cluster dgx-h100,tpu-v5p-pod --stack "
      "megatron-core,maxtext --tokens 2T --deadline 30d,60d --sort devices\n"
      "  titer compare llama3-70b-64xh100 --cluster dgx-h100,dgx-h200 --tokens 1T --devices 64\n"
      "  titer compare llama3-70b-64xh100 --topology fat-tree-2-level-1024 --oversubscription "
      "1,2,4 "
      "--failed-links 0,10");
  const auto options = std::make_shared<CompareCommandOptions>();
  app->add_option("run",
                  options->run,
                  "a run file, or the name of a shipped run, which lends all that no option says; "
                  "or the file of a comparison")
      ->type_name("RUN");
  for (std::size_t i = 0; i < kCompareOptions.size(); ++i) {
    const CompareOption& option = kCompareOptions[i];
    app->add_option(option.flag, options->values[i], option.help)->type_name(option.type);
  }
  app->add_option("--topology",
                  options->topologies,
                  "of one RUN its step on other networks (titer list topologies), or files")
      ->type_name("T,U");
  app->add_option("--oversubscription",
                  options->oversubscriptions,
                  "likewise on fat trees and rails with so many links down for each up")
      ->type_name("1,2,…");
  app->add_option("--failed-links",
                  options->failed_links,
                  "likewise with so many links that do not work (below 1: a share of them)")
      ->type_name("0,10,…");
  app->add_flag("--search",
                options->search,
                "the best of all plans, though there is a RUN: otherwise its plan is scaled");
  app->add_option("--sort", options->sort, "days, dollars, devices, energy or carbon: least first")
      ->type_name("FIGURE");
  app->add_option("--best-of",
                  options->best_of,
                  "model or cluster: of each the best row alone, by --sort (otherwise by days)")
      ->type_name("KIND");
  app->add_option("--jobs", options->jobs, "threads of searches; default: all cores")
      ->check(CLI::Range(1U, 4096U))
      ->type_name("N");
  app->add_option("--set",
                  options->sets,
                  "put a value at a path of all scenarios, such as training.optimizer=muon, or of "
                  "the question, such as dollars_per_hour=2; may be repeated")
      ->take_all()
      ->allow_extra_args(false)
      ->type_name("PATH=VALUE");
  add_format(*app, options->format, *options->report);
  return {app, [options] { return compare_command(*options); }, options->report};
}

}  // namespace titer
