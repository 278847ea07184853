#include <fmt/format.h>

#include <filesystem>
#include <optional>

#include "ask/report_parts.hpp"
#include "titer/ask/asked_source.hpp"
#include "titer/ask/evidence.hpp"
#include "titer/ask/option.hpp"
#include "titer/report/evidence/trace_breakdown_report.hpp"
#include "titer/report/step/step_report.hpp"
#include "titer/scenario/source.hpp"
#include "titer/units/listed.hpp"

namespace titer {
namespace {

constexpr std::array kTraceOptions = {
    options::texts<&TraceRequest::files>(
        "files",
        "FILE",
        "a trace of PyTorch's profiler or XLA's trace viewer, an op_profile, a Chakra trace, or a "
        "training log; traces of several ranks of a run count together; gzip is understood")
        .needed()
        .first()
        .file(),
    options::asked<&TraceRequest::scenario>(
        "scenario", "SCENARIO", "the run that was measured, to predict it")
        .file(kOnly<kRunData>),
    options::changes<&TraceRequest::scenario>(
        "put a value at a path of the scenario; may be repeated"),
    options::integer<&TraceRequest::warm_up>("warm_up", "LINES", "lines of a log to leave out")
        .or_else("a tenth, at least two of five")};

std::optional<Scenario> measured_scenario(const TraceRequest& request) {
  if (is_asked(request.scenario)) {
    return source_of(request.scenario).read();
  }
  if (!request.scenario.changes.empty()) {
    throw InputError("--set: expected a scenario to change, given with --scenario");
  }
  return std::nullopt;
}

/// What was measured: steps of ranks, or a log.
struct MeasuredRunFiles {
  std::vector<StepBreakdown> steps;
  std::optional<TrainingLog> log;
};

/// A run may be meant to be predicted.
void check_no_run(const std::string& file) {
  if (!std::filesystem::exists(file) && is_shipped(kRunData, file)) {
    throw InputError(fmt::format(
        "{}: a shipped run, neither a trace nor a log; expected --scenario {} to predict it",
        file,
        file));
  }
}

MeasuredRunFiles load_measured(const TraceRequest& request) {
  MeasuredRunFiles measured;
  const auto warm_up =
      request.warm_up ? std::optional(static_cast<int>(*request.warm_up)) : std::nullopt;
  for (const std::string& file : request.files) {
    check_no_run(file);
    if (trace_format(file) == TraceFormat::training_log) {
      measured.log = load_training_log(file, warm_up);
    } else {
      measured.steps.push_back(load_step(file));
    }
  }
  if (measured.log && request.files.size() > 1) {
    throw InputError(measured.log->source +
                     ": a log beside other files; expected one log, or the "
                     "traces of several ranks (`titer doctor` takes all of them)");
  }
  if (request.warm_up && !measured.log) {
    throw InputError("--warm-up: " + std::to_string(*request.warm_up) +
                     ": expected only with a training log: a trace has steps of its own");
  }
  return measured;
}

View steps_view(const TraceRanks& ranks, const PredictedStep* predicted) {
  View view = trace_view(
      ranks.mean, compare(ranks.mean, predicted), predicted != nullptr ? predicted->title : "");
  add_ranks(ranks, view);
  return view;
}

View logged_view(const TrainingLog& log, const PredictedStep* predicted, double samples) {
  if (predicted == nullptr) {
    return log_view(log, nullptr, "");
  }
  const StepResult& step = predicted->result;
  const PredictedLog beside{.step = &step, .samples = samples};
  View view = log_view(log, &beside, predicted->title);
  note_other_batch(log, samples, step, view);
  return view;
}

}  // namespace

std::span<const Option<TraceRequest>> trace_options() { return kTraceOptions; }

Answer ask(const TraceRequest& request) {
  const std::optional<Scenario> scenario = measured_scenario(request);
  const MeasuredRunFiles measured = load_measured(request);
  std::optional<TraceRanks> ranks;
  if (!measured.log) {
    ranks = join_ranks(measured.steps);
  }
  std::optional<PredictedStep> predicted;
  if (scenario) {
    const bool one = measured.steps.size() == 1;
    predicted = predict_step(*scenario, one ? measured.steps.front().rank : std::nullopt);
    predicted->title = step_title(*scenario);
  }
  const PredictedStep* const beside = predicted ? &*predicted : nullptr;
  const double samples = scenario ? static_cast<double>(scenario->training.global_batch) : 0;
  View view = ranks ? steps_view(*ranks, beside) : logged_view(*measured.log, beside, samples);
  view.asked =
      joined({{"asked", listed(request.files, " ")}, {"scenario", words_of(request.scenario)}},
             scenario ? asked_columns(*scenario) : Figures());
  return {.view = std::move(view)};
}

}  // namespace titer
