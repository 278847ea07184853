#include <CLI/CLI.hpp>
#include <memory>
#include <set>

#include "app/command.hpp"
#include "app/output/output_file.hpp"
#include "app/output/progress.hpp"
#include "app/question_options.hpp"
#include "titer/ask/evidence.hpp"

namespace titer {
namespace {

struct ValidateCommand {
  RequestOptions<ValidateRequest> options;
  TraceRequest trace = {};  // instead of tables
  std::string scenario = {};
  std::string format = "text";
  std::string out = {};
  std::string plot = {};
  std::string residuals = {};
  std::string histogram = {};
  std::shared_ptr<ReportFile> report = std::make_shared<ReportFile>();
};

/// A picture that was asked for. Its file is opened before anything is computed, so that a path
/// that cannot be written is refused at once.
struct Picture {
  std::unique_ptr<OutputFile> file;
  std::function<std::string()> ValidateOutcome::*draw;
};

std::vector<Picture> pictures_of(const ValidateCommand& command) {
  std::vector<Picture> pictures;
  const auto add = [&](const std::string& path,
                       std::function<std::string()> ValidateOutcome::*draw) {
    if (!path.empty()) {
      pictures.push_back({std::make_unique<OutputFile>(path), draw});
    }
  };
  add(command.plot, &ValidateOutcome::plot);
  add(command.residuals, &ValidateOutcome::residuals);
  add(command.histogram, &ValidateOutcome::histogram);
  return pictures;
}

void check_paths(const ValidateCommand& command) {
  std::set<std::string> known;
  for (const std::string& path :
       {command.out, command.plot, command.residuals, command.histogram}) {
    if (!path.empty() && !known.insert(path).second) {
      throw InputError(path + ": expected a file of its own for each output");
    }
  }
}

int validate_command(const ValidateCommand& command) {
  const Format format = chosen("--format", command.format, kFormats);
  if (!command.trace.files.empty()) {
    TraceRequest request = command.trace;
    request.scenario.what = command.scenario;
    return print(format, ask(request), *command.report);
  }
  ValidateRequest request = command.options.request();
  check_paths(command);
  OutputFile out(command.out);
  const std::vector<Picture> pictures = pictures_of(command);
  request.for_report = command.report->is_any_wanted();
  const ValidateOutcome outcome = ask_with_progress(request, "families");
  out.write(written(format, outcome.view, command.out));
  command.report->write(outcome.view);
  for (const Picture& wanted : pictures) {
    if (const auto& draw = outcome.*wanted.draw) {
      wanted.file->write(draw());
      wanted.file->finish();
    }
  }
  out.finish();
  return outcome.good ? kSuccess : kNo;
}

/// What is written besides, and where.
void add_files(CLI::App& app, ValidateCommand& command) {
  app.add_option("--out", command.out, "write to this file, whole or not at all")
      ->type_name("FILE");
  app.add_option("--plot", command.plot, "write a scatter plot of the times, as SVG")
      ->type_name("OUT.svg");
  app.add_option(
         "--residuals", command.residuals, "write the errors over the measured times, as SVG")
      ->type_name("OUT.svg");
  app.add_option("--histogram", command.histogram, "write a histogram of the errors, as SVG")
      ->type_name("OUT.svg");
}

}  // namespace

Command add_validate(CLI::App& program) {
  CLI::App* app = program.add_subcommand(
      "validate", "Measured training runs, collectives and kernels beside what is predicted");
  app->footer(
      "Statistics of |predicted / measured - 1|, in percent; bias: the mean with its sign.\n"
      "Percentiles lie between neighbours in proportion. Rank correlation (Spearman) and regret\n"
      "(what the row predicted fastest takes over the best) are means over sweeps of three\n"
      "predicted rows or more; below, plans are those of sweeps of four or more, by pairs whose\n"
      "measured times are more than 5 % apart.\n"
      "Examples:\n"
      "  titer validate tests/data/measured/training.csv --by family\n"
      "  titer validate tests/data/measured/collectives/*.csv --by chip --format json\n"
      "  titer validate tests/data/measured/training.csv --given 3\n"
      "  titer validate tests/data/measured/training.csv --plot scatter.svg --histogram "
      "errors.svg");
  const auto command =
      std::make_shared<ValidateCommand>(ValidateCommand{.options = {*app, validate_options()}});
  app->add_option("--trace",
                  command->trace.files,
                  "instead of tables: a measured step, as `titer trace` takes it; repeatable")
      ->allow_extra_args(false)
      ->type_name("FILE");
  app->add_option("--scenario", command->scenario, "of --trace: the run that was measured")
      ->needs("--trace")
      ->type_name("SCENARIO");
  add_format(*app, command->format, *command->report);
  add_files(*app, *command);
  return {app, [command] { return validate_command(*command); }, command->report};
}

}  // namespace titer
