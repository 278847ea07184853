#include <CLI/CLI.hpp>
#include <memory>

#include "app/output/output_file.hpp"
#include "app/output/trace_file.hpp"
#include "app/question_command.hpp"
#include "titer/ask/run.hpp"

namespace titer {
namespace {

struct RunCommand : QuestionCommand<RunRequest> {
  using QuestionCommand::QuestionCommand;
  std::string trace;
  std::string fail_on;
};

enum class FailOn { out_of_memory };
constexpr std::array<Choice<FailOn>, 1> kFailOn = {{{"out-of-memory", FailOn::out_of_memory}}};

int run_command(const RunCommand& command) {
  RunRequest request = command.request();
  if (!command.fail_on.empty()) {
    static_cast<void>(chosen("--fail-on", command.fail_on, kFailOn));
  }
  std::optional<OutputFile> trace;
  if (!command.trace.empty()) {
    trace.emplace(command.trace);  // a path that cannot be written is told before any work
    request.record = [&](const StepTimeline& timeline, const std::string& title) {
      write_trace(*trace, timeline, title);
      trace->finish();
    };
  }
  const int answered = command.print(command.answer(request));
  return command.fail_on.empty() ? kSuccess : answered;
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
  const auto command = std::make_shared<RunCommand>(
      *app,
      run_options(),
      CommandWords{.threads = "threads that simulate samples; default: all cores",
                   .counted = "samples",
                   .has_plot = true});
  app->add_option("--trace",
                  command->trace,
                  "write the timeline to this file, for Perfetto (ui.perfetto.dev) and Chrome")
      ->type_name("FILE");
  app->add_option("--fail-on", command->fail_on, "out-of-memory: exit 1 if the plan does not fit")
      ->type_name("WHAT");
  return {app, [command] { return run_command(*command); }, command->report()};
}

}  // namespace titer
