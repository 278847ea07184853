#include "validate_trace.hpp"

#include "command.hpp"
#include "titer/report/evidence/trace_breakdown_report.hpp"
#include "titer/report/step/step_report.hpp"
#include "titer/trace/op_profile.hpp"

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

StepBreakdown breakdown_of(TraceFormat format, const std::string& file) {
  if (format == TraceFormat::op_profile) {
    return load_op_profile(file);
  }
  return break_down(format == TraceFormat::chakra ? load_chakra_trace(file)
                                                  : load_trace_events(file));
}

View view_of(const StepBreakdown& measured, const PredictedStep* predicted) {
  return trace_view(
      measured, compare(measured, predicted), predicted != nullptr ? predicted->title : "");
}

View view_of(const TrainingLog& log, const PredictedStep* predicted) {
  return predicted != nullptr ? log_view(log, &predicted->result, predicted->title)
                              : log_view(log, nullptr, "");
}

}  // namespace

int validate_trace(const TraceQuestion& question) {
  const Format format = chosen("--format", question.format, kFormats);
  const std::optional<Scenario> scenario = scenario_of(question);
  const TraceFormat kind = trace_format(question.file);
  std::optional<StepBreakdown> measured;
  std::optional<TrainingLog> log;
  if (kind == TraceFormat::training_log) {
    log = load_training_log(question.file, question.warm_up);
  } else if (question.warm_up) {
    throw InputError("--warm-up: " + std::to_string(*question.warm_up) +
                     ": expected only with a training log: a trace has steps of its own");
  } else {
    measured = breakdown_of(kind, question.file);
  }
  std::optional<PredictedStep> predicted;
  if (scenario) {
    predicted = predict_step(*scenario, measured ? measured->rank : std::nullopt);
    predicted->title = step_title(*scenario);
  }
  const PredictedStep* const beside = predicted ? &*predicted : nullptr;
  return print(format,
               {.view = measured ? view_of(*measured, beside) : view_of(*log, beside)},
               *question.report);
}

}  // namespace titer
