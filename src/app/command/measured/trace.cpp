#include <CLI/CLI.hpp>
#include <memory>

#include "app/command.hpp"
#include "app/validate_trace.hpp"

namespace titer {

Command add_trace(CLI::App& program) {
  CLI::App* app = program.add_subcommand(
      "trace", "Where the time of a measured step went, beside the prediction");
  app->footer(
      "Examples:\n"
      "  titer trace rank0.pt.trace.json.gz\n"
      "  titer trace rank*.json.gz\n"
      "  titer trace rank0.pt.trace.json.gz --scenario my-run.json --format json\n"
      "  titer trace train.log --scenario my-run.json");
  const auto question = std::make_shared<TraceQuestion>();
  app->add_option("files",
                  question->files,
                  "a trace of PyTorch's profiler or XLA's trace viewer, an op_profile, a Chakra "
                  "trace, or a training log; traces of several ranks of a run count together; gzip "
                  "is understood")
      ->required()
      ->type_name("FILE");
  app->add_option("--scenario", question->scenario, "the run that was measured, to predict it")
      ->type_name("SCENARIO");
  app->add_option("--set", question->sets, "put a value at a path of the scenario; may be repeated")
      ->take_all()
      ->allow_extra_args(false)
      ->type_name("PATH=VALUE");
  app->add_option("--warm-up", question->warm_up, "lines of a log to leave out")
      ->default_str("a tenth, at least two of five")
      ->type_name("LINES");
  add_format(*app, question->format, *question->report);
  return {app, [question] { return validate_trace(*question); }, question->report};
}

}  // namespace titer
