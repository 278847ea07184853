#include <CLI/CLI.hpp>
#include <memory>

#include "app/command.hpp"
#include "app/output/output_file.hpp"
#include "app/output/progress.hpp"
#include "app/question_options.hpp"
#include "titer/ask/network.hpp"

namespace titer {
namespace {

enum class TrafficFormat { text, csv, json, svg };
constexpr std::array<Choice<TrafficFormat>, 4> kTrafficFormats = {{{"text", TrafficFormat::text},
                                                                   {"csv", TrafficFormat::csv},
                                                                   {"json", TrafficFormat::json},
                                                                   {"svg", TrafficFormat::svg}}};

struct TrafficCommand {
  RequestOptions<TrafficRequest> options;
  std::string format = "text";
  std::string out = {};
};

int traffic_command(const TrafficCommand& command) {
  const TrafficFormat format = chosen("--format", command.format, kTrafficFormats);
  TrafficRequest request = command.options.request();
  request.is_drawn = format == TrafficFormat::svg;
  OutputFile out(command.out);
  const PictureOutcome outcome = ask_with_progress(request);
  out.write(request.is_drawn
                ? outcome.picture
                : written(chosen("--format", command.format, kFormats), outcome.view, command.out));
  out.finish();
  if (request.is_drawn || format == TrafficFormat::csv) {
    tell_notes(outcome.notes);  // a matrix that other programs read, and a picture of it
  }
  return kSuccess;
}

}  // namespace

Command add_traffic(CLI::App& program) {
  CLI::App* app = program.add_subcommand(
      "traffic", "Show who sends how much to whom in one iteration: the traffic matrix");
  app->footer(
      "Examples:\n"
      "  titer traffic gpt3-175b-64xa100\n"
      "  titer traffic gpt3-175b-64xa100 --format svg --out traffic.svg\n"
      "  titer traffic gpt3-175b-64xa100 --format csv --out traffic.csv\n"
      "  titer topology fat-tree-2-level-1024 --traffic traffic.csv\n"
      "  titer traffic mixtral-8x7b-64xh100 --iterations 5 --routing-exponent 1.0:0.1");
  const auto command =
      std::make_shared<TrafficCommand>(TrafficCommand{.options = {*app, traffic_options()}});
  app->add_option("--format", command->format, "text, csv, json or svg (a heat map)")
      ->default_str("text")
      ->type_name("FORMAT");
  app->add_option("--out", command->out, "write to this file, whole or not at all")
      ->type_name("FILE");
  return {app, [command] { return traffic_command(*command); }};
}

}  // namespace titer
