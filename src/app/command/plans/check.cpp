#include <CLI/CLI.hpp>
#include <memory>

#include "app/command.hpp"
#include "titer/ask/run.hpp"

namespace titer {

Command add_check(CLI::App& program) {
  CLI::App* app = program.add_subcommand(
      "check", "Say whether a scenario is sound (else exit 2) and fits in memory (else exit 1)");
  struct Options {
    ScenarioOptions scenario;
    std::string format = "text";
    std::shared_ptr<ReportFile> report = std::make_shared<ReportFile>();
  };
  const auto options = std::make_shared<Options>();
  options->scenario.add_to(*app);
  add_format(*app, options->format, *options->report);
  return {app,
          [options] {
            const Format format = chosen("--format", options->format, kFormats);
            return print(format,
                         ask(CheckRequest{.scenario = options->scenario.asked(),
                                          .for_report = options->report->is_wanted()}),
                         *options->report);
          },
          options->report};
}

}  // namespace titer
