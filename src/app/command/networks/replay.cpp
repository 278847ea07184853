#include "titer/trace/replay.hpp"

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>

#include "app/command.hpp"
#include "app/output/progress.hpp"
#include "titer/report/network/replay_report.hpp"
#include "titer/scenario/load_part.hpp"
#include "titer/units/listed.hpp"

namespace titer {
namespace {

struct ReplayCommand {
  std::vector<std::string> files;
  std::string cluster;
  std::vector<std::string> sets;
  ReplayOptions options;
  std::string format = "text";
  std::shared_ptr<ReportFile> report = std::make_shared<ReportFile>();
};

int replay_command(const ReplayCommand& command) {
  const Format format = chosen("--format", command.format, kFormats);
  const std::vector<std::filesystem::path> files(command.files.begin(), command.files.end());
  auto progress = std::make_optional<Progress>();
  const Workload workload = load_workload(files);
  const Cluster cluster = load_cluster(Value(command.cluster), parse_assignments(command.sets));
  const Replay answer = replay(workload, cluster, command.options);
  progress.reset();
  View view = replay_view(workload, answer, cluster, command.options);
  view.asked = {{"asked", listed(command.files, " ")}, {"cluster", cluster.name}};
  return print(format, {.view = std::move(view)}, *command.report);
}

}  // namespace

Command add_replay(CLI::App& program) {
  CLI::App* app = program.add_subcommand(
      "replay", "Follow a GOAL schedule or Chakra traces of other programs on a cluster");
  app->footer(
      "Examples:\n"
      "  titer replay step.goal --cluster dgx-h100\n"
      "  titer replay step.*.et comm_group.json --cluster dgx-b200 --compute-scale 0.5");
  const auto command = std::make_shared<ReplayCommand>();
  app->add_option("files",
                  command->files,
                  "a GOAL schedule, or the Chakra trace of each rank, perhaps with comm_group.json")
      ->required()
      ->type_name("FILE");
  app->add_option("--cluster", command->cluster, "a shipped cluster, or a file: rank i is device i")
      ->required()
      ->type_name("CLUSTER");
  app->add_option("--set",
                  command->sets,
                  "put a value at a path, such as cluster.node.nics=4; may be repeated")
      ->take_all()
      ->allow_extra_args(false)
      ->type_name("PATH=VALUE");
  app->add_option("--compute-scale",
                  command->options.compute_scale,
                  "multiply what the files say of compute; work without a duration takes what the "
                  "cluster's chip needs")
      ->default_str("1")
      ->check(CLI::Range(1e-6, 1e6))
      ->type_name("FACTOR");
  add_format(*app, command->format, *command->report);
  return {app, [command] { return replay_command(*command); }, command->report};
}

}  // namespace titer
