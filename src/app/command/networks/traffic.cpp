#include <CLI/CLI.hpp>

#include "picture_command.hpp"

namespace titer {
namespace {

constexpr std::array<Choice<DrawnAs>, 5> kTrafficFormats = {
    {{"text", {.format = Format::text}},
     {"csv", {.format = Format::csv}},
     {"json", {.format = Format::json}},
     {"svg", {.picture = AnswerPicture::svg}},
     {"png", kAsPng}}};
constexpr std::array kTrafficOwn = {
    format_option<&PictureOptions::as, kTrafficFormats>(
        "text, csv, json, svg or png (a heat map); what the name of --out tells"),
    out_option<&PictureOptions::out>()};

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
  return question_command(
      *app, traffic_options(), kTrafficOwn, picture_command<kTrafficFormats, TrafficRequest>);
}

}  // namespace titer
