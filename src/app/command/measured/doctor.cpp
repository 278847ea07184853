#include "titer/ask/evidence.hpp"

#include <CLI/CLI.hpp>

#include "app/question_command.hpp"

namespace titer {

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
  return question_command(*app, doctor_options(), {.has_plot = true});
}

}  // namespace titer
