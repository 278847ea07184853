#include <CLI/CLI.hpp>

#include "app/question_command.hpp"
#include "titer/ask/campaign.hpp"

namespace titer {

Command add_compare(CLI::App& program) {
  CLI::App* app = program.add_subcommand(
      "compare",
      "Compare models on clusters by deadlines: devices, plan, days, cost, energy and carbon of "
      "each (exit 1 where none will do)");
  app->footer(
      "Examples:\n"
      "  titer compare --model llama3-70b,mixtral-8x22b --cluster dgx-h100,dgx-b200 --tokens 10T "
      "--deadline 60d --prices gpu-clouds-2026\n"
      "  titer compare --model llama3-8b --cluster dgx-h100,tpu-v5p-pod --stack "
      "megatron-core,maxtext --tokens 2T --deadline 30d,60d --sort devices\n"
      "  titer compare llama3-70b-64xh100 --cluster dgx-h100,dgx-h200 --tokens 1T --devices 64\n"
      "  titer compare llama3-70b-64xh100 --topology fat-tree-2-level-1024 --oversubscription "
      "1,2,4 "
      "--failed-links 0,10");
  return question_command(*app,
                          compare_options(),
                          {.threads = "threads of searches; default: all cores",
                           .counted = "rows",
                           .has_plot = true,
                           .has_fail_on = true});
}

}  // namespace titer
