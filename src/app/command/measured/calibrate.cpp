#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "app/command.hpp"
#include "app/output/output_file.hpp"
#include "app/output/progress.hpp"
#include "app/question_options.hpp"
#include "titer/ask/evidence.hpp"

namespace titer {
namespace {

enum class CalibrationFormat { text, json };
constexpr std::array<Choice<CalibrationFormat>, 2> kCalibrationFormats = {
    {{"text", CalibrationFormat::text}, {"json", CalibrationFormat::json}}};

struct CalibrateCommand {
  RequestOptions<CalibrateRequest> options;
  std::string out = {};
  std::string format = "text";
  std::shared_ptr<ReportFile> report = std::make_shared<ReportFile>();
};

int calibrate_command(const CalibrateCommand& command) {
  CalibrateRequest request = command.options.request();
  const CalibrationFormat format = chosen("--format", command.format, kCalibrationFormats);
  const CalibrateOutcome outcome = ask_with_progress(request, "fits");
  if (!command.out.empty() && outcome.good) {
    OutputFile file(command.out);
    file.write(outcome.profile);
    file.finish();
  }
  command.report->write(outcome.view);
  if (format == CalibrationFormat::text) {
    print(written(outcome.view.text));
  } else if (outcome.good) {
    print(outcome.profile);
  }
  fmt::print(stderr, "{}", outcome.rejection);
  return outcome.good ? kSuccess : kNo;
}

}  // namespace

Command add_calibrate(CLI::App& program) {
  CLI::App* app = program.add_subcommand(
      "calibrate", "Fit the figures of a chip, network or software stack to measurements");
  app->footer(
      "KIND and its DATA:\n"
      "  chip     tables of kernels: products (m, n, k) and attention (batch, seq, heads, …), as "
      "scripts/measure_gpu.py writes\n"
      "  network  output of nccl-tests, or tables of collectives (.csv); --base: a cluster, or a "
      "network with --cluster\n"
      "  stack    tables of runs: run (a file or a shipped run), iter_time_s, family\n"
      "A fit is rejected (exit 1, nothing is written) that is no better than what it starts from, "
      "on\n"
      "groups left out where there are any; that leaves a tenth of the rows more than 30 % off; "
      "or\n"
      "of which every figure ends at a bound.\n"
      "Examples:\n"
      "  titer calibrate chip gemm.csv attention.csv --base h100-sxm5-80gb --date 2026-11-21 --out "
      "my-h100.json\n"
      "  titer calibrate network all_reduce.txt --base dgx-h100 --from 1MiB --fit "
      "network.protocols.1.efficiency=0.3:1\n"
      "  titer calibrate stack runs.csv --base megatron-core --fit dispatch");
  const auto command =
      std::make_shared<CalibrateCommand>(CalibrateCommand{.options = {*app, calibrate_options()}});
  app->add_option("--format", command->format, "text (what was found) or json (the new data)")
      ->default_str("text")
      ->type_name("FORMAT");
  app->add_option("--out", command->out, "write the new data to this file, whole or not at all")
      ->type_name("FILE");
  command->report->add_to(*app);
  return {app, [command] { return calibrate_command(*command); }, command->report};
}

}  // namespace titer
