#include <CLI/CLI.hpp>
#include <memory>

#include "app/command.hpp"
#include "app/output/output_file.hpp"
#include "app/output/progress.hpp"
#include "app/question_options.hpp"
#include "titer/ask/network.hpp"

namespace titer {
namespace {

enum class TopologyFormat { text, csv, json, dot, svg };
constexpr std::array<Choice<TopologyFormat>, 5> kTopologyFormats = {{{"text", TopologyFormat::text},
                                                                     {"csv", TopologyFormat::csv},
                                                                     {"json", TopologyFormat::json},
                                                                     {"dot", TopologyFormat::dot},
                                                                     {"svg", TopologyFormat::svg}}};

struct TopologyCommand {
  RequestOptions<TopologyRequest> options;
  std::string format = "text";
  std::string out = {};
  std::shared_ptr<ReportFile> report = std::make_shared<ReportFile>();
};

TopologyPicture picture_in(TopologyFormat format) {
  return format == TopologyFormat::dot   ? TopologyPicture::dot
         : format == TopologyFormat::svg ? TopologyPicture::svg
                                         : TopologyPicture::none;
}

int topology_command(const TopologyCommand& command) {
  const TopologyFormat format = chosen("--format", command.format, kTopologyFormats);
  TopologyRequest request = command.options.request();
  request.picture = picture_in(format);
  request.for_report = command.report->is_wanted();
  OutputFile out(command.out);
  const PictureOutcome outcome = ask_with_progress(request);
  const bool is_picture = request.picture != TopologyPicture::none;
  out.write(is_picture
                ? outcome.picture
                : written(chosen("--format", command.format, kFormats), outcome.view, command.out));
  command.report->write(outcome.view);
  out.finish();
  return kSuccess;
}

}  // namespace

Command add_topology(CLI::App& program) {
  CLI::App* app = program.add_subcommand(
      "topology", "Show a topology: links, degrees, diameter, bisection, rings, a picture");
  const auto command =
      std::make_shared<TopologyCommand>(TopologyCommand{.options = {*app, topology_options()}});
  app->add_option("--format", command->format, "text, csv, json, dot or svg")
      ->default_str("text")
      ->type_name("FORMAT");
  app->add_option("--out", command->out, "write to this file, whole or not at all")
      ->type_name("FILE");
  command->report->add_to(*app);
  return {app, [command] { return topology_command(*command); }, command->report};
}

}  // namespace titer
