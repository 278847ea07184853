#include <CLI/CLI.hpp>

#include "picture_command.hpp"

namespace titer {
namespace {

constexpr std::array<Choice<DrawnAs>, 6> kTopologyFormats = {
    {{"text", {.format = Format::text}},
     {"csv", {.format = Format::csv}},
     {"json", {.format = Format::json}},
     {"dot", {.picture = AnswerPicture::dot}},
     {"svg", {.picture = AnswerPicture::svg}},
     {"png", kAsPng}}};
constexpr std::array kTopologyOwn = {
    format_option<&PictureOptions::as, kTopologyFormats>(
        "text, csv, json, dot, svg or png; what the name of --out tells"),
    out_option<&PictureOptions::out>()};

}  // namespace

Command add_topology(CLI::App& program) {
  CLI::App* app = program.add_subcommand(
      "topology", "Show a topology: links, degrees, diameter, bisection, rings, a picture");
  return question_command(
      *app, topology_options(), kTopologyOwn, picture_command<kTopologyFormats, TopologyRequest>);
}

}  // namespace titer
