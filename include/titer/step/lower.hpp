#pragma once
// A step as tasks for the event engine, and its result read off the timeline. One lane per pipeline
// stage: the tensor- and data-parallel ranks of a stage do the same at the same time.

#include <vector>

#include "titer/engine/engine.hpp"
#include "titer/step/cost.hpp"
#include "titer/step/result.hpp"

namespace titer {

/// What a task's time counts as: a part of the Breakdown.
enum class TaskPart : std::uint8_t {
  forward,
  backward,
  recompute,
  optimizer,
  tensor_comm,
  pipeline_comm,
  data_comm,
};

struct TaskLabel {
  int stage = 0;  // of the pipeline
  TaskPart part = TaskPart::forward;
};

/// The tasks of one step; labels by task id. Resource s is the lane of pipeline stage s.
struct LoweredStep {
  TaskGraph graph;
  std::vector<TaskLabel> labels;
};

/// REQUIRES a valid scenario.
[[nodiscard]] LoweredStep lower(const Scenario& scenario);

/// Lowers, runs, and reads the breakdown off the lane that finishes last.
[[nodiscard]] StepResult simulate(const Scenario& scenario);

}  // namespace titer
