#include "titer/campaign/phases.hpp"

#include <algorithm>
#include <cmath>

#include "titer/estimate/model_state.hpp"

namespace titer {
namespace {

/// A phase as it was evaluated.
struct EvaluatedPhase {
  const Scenario* scenario = nullptr;
  StepResult step;

  [[nodiscard]] double devices() const { return static_cast<double>(step.devices); }
  [[nodiscard]] double nodes() const { return static_cast<double>(plan_nodes(*scenario)); }
  [[nodiscard]] double batch() const {
    return static_cast<double>(scenario->training.global_batch);
  }
  /// All network interfaces of a node.
  [[nodiscard]] BytesPerSecond nics() const {
    return scenario->cluster.nics * scenario->cluster.nic_bandwidth;
  }
};

Seconds communication_of(const Breakdown& parts) {
  return parts.tensor_comm + parts.context_comm + parts.expert_comm + parts.pipeline_comm +
         parts.data_comm + parts.host_comm;
}

std::optional<double> break_even(const EvaluatedPhase& before,
                                 const EvaluatedPhase& after,
                                 Seconds cost) {
  const Seconds saved =
      after.batch() / before.batch() * before.step.iteration_time - after.step.iteration_time;
  return saved > Seconds{} ? std::optional(cost / saved) : std::nullopt;
}

ChangeCost change_cost(const EvaluatedPhase& before,
                       const EvaluatedPhase& after,
                       const LayoutChange& change) {
  const Bytes saved = model_state(*before.scenario).total();
  const Bytes needed = node_state(*after.scenario, after.step);
  ChangeCost cost{.state = saved, .restart = change.restart};
  double holding = after.devices();  // while states are loaded
  if (change.move == StateMove::storage) {
    cost.save = saved / (before.nodes() * *change.storage_bandwidth);
    cost.load = needed / *change.storage_bandwidth;
  } else {
    cost.load = std::max(saved / (before.nodes() * before.nics()), needed / after.nics());
    holding = std::max(before.devices(), after.devices());
  }
  cost.device_time =
      before.devices() * cost.save + holding * cost.load + after.devices() * cost.restart;
  cost.break_even = break_even(before, after, cost.time());
  return cost;
}

void fill_length(const CoursePhase& phase, const EvaluatedPhase& evaluated, PhaseResult& result) {
  const Seconds one = evaluated.step.iteration_time;
  if (const auto* time = std::get_if<Seconds>(&phase.length)) {
    result.iterations = std::floor(*time / one);
    result.time = *time;
  } else {
    const auto* sequences = std::get_if<Sequences>(&phase.length);
    result.iterations = sequences != nullptr
                            ? std::ceil(sequences->count / evaluated.batch())
                            : static_cast<double>(std::get<Iterations>(phase.length).count);
    result.time = result.iterations * one;
  }
  result.samples = result.iterations * evaluated.batch();
  result.device_time = evaluated.devices() * result.time;
}

PhaseResult phase_result(const CoursePhase& phase, const EvaluatedPhase& evaluated) {
  PhaseResult result{.name = phase.name,
                     .devices = evaluated.step.devices,
                     .nodes = plan_nodes(phase.scenario),
                     .iteration_time = evaluated.step.iteration_time,
                     .communication = communication_of(evaluated.step.breakdown)};
  fill_length(phase, evaluated, result);
  if (!evaluated.step.fits()) {
    result.too_large = memory_sentence(evaluated.step);
  }
  return result;
}

}  // namespace

Seconds PhasesResult::training_time() const {
  Seconds sum;
  for (const PhaseResult& phase : phases) {
    sum += phase.time;
  }
  return sum;
}

Seconds PhasesResult::training_device_time() const {
  Seconds sum;
  for (const PhaseResult& phase : phases) {
    sum += phase.device_time;
  }
  return sum;
}

Seconds PhasesResult::change_time() const {
  Seconds sum;
  for (const PhaseResult& phase : phases) {
    sum += phase.change ? phase.change->time() : Seconds{};
  }
  return sum;
}

Seconds PhasesResult::device_time() const {
  Seconds sum = training_device_time();
  for (const PhaseResult& phase : phases) {
    sum += phase.change ? phase.change->device_time : Seconds{};
  }
  return sum;
}

double PhasesResult::samples() const {
  double sum = 0;
  for (const PhaseResult& phase : phases) {
    sum += phase.samples;
  }
  return sum;
}

double PhasesResult::average_devices() const { return training_device_time() / training_time(); }

PhasesResult follow(const TrainingPhases& course, Fidelity fidelity) {
  PhasesResult result;
  Estimator estimator;
  EvaluatedPhase before;
  for (const CoursePhase& phase : course.phases) {
    EvaluatedPhase now{.scenario = &phase.scenario, .step = {}};
    evaluate(phase.scenario, fidelity, estimator, now.step);
    result.phases.push_back(phase_result(phase, now));
    if (course.change && phase.moves && before.scenario != nullptr) {
      result.phases.back().change = change_cost(before, now, *course.change);
    }
    before = std::move(now);
  }
  return result;
}

}  // namespace titer
