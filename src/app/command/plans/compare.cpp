#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "app/command.hpp"
#include "app/output/processes.hpp"
#include "app/output/progress.hpp"
#include "app/question_options.hpp"
#include "titer/ask/campaign.hpp"
#include "titer/ask/whatif.hpp"

namespace titer {
namespace {

struct CompareCommandOptions {
  RequestOptions<CompareRequest> asked;
  std::string topologies{};
  std::string oversubscriptions{};
  std::string failed_links{};
  std::string format = "text";
  unsigned jobs = 0;
  std::shared_ptr<ReportFile> report = std::make_shared<ReportFile>();
};

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
  const Document given = options.asked.document();
  const bool has_others = std::ranges::any_of(given.root.members, [](const auto& member) {
    return member.first != "run" && member.first != "set";
  });
  if (given.root.find("run") == nullptr || has_others) {
    throw InputError(
        "--topology, --oversubscription and --failed-links compare networks of one RUN: expected "
        "it, and none of the options that compare models and clusters");
  }
  CompareNetworksRequest request{
      .scenario = options.asked.request().table,
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
  CompareRequest request = options.asked.request();
  request.threads = threads_or_usual(options.jobs, this_process(""));
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
  const auto options = std::make_shared<CompareCommandOptions>(
      CompareCommandOptions{.asked = {*app, compare_options()}});
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
  app->add_option("--jobs", options->jobs, "threads of searches; default: all cores")
      ->check(CLI::Range(1U, 4096U))
      ->type_name("N");
  add_format(*app, options->format, *options->report);
  return {app, [options] { return compare_command(*options); }, options->report};
}

}  // namespace titer
