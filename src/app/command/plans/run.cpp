#include <CLI/CLI.hpp>

#include "app/output/output_file.hpp"
#include "app/output/trace_file.hpp"
#include "app/question_command.hpp"
#include "titer/ask/run.hpp"

namespace titer {
namespace {

struct RunFiles {
  Format format = Format::text;
  std::string trace = {};
};
constexpr std::array kRunFiles = {
    format_option<&RunFiles::format, kFormats>(),
    options::text<&RunFiles::trace>(
        "trace",
        "FILE",
        "write the timeline to this file, for Perfetto (ui.perfetto.dev) and Chrome")};

int run_command(const QuestionCommand<RunRequest, RunFiles>& command) {
  const RunFiles own = command.own();
  RunRequest request = command.request();
  std::optional<OutputFile> trace;
  if (!own.trace.empty()) {
    trace.emplace(
        "--trace", own.trace, "trace");  // a path that cannot be written is told before any work
    request.record = [&](const StepTimeline& timeline, const std::string& title) {
      write_trace(*trace, timeline, title);
      trace->finish();
    };
  }
  Answer answer = command.answer(request);
  answer.good = true;  // a plan that does not fit fails where --fail-on says so
  return command.print(own.format, answer);
}

}  // namespace

Command add_run(CLI::App& program) {
  CLI::App* app = program.add_subcommand("run", "Predict one iteration of a scenario");
  app->footer(
      "Examples:\n"
      "  titer run gpt3-175b-64xa100\n"
      "  titer run my-run.json --set plan.micro_batch=2 --format json\n"
      "  titer run my-run.json --measured my-runs.csv\n"
      "  titer run my-run.json --fail-on 'out-of-memory,time>12s,mfu<40%'\n"
      "  titer run gpt3-175b-64xa100 --formula e7 --set formula.utilization=0.45");
  return question_command(*app,
                          run_options(),
                          kRunFiles,
                          run_command,
                          {.threads = "threads that simulate samples; default: all cores",
                           .counted = "samples",
                           .has_plot = true,
                           .has_fail_on = true});
}

}  // namespace titer
