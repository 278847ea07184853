#include "validate_trace.hpp"

#include "command.hpp"
#include "titer/report/evidence/trace_breakdown_report.hpp"
#include "titer/report/step/step_report.hpp"

namespace titer {
namespace {

std::optional<Scenario> scenario_of(const TraceQuestion& question) {
  if (question.scenario.empty()) {
    if (!question.sets.empty()) {
      throw InputError("--set: expected a scenario to change, given with --scenario");
    }
    return std::nullopt;
  }
  const ScenarioOptions options{
      .scenario = question.scenario, .sets = question.sets, .formula = ""};
  return options.source().read();
}

/// What was measured: steps of ranks, or a log.
struct MeasuredRunFiles {
  std::vector<StepBreakdown> steps;
  std::optional<TrainingLog> log;
};

MeasuredRunFiles load(const TraceQuestion& question) {
  MeasuredRunFiles measured;
  for (const std::string& file : question.files) {
    if (trace_format(file) == TraceFormat::training_log) {
      measured.log = load_training_log(file, question.warm_up);
    } else {
      measured.steps.push_back(load_step(file));
    }
  }
  if (measured.log && question.files.size() > 1) {
    throw InputError(measured.log->source +
                     ": a log beside other files; expected one log, or the "
                     "traces of several ranks (`titer doctor` takes all of them)");
  }
  if (question.warm_up && !measured.log) {
    throw InputError("--warm-up: " + std::to_string(*question.warm_up) +
                     ": expected only with a training log: a trace has steps of its own");
  }
  return measured;
}

View view_of(const TraceRanks& ranks, const PredictedStep* predicted) {
  View view = trace_view(
      ranks.mean, compare(ranks.mean, predicted), predicted != nullptr ? predicted->title : "");
  add_ranks(ranks, view);
  return view;
}

View view_of(const TrainingLog& log, const PredictedStep* predicted, double samples) {
  if (predicted == nullptr) {
    return log_view(log, nullptr, "");
  }
  const PredictedLog beside{.step = &predicted->result, .samples = samples};
  return log_view(log, &beside, predicted->title);
}

}  // namespace

int validate_trace(const TraceQuestion& question) {
  const Format format = chosen("--format", question.format, kFormats);
  const std::optional<Scenario> scenario = scenario_of(question);
  const MeasuredRunFiles measured = load(question);
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
  return print(format,
               {.view = ranks ? view_of(*ranks, beside) : view_of(*measured.log, beside, samples)},
               *question.report);
}

}  // namespace titer
