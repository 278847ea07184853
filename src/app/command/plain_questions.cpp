// The subcommands that ask and print the answer, and do no more.

#include <CLI/CLI.hpp>

#include "app/question_command.hpp"
#include "titer/ask/campaign.hpp"
#include "titer/ask/evidence.hpp"
#include "titer/ask/network.hpp"
#include "titer/ask/run.hpp"
#include "titer/ask/whatif.hpp"

namespace titer {
namespace {

struct Subcommand {
  std::string name;
  std::string about;
  std::string footer;
};

template <class R>
Command plain(CLI::App& program,
              const Subcommand& command,
              std::span<const Option<R>> options,
              const CommandWords& words = {}) {
  CLI::App* app = program.add_subcommand(command.name, command.about);
  app->footer(command.footer);
  return question_command(*app, options, words);
}

}  // namespace

Command add_check(CLI::App& program) {
  return plain(program,
               {"check",
                "Say whether a scenario is sound (else exit 2) and fits in memory (else exit 1)",
                ""},
               check_options());
}

Command add_explain(CLI::App& program) {
  return plain(
      program,
      {"explain", "Show every term of a prediction: formula, numbers, value and source", ""},
      explain_options());
}

Command add_diff(CLI::App& program) {
  return plain(program,
               {"diff",
                "Show term by term why one scenario is faster than another, and by which inputs",
                "Examples:\n"
                "  titer diff gpt3-175b-64xa100 gpt3-175b-64xa100 --set-b plan.recompute=full\n"
                "  titer diff a.json b.json --format json"},
               diff_options(),
               {.has_plot = true});
}

Command add_sensitivity(CLI::App& program) {
  return plain(program,
               {"sensitivity",
                "Show what a scenario depends on, how much, and where that changes",
                "Examples:\n"
                "  titer sensitivity gpt3-175b-64xa100\n"
                "  titer sensitivity gpt3-175b-64xa100 --reach 12s\n"
                "  titer sensitivity gpt3-175b-64xa100 --of mfu --format csv\n"
                "  titer sensitivity gpt3-175b-64xa100 --cost cluster.chip.memory.bandwidth=200 "
                "--cost cluster.node.nic_bandwidth=50"},
               sensitivity_options(),
               {.has_plot = true});
}

Command add_tune(CLI::App& program) {
  return plain(program,
               {"tune",
                "Find which knobs of a run to turn, on the same devices with the same batch",
                "Examples:\n"
                "  titer tune gpt3-175b-64xa100\n"
                "  titer tune my-run.json --measured 16.5s\n"
                "  titer tune llama3-70b-64xh100 --set stack=megatron-core --format csv"},
               tune_options(),
               {.has_plot = true});
}

Command add_capacity(CLI::App& program) {
  return plain(
      program,
      {"capacity",
       "Find how many devices a training run needs for a deadline or a budget, with failures, "
       "cost, "
       "energy and carbon (exit 1 where none will do)",
       "Examples:\n"
       "  titer capacity llama3-405b\n"
       "  titer capacity gpt3-175b --search --devices 512,1024\n"
       "  titer capacity llama3-70b-64xh100 --tokens 1T --deadline \"60 days\" --reliability "
       "assumed"},
      capacity_options(),
      {.threads = "threads of the search; default: all cores",
       .counted = "numbers of devices",
       .has_plot = true,
       .has_fail_on = true});
}

Command add_compare(CLI::App& program) {
  return plain(
      program,
      {"compare",
       "Compare models on clusters by deadlines: devices, plan, days, cost, energy and carbon of "
       "each (exit 1 where none will do)",
       "Examples:\n"
       "  titer compare --model llama3-70b,mixtral-8x22b --cluster dgx-h100,dgx-b200 --tokens 10T "
       "--deadline 60d --prices gpu-clouds-2026\n"
       "  titer compare --model llama3-8b --cluster dgx-h100,tpu-v5p-pod --stack "
       "megatron-core,maxtext --tokens 2T --deadline 30d,60d --sort devices\n"
       "  titer compare llama3-70b-64xh100 --cluster dgx-h100,dgx-h200 --tokens 1T --devices 64\n"
       "  titer compare llama3-70b-64xh100 --topology fat-tree-2-level-1024 --oversubscription "
       "1,2,4 "
       "--failed-links 0,10"},
      compare_options(),
      {.threads = "threads of searches; default: all cores",
       .counted = "rows",
       .has_plot = true,
       .has_fail_on = true});
}

Command add_course(CLI::App& program) {
  return plain(
      program,
      {"course",
       "Follow training over time: phases on changing devices, jobs that share devices, federated "
       "rounds, or devices that follow queries (exit 1 where something does not fit in memory)",
       "Examples:\n"
       "  titer course elastic-2-then-6\n"
       "  titer course federated --set rounds.local_steps=1 --format json"},
      course_options());
}

Command add_collective(CLI::App& program) {
  return plain(
      program,
      {"collective", "What a collective takes among some devices of a cluster, and why", ""},
      collective_options(),
      {.has_plot = true, .has_fail_on = true});
}

Command add_replay(CLI::App& program) {
  return plain(program,
               {"replay",
                "Follow a GOAL schedule or Chakra traces of other programs on a cluster",
                "Examples:\n"
                "  titer replay step.goal --cluster dgx-h100\n"
                "  titer replay step.*.et comm_group.json --cluster dgx-b200 --compute-scale 0.5"},
               replay_options());
}

Command add_trace(CLI::App& program) {
  return plain(program,
               {"trace",
                "Where the time of a measured step went, beside the prediction",
                "Examples:\n"
                "  titer trace rank0.pt.trace.json.gz\n"
                "  titer trace rank*.json.gz\n"
                "  titer trace rank0.pt.trace.json.gz --scenario my-run.json --format json\n"
                "  titer trace train.log --scenario my-run.json"},
               trace_options());
}

Command add_support(CLI::App& program) {
  return plain(
      program,
      {"support",
       "What was measured of which model, chip, software and precision, and how far off",
       "Errors are of |predicted / measured - 1|, in percent; bias: the mean with its sign. What "
       "was\n"
       "never measured is predicted all the same, by the figures of its parts.\n"
       "Examples:\n"
       "  titer support\n"
       "  titer support --scenario llama3-70b-64xh100\n"
       "  titer support my-runs.csv --format csv"},
      support_options());
}

Command add_doctor(CLI::App& program) {
  return plain(
      program,
      {"doctor",
       "Tell why a run takes as long as it does: its own files against the prediction",
       "Files, each known by what is in it: a launch script or configuration as `titer import` "
       "takes "
       "it, or\na run; a training log; traces of ranks; output of nccl-tests; topologies.\n"
       "Examples:\n"
       "  titer doctor pretrain.sh train.log --cluster dgx-h100 --devices 64\n"
       "  titer doctor train.log rank*.json.gz all_reduce.txt --run my-run.json\n"
       "  titer doctor train.log --run gpt3-175b-64xa100 --report doctor.html"},
      doctor_options(),
      {.has_plot = true});
}

}  // namespace titer
