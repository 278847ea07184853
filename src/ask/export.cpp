#include "titer/ask/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <set>

#include "scenario_options.hpp"
#include "titer/ask/asked_source.hpp"
#include "titer/launch/launch.hpp"
#include "titer/report/file/chakra_export.hpp"
#include "titer/report/file/goal_export.hpp"
#include "titer/scenario/conditions.hpp"
#include "titer/scenario/notes.hpp"

namespace titer {
namespace {

constexpr int kMostRanks = 65536;
constexpr double kMostNodes = 50e6;
constexpr std::size_t kMostHeldBytes = std::size_t{64} << 20U;  // bytes of a file in an answer

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

constexpr std::array kExportOptions = options::with_scenario<&ExportRequest::scenario>(std::array{
    options::text<&ExportRequest::format>(
        "format",
        "FORMAT",
        "megatron, slurm, nemo, megatron-bridge, torchtitan, deepspeed, goal or chakra")
        .needed(),
    options::flag<&ExportRequest::accept_loss>(
        "accept_loss", "leave out what the launcher cannot be told; otherwise it is refused"),
    options::text<&ExportRequest::detail>(
        "detail", "DETAIL", "a node for each pass, layer (kernels between transfers) or operation")
        .or_else("layer"),
    options::text<&ExportRequest::ranks>(
        "ranks", "LIST", "chakra: only these ranks, such as 0,8-15")});

/// Where files go that are a part of the answer.
class HeldFile {
 public:
  void write(std::string_view piece) {
    if (text_.size() + piece.size() > kMostHeldBytes) {
      throw InputError(fmt::format(
          "export: more than {} MiB: expected fewer ranks or micro-batches, or \"detail\": "
          "\"pass\"; or titer export, which writes files as they come",
          kMostHeldBytes >> 20U));
    }
    text_.append(piece);
  }
  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

/// "0,8-15"; all where none are chosen.
std::vector<int> chosen_ranks(const std::string& asked, int ranks) {
  const std::int64_t last = ranks - 1;
  std::vector<DeviceRange> ranges = {{.first = 0, .last = last}};
  if (!asked.empty()) {
    ranges = parse_ranges(asked);
  }
  const bool fits =
      std::ranges::all_of(ranges, [&](const DeviceRange& range) { return range.last <= last; });
  if (ranges.empty() || !fits) {
    throw InputError(
        fmt::format("--ranks: {}: expected ranks of 0 to {}, such as 0,8-15", asked, last));
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

/// Tells how many ranks are through.
auto counted(const ExportRequest& request, std::size_t ranks) {
  return [&request, ranks](std::size_t done) {
    if (request.progress) {
      request.progress(done, ranks);
    }
  };
}

std::string export_goal(const ExportRequest& request, const ExportedStep& step) {
  if (!request.ranks.empty()) {
    throw InputError("--ranks: " + request.ranks +
                     ": expected none with --format goal, where every send needs its receiver");
  }
  check_size(step, static_cast<std::size_t>(step.ranks()));
  const auto through = counted(request, static_cast<std::size_t>(step.ranks()));
  HeldFile held;
  write_goal(
      step,
      [&](std::string_view text) { request.write ? request.write("", text) : held.write(text); },
      [&](int ranks) { through(static_cast<std::size_t>(ranks)); });
  return held.take();
}

void export_chakra(const ExportRequest& request, const ExportedStep& step) {
  const std::vector<int> ranks = chosen_ranks(request.ranks, step.ranks());
  check_size(step, ranks.size());
  const auto through = counted(request, ranks.size());
  std::size_t done = 0;
  for (const int rank : ranks) {
    request.write(fmt::format("step.{}.et", rank), chakra_trace(step, rank));
    through(++done);
  }
  request.write("comm_group.json", chakra_groups(step));
}

/// A file, what is to be said beside it, and what it leaves out.
ExportOutcome outcome_of(const std::string& format,
                         std::string text,
                         std::vector<std::string> notes,
                         const LaunchFile& launch = {}) {
  ExportOutcome outcome{{}, notes};
  outcome.view.title = "The run for " + format;
  outcome.view.figures = {{"format", format},
                          {"text", text},
                          {"elsewhere", launch.elsewhere},
                          {"lost", launch.lost},
                          notes_figure(notes)};
  outcome.view.rows = {{{"format", format}, {"text", text}, notes_column(notes)}};
  outcome.view.text = TextView(std::move(text));
  return outcome;
}

/// Refuses what the launcher would run otherwise, unless that is accepted.
void check_losses(const ExportRequest& request,
                  std::string_view software,
                  const LaunchFile& file,
                  std::vector<std::string>& notes) {
  Problems problems;
  for (const std::string& lost : file.lost) {
    const std::string line = fmt::format("{}, as {} is told here", lost, software);
    if (request.accept_loss) {
      notes.push_back(line);
    } else {
      problems.add(line);
    }
  }
  if (!problems.empty()) {
    problems.add(
        fmt::format("--format: {}: expected a run that it can say; --accept-loss writes "
                    "the rest",
                    request.format));
  }
  problems.raise();
}

ExportOutcome export_launch(const ExportRequest& request) {
  const LaunchFormat format = chosen("--format", request.format, kLaunchFormats);
  if (!request.ranks.empty()) {
    throw InputError("--ranks: " + request.ranks + ": expected none: all ranks are launched alike");
  }
  const ScenarioSource source = source_of(request.scenario);
  const Scenario scenario = source.read();
  const LaunchFile file = launch_file(format, scenario);
  const std::string_view software = software_name(format);
  std::vector<std::string> notes = answer_notes(source, scenario);
  check_losses(request, software, file, notes);
  for (const std::string& line : file.elsewhere) {
    notes.push_back("told elsewhere: " + line);
  }
  if (const auto own = launch_format(scenario.stack.name);
      !own || software_name(*own) != software) {
    notes.push_back(fmt::format(
        "the run's stack is {}: in {} it takes another time", scenario.stack.name, software));
  }
  if (request.write) {
    request.write("", file.text);
  }
  return outcome_of(request.format, file.text, std::move(notes), file);
}

ExportedStep step_of(const Scenario& scenario, ExportDetail detail) {
  if (scenario.formula == Formula::e7) {
    throw InputError("formula.name: e7: expected titer, since the formula e7 has no kernels");
  }
  if (scenario.conditions.noisy()) {
    throw InputError(
        "conditions: random: expected no jitter and no stragglers in an export, whose durations "
        "are "
        "those of one step");
  }
  return {scenario, detail};
}

}  // namespace

std::span<const Option<ExportRequest>> export_options() { return kExportOptions; }

ExportOutcome ask(const ExportRequest& request) {
  const ExportFormat format = chosen("--format", request.format, kExportFormats);
  const ExportDetail detail = chosen("--detail", request.detail, kExportDetails);
  if (format == ExportFormat::launcher) {
    return export_launch(request);
  }
  const bool is_chakra = format == ExportFormat::chakra;
  if (is_chakra && !can_write_chakra()) {
    throw InputError(
        "--format: chakra: this program was built without protobuf (libprotobuf-dev and "
        "protobuf-compiler); expected goal");
  }
  if (is_chakra && !request.write) {
    throw InputError("format: chakra: expected titer export, which writes its files to a folder");
  }
  const ScenarioSource source = source_of(request.scenario);
  const Scenario scenario = source.read();
  const ExportedStep step = step_of(scenario, detail);
  std::string text;
  if (is_chakra) {
    export_chakra(request, step);
  } else {
    text = export_goal(request, step);
  }
  return outcome_of(request.format, std::move(text), answer_notes(source, scenario));
}

}  // namespace titer
