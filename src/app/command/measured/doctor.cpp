#include "titer/ask/doctor.hpp"

#include <CLI/CLI.hpp>
#include <memory>

#include "app/command.hpp"

namespace titer {
namespace {

struct DoctorCommand {
  DoctorRequest request;
  std::vector<std::string> sets;
  std::vector<std::string> defines;
  std::string format = "text";
  std::shared_ptr<ReportFile> report = std::make_shared<ReportFile>();
};

int doctor_command(const DoctorCommand& command) {
  const Format format = chosen("--format", command.format, kFormats);
  DoctorRequest request = command.request;
  for (const std::string& set : command.sets) {
    request.changes.push_back(parse_assignment(set));
  }
  for (const std::string& define : command.defines) {
    const std::size_t equals = define.find('=');
    if (equals == std::string::npos || equals == 0) {
      throw InputError("--define " + define + ": expected NAME=VALUE, such as TP=8");
    }
    request.defines[define.substr(0, equals)] = define.substr(equals + 1);
  }
  request.for_report = command.report->is_wanted();
  return print(format, ask(request), *command.report);
}

}  // namespace

Command add_doctor(CLI::App& program) {
  CLI::App* app = program.add_subcommand(
      "doctor", "Tell why a run takes as long as it does: its own files against the prediction");
  app->footer(
      "Files, each known by what is in it: a launch script or configuration as `titer import` "
      "takes "
      "it, or\na run; a training log; traces of ranks; output of nccl-tests; topologies.\n"
      "Examples:\n"
      "  titer doctor pretrain.sh train.log --cluster dgx-h100 --devices 64\n"
      "  titer doctor train.log rank*.json.gz all_reduce.txt --run my-run.json\n"
      "  titer doctor train.log --run gpt3-175b-64xa100 --report doctor.html");
  const auto command = std::make_shared<DoctorCommand>();
  app->add_option("files", command->request.files, "what the run left behind")->type_name("FILE");
  app->add_option("--run", command->request.run, "what ran, where no file tells it")
      ->type_name("SCENARIO");
  app->add_option("--set", command->sets, "put a value at a path of the run; may be repeated")
      ->take_all()
      ->allow_extra_args(false)
      ->type_name("PATH=VALUE");
  app->add_option("--cluster", command->request.cluster, "the cluster of a script's run")
      ->type_name("NAME");
  app->add_option("--devices",
                  command->request.devices,
                  "all of them, where neither the script nor a trace tells")
      ->check(CLI::Range(1, 1'000'000'000))
      ->type_name("N");
  app->add_option("--vocabulary", command->request.vocabulary, "rows of a script's token table")
      ->check(CLI::Range(1, 1'000'000'000))
      ->type_name("ROWS");
  app->add_option("--define", command->defines, "what ${NAME} stands for in a script; repeatable")
      ->allow_extra_args(false)
      ->type_name("NAME=VALUE");
  add_format(*app, command->format, *command->report);
  return {app, [command] { return doctor_command(*command); }, command->report};
}

}  // namespace titer
