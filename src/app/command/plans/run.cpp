#include <CLI/CLI.hpp>
#include <memory>

#include "app/command.hpp"
#include "app/measured_option.hpp"
#include "app/output/output_file.hpp"
#include "app/output/progress.hpp"
#include "app/output/trace_file.hpp"
#include "app/sampling.hpp"
#include "titer/ask/run.hpp"

namespace titer {
namespace {

struct RunOptions {
  ScenarioOptions scenario;
  std::string format = "text";
  std::string fidelity;
  std::string fail_on;
  bool every_rank = false;
  std::string trace;
  SamplingOptions sampling;
  MeasuredOption measured;
  std::shared_ptr<ReportFile> report = std::make_shared<ReportFile>();
};

enum class FailOn { out_of_memory };
constexpr std::array<Choice<FailOn>, 1> kFailOn = {{{"out-of-memory", FailOn::out_of_memory}}};

int run_command(const RunOptions& options) {
  const Format format = chosen("--format", options.format, kFormats);
  RunRequest request{
      .scenario = {}, .every_rank = options.every_rank, .for_report = options.report->is_wanted()};
  if (!options.fidelity.empty()) {
    request.fidelity = chosen("--fidelity", options.fidelity, kFidelities);
  }
  if (!options.fail_on.empty()) {
    static_cast<void>(chosen("--fail-on", options.fail_on, kFailOn));
  }
  request.scenario = options.scenario.asked();
  const std::vector<std::string> learned = options.measured.learn(kRunData, request.scenario);
  std::optional<Progress> progress(std::in_place);
  request.samples = options.sampling.asked(*progress);
  std::optional<OutputFile> trace;
  if (!options.trace.empty()) {
    trace.emplace(options.trace);  // a path that cannot be written is told before any work
    request.record = [&](const StepTimeline& timeline, const std::string& title) {
      write_trace(*trace, timeline, title);
      trace->finish();
    };
  }
  Answer answer = ask(request);
  add_notes(learned, answer.view);
  progress.reset();  // off the terminal, before the answer is there
  const int answered = print(format, answer, *options.report);
  return options.fail_on.empty() ? kSuccess : answered;
}

}  // namespace

Command add_run(CLI::App& program) {
  CLI::App* app = program.add_subcommand("run", "Predict one iteration of a scenario");
  app->footer(
      "Examples:\n"
      "  titer run gpt3-175b-64xa100\n"
      "  titer run my-run.json --set plan.micro_batch=2 --format json\n"
      "  titer run my-run.json --measured my-runs.csv\n"
      "  titer run gpt3-175b-64xa100 --formula e7 --set formula.utilization=0.45");
  const auto options = std::make_shared<RunOptions>();
  options->scenario.add_to(*app);
  options->measured.add_to(*app);
  add_format(*app, options->format, *options->report);
  options->report->add_plot_to(*app);
  app->add_option(
         "--fidelity",
         options->fidelity,
         "closed (closed form), event (event engine) or network (events whose transfers share "
         "the links of the cluster)")
      ->default_str("closed; event where devices differ, with --every-rank and --trace")
      ->type_name("NAME");
  app->add_flag("--every-rank",
                options->every_rank,
                "simulate every device by itself, not one for those that do the same");
  app->add_option("--trace",
                  options->trace,
                  "write the timeline to this file, for Perfetto (ui.perfetto.dev) and Chrome")
      ->type_name("FILE");
  options->sampling.add_to(*app);
  app->add_option("--fail-on", options->fail_on, "out-of-memory: exit 1 if the plan does not fit")
      ->type_name("WHAT");
  return {app, [options] { return run_command(*options); }, options->report};
}

}  // namespace titer
