#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "app/output/output_file.hpp"
#include "app/question_command.hpp"
#include "titer/ask/evidence.hpp"

namespace titer {
namespace {

enum class CalibrationFormat { text, json };
constexpr std::array<Choice<CalibrationFormat>, 2> kCalibrationFormats = {
    {{"text", CalibrationFormat::text}, {"json", CalibrationFormat::json}}};

struct CalibrateFiles {
  CalibrationFormat format = CalibrationFormat::text;
  std::string out = {};
};
constexpr std::array kCalibrateFiles = {
    format_option<&CalibrateFiles::format, kCalibrationFormats>(
        "text (what was found) or json (the new data)"),
    out_option<&CalibrateFiles::out>("write the new data to this file, whole or not at all")};

int calibrate_command(const QuestionCommand<CalibrateRequest, CalibrateFiles>& command) {
  CalibrateRequest request = command.request();
  const CalibrateFiles own = command.own();
  const CalibrateOutcome outcome = command.answer(request);
  if (!own.out.empty() && outcome.good) {
    OutputFile file("--out", own.out, "json");
    file.write(outcome.profile);
    file.finish();
  }
  command.report()->write(outcome.view);
  if (own.format == CalibrationFormat::text) {
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
  return question_command(
      *app, calibrate_options(), kCalibrateFiles, calibrate_command, {.counted = "fits"});
}

}  // namespace titer
