#include <CLI/CLI.hpp>
#include <memory>

#include "app/command.hpp"
#include "app/measured_option.hpp"
#include "app/output/processes.hpp"
#include "app/output/progress.hpp"
#include "app/question_options.hpp"
#include "titer/ask/campaign.hpp"
#include "titer/campaign/capacity.hpp"

namespace titer {
namespace {

struct CapacityCommandOptions {
  RequestOptions<CapacityRequest> asked;
  std::string format = "text";
  unsigned jobs = 0;
  MeasuredOption measured = {};
  std::shared_ptr<ReportFile> report = std::make_shared<ReportFile>();
};

int capacity_command(const CapacityCommandOptions& options) {
  const Format format = chosen("--format", options.format, kFormats);
  CapacityRequest request = options.asked.request();
  request.threads = threads_or_usual(options.jobs, this_process(""));
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
  const auto options = std::make_shared<CapacityCommandOptions>(
      CapacityCommandOptions{.asked = {*app, capacity_options()}});
  app->add_option("--jobs", options->jobs, "threads of the search; default: all cores")
      ->check(CLI::Range(1U, 4096U))
      ->type_name("N");
  options->measured.add_to(*app);
  add_format(*app, options->format, *options->report);
  options->report->add_plot_to(*app);
  return {app, [options] { return capacity_command(*options); }, options->report};
}

}  // namespace titer
