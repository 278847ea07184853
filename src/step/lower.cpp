#include "titer/step/lower.hpp"

#include <algorithm>
#include <optional>

#include "titer/plan/pipeline.hpp"
#include "titer/step/estimate.hpp"

namespace titer {
namespace {

/// Adds the tasks of a step. A pass becomes up to four tasks in a row on its stage's lane
/// (recomputation, compute, tensor communication, send); the next stage waits for the last one.
class Lowering {
 public:
  explicit Lowering(const Scenario& scenario)
      : program_(scenario.plan.schedule, scenario.shape()),
        stage_end_(static_cast<std::size_t>(scenario.shape().stages)) {
    step_costs(scenario, costs_);
    for (std::size_t s = 0; s < stages(); ++s) {
      step_.graph.add_resource();
    }
    filled_.resize(program_.slots());
  }

  LoweredStep run() {
    for (const PipelinePass& pass : program_.passes()) {
      add_pass(pass);
    }
    add_embedding_sync();
    for (std::size_t s = 0; s < stages(); ++s) {
      add_tail(static_cast<int>(s), costs_.tails[s]);
    }
    return std::move(step_);
  }

 private:
  [[nodiscard]] std::size_t stages() const {
    return static_cast<std::size_t>(program_.shape().stages);
  }

  /// A task after its lane's previous one, and after `input` if there is one.
  void add(int stage, TaskPart part, Seconds duration, std::optional<TaskId> input = {}) {
    std::optional<TaskId>& previous = stage_end_[static_cast<std::size_t>(stage)];
    std::array<TaskId, 2> after{};
    std::size_t count = 0;
    for (const std::optional<TaskId>& dependency : {previous, input}) {
      if (dependency) {
        after[count++] = *dependency;
      }
    }
    previous =
        step_.graph.add(static_cast<ResourceId>(stage), duration, std::span(after).first(count));
    step_.labels.push_back({stage, part});
  }

  void add_unless_zero(int stage, TaskPart part, Seconds duration) {
    if (duration > Seconds{}) {
      add(stage, part, duration);
    }
  }

  void add_pass(const PipelinePass& pass) {
    const int stage = pass.rank;
    const int virtual_stage = pass.kind / 2;
    const bool backward = pass.kind % 2 == 1;
    const BlockCost cost = costs_.chunk(virtual_stage);
    const std::optional<TaskId> input = filled_[pass.input];
    if (backward) {
      // Recomputation starts with the backward pass, when the gradient has arrived.
      add(stage, TaskPart::recompute, cost.recompute.compute, input);
      add_unless_zero(stage, TaskPart::tensor_comm, cost.recompute.comm);
      add(stage, TaskPart::backward, cost.backward.compute);
      add_unless_zero(stage, TaskPart::tensor_comm, cost.backward.comm);
    } else {
      add(stage, TaskPart::forward, cost.forward.compute, input);
      add_unless_zero(stage, TaskPart::tensor_comm, cost.forward.comm);
    }
    add_unless_zero(stage, TaskPart::pipeline_comm, costs_.send_after(virtual_stage, backward));
    filled_[pass.output] = stage_end_[static_cast<std::size_t>(stage)];
  }

  /// The first and the last stage meet: each waits for both to have ended its passes.
  void add_embedding_sync() {
    if (costs_.embedding_sync <= Seconds{}) {
      return;
    }
    const auto last = static_cast<int>(stages() - 1);
    const std::optional<TaskId> first_end = stage_end_.front();
    const std::optional<TaskId> last_end = stage_end_.back();
    add(0, TaskPart::pipeline_comm, costs_.embedding_sync, last_end);
    add(last, TaskPart::pipeline_comm, costs_.embedding_sync, first_end);
  }

  void add_tail(int stage, const StageTail& tail) {
    add_unless_zero(stage, TaskPart::data_comm, tail.gradient_sync);
    add_unless_zero(stage, TaskPart::optimizer, tail.optimizer);
    add_unless_zero(stage, TaskPart::data_comm, tail.parameter_sync);
  }

  PipelineProgram program_;
  StepCosts costs_;
  LoweredStep step_;
  std::vector<std::optional<TaskId>> stage_end_;  // last task of each lane
  std::vector<std::optional<TaskId>> filled_;     // task that fills each slot
};

Seconds& part_of(Breakdown& breakdown, TaskPart part) {
  switch (part) {
    case TaskPart::forward:
      return breakdown.forward;
    case TaskPart::backward:
      return breakdown.backward;
    case TaskPart::recompute:
      return breakdown.recompute;
    case TaskPart::optimizer:
      return breakdown.optimizer;
    case TaskPart::tensor_comm:
      return breakdown.tensor_comm;
    case TaskPart::pipeline_comm:
      return breakdown.pipeline_comm;
    case TaskPart::data_comm:
      return breakdown.data_comm;
  }
  return breakdown.other;
}

/// The first stage among those that end last.
int last_stage(const LoweredStep& step, const Timeline& timeline) {
  int latest = 0;
  Ticks latest_end = -1;
  for (TaskId task = 0; task < step.graph.size(); ++task) {
    const Ticks end = timeline.start[task] + step.graph.duration(task);
    const int stage = step.labels[task].stage;
    if (end > latest_end || (end == latest_end && stage < latest)) {
      latest_end = end;
      latest = stage;
    }
  }
  return latest;
}

}  // namespace

LoweredStep lower(const Scenario& scenario) { return Lowering(scenario).run(); }

StepResult simulate(const Scenario& scenario) {
  const LoweredStep step = lower(scenario);
  const Timeline timeline = run(step.graph);
  // Hidden communication occupies no lane of its own here; its total is the closed form's.
  StepResult result = estimate(scenario);
  result.iteration_time = to_seconds(timeline.makespan);
  result.reference_stage = last_stage(step, timeline);
  result.breakdown = {};
  for (TaskId task = 0; task < step.graph.size(); ++task) {
    if (step.labels[task].stage == result.reference_stage) {
      part_of(result.breakdown, step.labels[task].part) += to_seconds(step.graph.duration(task));
    }
  }
  fill_bubble(result);
  ModelOperations operations;
  list_operations(scenario.model, scenario.slice(), operations);
  fill_derived(scenario, operations, result);
  return result;
}

}  // namespace titer
