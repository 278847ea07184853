#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <set>
#include <vector>

#include "app/output/output_file.hpp"
#include "app/output/output_folder.hpp"
#include "app/question_command.hpp"
#include "titer/ask/asked_source.hpp"
#include "titer/ask/run.hpp"
#include "titer/launch/launch.hpp"
#include "titer/report/file/chakra_export.hpp"
#include "titer/report/file/goal_export.hpp"
#include "titer/scenario/conditions.hpp"
#include "titer/scenario/notes.hpp"
#include "titer/simulate/evaluate.hpp"

namespace titer {
namespace {

constexpr int kMostRanks = 65536;
constexpr double kMostNodes = 50e6;

enum class ExportFormat { goal, chakra, launcher };
/// Those of steps, then those of launchers.
constexpr auto kExportFormats = [] {
  std::array<Choice<ExportFormat>, 2 + kLaunchFormats.size()> formats = {
      {{"goal", ExportFormat::goal}, {"chakra", ExportFormat::chakra}}};
  for (std::size_t i = 0; i < kLaunchFormats.size(); ++i) {
    formats[2 + i] = {kLaunchFormats[i].name, ExportFormat::launcher};
  }
  return formats;
}();

struct ExportOptions {
  std::string format = {};
  bool accept_loss = false;
  std::string out = {};
  ExportDetail detail = ExportDetail::layer;
  std::string ranks = {};
};
constexpr std::array kExportOptions = {
    options::text<&ExportOptions::format>(
        "format",
        "FORMAT",
        "megatron, slurm, nemo, megatron-bridge, torchtitan, deepspeed, goal or chakra")
        .needed(),
    options::flag<&ExportOptions::accept_loss>(
        "accept_loss", "leave out what the launcher cannot be told; otherwise it is refused"),
    options::text<&ExportOptions::out>(
        "out",
        "PATH",
        "write to this file, whole or not at all; chakra: to this folder, new or empty"),
    options::choice<&ExportOptions::detail, kExportDetails>(
        "detail", "DETAIL", "a node for each pass, layer (kernels between transfers) or operation")
        .or_else("layer"),
    options::text<&ExportOptions::ranks>(
        "ranks", "LIST", "chakra: only these ranks, such as 0,8-15")};

using ExportCommand = QuestionCommand<CheckRequest, ExportOptions>;

/// "0,8-15"; all where none are chosen.
std::vector<int> chosen_ranks(const ExportOptions& options, int ranks) {
  const std::int64_t last = ranks - 1;
  std::vector<DeviceRange> ranges = {{.first = 0, .last = last}};
  if (!options.ranks.empty()) {
    ranges = parse_ranges(options.ranks);
  }
  const bool fits = std::all_of(
      ranges.begin(), ranges.end(), [&](const DeviceRange& range) { return range.last <= last; });
  if (ranges.empty() || !fits) {
    throw InputError(
        fmt::format("--ranks: {}: expected ranks of 0 to {}, such as 0,8-15", options.ranks, last));
  }
  std::set<int> wanted;
  for (const DeviceRange& range : ranges) {
    for (std::int64_t rank = range.first; rank <= range.last; ++rank) {
      wanted.insert(static_cast<int>(rank));
    }
  }
  return {wanted.begin(), wanted.end()};
}

void check_size(const ExportedStep& step, std::size_t ranks) {
  const double nodes = static_cast<double>(ranks) * step.most_nodes();
  if (step.ranks() > kMostRanks || nodes > kMostNodes) {
    throw InputError(
        fmt::format("export: {} ranks of up to {:.0f} nodes each: expected at most {} ranks and "
                    "{:.0f} nodes in "
                    "all; --detail pass, --ranks and fewer micro-batches make it smaller",
                    ranks,
                    step.most_nodes(),
                    kMostRanks,
                    kMostNodes));
  }
}

/// How many ranks are through; of the first ones how large all will be.
class ExportProgress {
 public:
  ExportProgress(std::string name, std::size_t ranks)
      : name_(std::move(name)), size_(ranks), progress_("ranks", ranks) {}

  void wrote(std::string_view text) { size_.wrote(text.size()); }
  void done(std::size_t ranks) {
    tell_if_large(name_, size_.after(ranks).value_or(0));
    progress_.update(ranks);
  }

 private:
  std::string name_;
  SizeForecast size_;
  Progress progress_;
};

void export_goal(const ExportOptions& options, const ExportedStep& step) {
  if (!options.ranks.empty()) {
    throw InputError("--ranks: " + options.ranks +
                     ": expected none with --format goal, where every send needs its receiver");
  }
  check_size(step, static_cast<std::size_t>(step.ranks()));
  OutputFile out(options.out);
  ExportProgress progress(options.out, static_cast<std::size_t>(step.ranks()));
  write_goal(
      step,
      [&](std::string_view text) {
        progress.wrote(text);
        out.write(text);
      },
      [&](int ranks) { progress.done(static_cast<std::size_t>(ranks)); });
  out.finish();
}

void export_chakra(const ExportOptions& options, const ExportedStep& step) {
  const std::vector<int> ranks = chosen_ranks(options, step.ranks());
  check_size(step, ranks.size());
  if (options.out.empty()) {
    throw InputError("--out: missing: expected a folder for the files of --format chakra");
  }
  OutputFolder out(options.out);
  ExportProgress progress(options.out, ranks.size());
  std::size_t done = 0;
  for (const int rank : ranks) {
    const std::string trace = chakra_trace(step, rank);
    progress.wrote(trace);
    out.write(fmt::format("step.{}.et", rank), trace);
    progress.done(++done);
  }
  out.write("comm_group.json", chakra_groups(step));
  out.finish();
}

/// Refuses what the launcher would run otherwise, unless that is accepted; says what of the run is
/// told elsewhere.
void tell_losses(const ExportOptions& options,
                 std::string_view software,
                 const LaunchFile& file,
                 std::vector<std::string>& notes) {
  Problems problems;
  for (const std::string& lost : file.lost) {
    const std::string line = fmt::format("{}, as {} is told here", lost, software);
    if (options.accept_loss) {
      notes.push_back(line);
    } else {
      problems.add(line);
    }
  }
  if (!options.accept_loss && !file.lost.empty()) {
    problems.add(
        fmt::format("--format: {}: expected a run that it can say; --accept-loss writes "
                    "the rest",
                    options.format));
  }
  problems.raise();
  for (const std::string& line : file.elsewhere) {
    notes.push_back("told elsewhere: " + line);
  }
}

int export_launch(const ExportOptions& options, const ScenarioSource& source) {
  const LaunchFormat format = chosen("--format", options.format, kLaunchFormats);
  if (!options.ranks.empty()) {
    throw InputError("--ranks: " + options.ranks + ": expected none: all ranks are launched alike");
  }
  const Scenario scenario = source.read();
  const LaunchFile file = launch_file(format, scenario);
  std::vector<std::string> notes = answer_notes(source, scenario);
  tell_losses(options, software_name(format), file, notes);
  if (const auto own = launch_format(scenario.stack.name);
      !own || software_name(*own) != software_name(format)) {
    notes.push_back(fmt::format("the run's stack is {}: in {} it takes another time",
                                scenario.stack.name,
                                software_name(format)));
  }
  OutputFile out(options.out);
  out.write(file.text);
  out.finish();
  tell_notes(notes);
  return kSuccess;
}

int export_command(const ExportCommand& command) {
  const ExportOptions options = command.own();
  const ExportFormat format = chosen("--format", options.format, kExportFormats);
  const Asked asked = command.request().scenario;
  if (format == ExportFormat::launcher) {
    return export_launch(options, source_of(asked));
  }
  if (format == ExportFormat::chakra && !can_write_chakra()) {
    throw InputError(
        "--format: chakra: this program was built without protobuf (libprotobuf-dev and "
        "protobuf-compiler); expected goal");
  }
  const ScenarioSource source = source_of(asked);
  const Scenario scenario = source.read();
  if (scenario.formula == Formula::e7) {
    throw InputError("formula.name: e7: expected titer, since the formula e7 has no kernels");
  }
  if (scenario.conditions.noisy()) {
    throw InputError(
        "conditions: random: expected no jitter and no stragglers in an export, whose durations "
        "are "
        "those of one step");
  }
  const ExportedStep step(scenario, options.detail);
  if (format == ExportFormat::goal) {
    export_goal(options, step);
  } else {
    export_chakra(options, step);
  }
  tell_notes(answer_notes(source, scenario));
  return kSuccess;
}

}  // namespace

Command add_export(CLI::App& program) {
  CLI::App* app = program.add_subcommand(
      "export", "Write a run for the launcher of its software, or a step as GOAL or Chakra traces");
  app->footer(
      "Launchers: megatron and slurm (scripts with Megatron-LM's arguments), nemo, megatron-bridge "
      "(YAML),\ntorchtitan (TOML), deepspeed (JSON). Simulators: goal (LogGOPSim), chakra "
      "(ASTRA-sim).\n"
      "Examples:\n"
      "  titer export gpt3-175b-64xa100 --format megatron --out pretrain.sh\n"
      "  titer export gpt3-175b-64xa100 --format goal --detail pass --out step.goal\n"
      "  titer export my-run.json --format chakra --out traces\n"
      "traces then holds step.<rank>.et and comm_group.json.");
  return question_command(
      *app, check_options(), kExportOptions, export_command, {.has_report = false});
}

}  // namespace titer
