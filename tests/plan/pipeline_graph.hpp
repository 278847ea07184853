#pragma once
// A schedule's actions as tasks for the engine, written from the rules of a pipeline alone: a rank
// does its actions in order; a forward waits for the stage before, a backward for the stage after,
// and the last stage's backward for its own forward. An oracle for PipelineProgram.

#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "plan/schedules.hpp"
#include "titer/engine/engine.hpp"
#include "titer/plan/pipeline/pipeline.hpp"
#include "titer/plan/schedule/schedule.hpp"

namespace titer::pipeline_test {

/// p, m and v that a schedule allows: interleaving needs two stages.
inline bool allows(const Schedule& schedule, PipelineShape shape) {
  const bool chunks =
      shape.virtual_stages == usual_chunks(schedule) || (interleaves(schedule) && shape.stages > 1);
  return chunks && !refusal(schedule, shape);
}

inline std::vector<PipelineShape> shapes_of(const Schedule& schedule) {
  std::vector<PipelineShape> shapes;
  for (const int p : {1, 2, 3, 4, 5, 8}) {
    for (const int m : {1, 2, 3, 4, 5, 8, 12, 16, 24}) {
      for (const int v : {1, 2, 3, 4}) {
        PipelineShape shape{.stages = p, .micro_batches = m, .virtual_stages = v};
        if (allows(schedule, shape)) {
          shapes.push_back(shape);
        }
        shape.overlaps = true;
        if (m % 4 == 0 && allows(schedule, shape)) {
          shapes.push_back(shape);
        }
        shape.overlaps = m % 2 == 0;
        shape.group = p + 1;
        if (v > 1 && schedule.entry().groups && allows(schedule, shape)) {
          shapes.push_back(shape);
        }
      }
    }
  }
  return shapes;
}

/// What failed, in words.
inline std::string text_of(PipelineShape shape) {
  return "p = " + std::to_string(shape.stages) + ", m = " + std::to_string(shape.micro_batches) +
         ", v = " + std::to_string(shape.virtual_stages) +
         (shape.group ? ", groups of " + std::to_string(*shape.group) : "") +
         (shape.overlaps ? ", overlapped" : "");
}

struct PipelineGraph {
  TaskGraph graph;
  std::vector<TaskId> last;  // of each rank
  bool complete = false;     // false: the order deadlocks
};

/// Ticks of a pass, index: pass_kind() or pair_kind().
using Costs = PassTicks;

class PipelineGraphBuilder {
 public:
  PipelineGraphBuilder(const Schedule& schedule, PipelineShape shape, const Costs& costs)
      : placement_(placement(schedule)),
        shape_(shape),
        stages_(model_stages(placement_, shape)),
        costs_(costs) {
    for (auto& ends : end_) {
      ends.resize(static_cast<std::size_t>(stages_ * shape.micro_batches));
    }
    lists_ = action_lists(schedule, shape);
  }

  PipelineGraph build() {
    std::vector<std::size_t> next(lists_.size(), 0);
    std::vector<std::optional<TaskId>> last(next.size());
    for (std::size_t r = 0; r < next.size(); ++r) {
      built_.graph.add_resource();
    }
    for (bool progress = true; progress;) {
      progress = false;
      for (std::size_t r = 0; r < next.size(); ++r) {
        // One action or pair per turn: the ranks take turns, unlike in PipelineProgram.
        if (next[r] < lists_[r].size()) {
          const std::size_t done = add(r, next[r], last[r]);
          next[r] += done;
          progress = progress || done > 0;
        }
      }
    }
    built_.complete = true;
    for (std::size_t r = 0; r < next.size(); ++r) {
      built_.complete = built_.complete && next[r] == lists_[r].size();
      built_.last.push_back(last[r].value_or(0));
    }
    return std::move(built_);
  }

 private:
  std::optional<TaskId>& end(bool backward, int stage, int micro_batch) {
    return end_[backward ? 1 : 0]
               [static_cast<std::size_t>(stage * shape_.micro_batches + micro_batch)];
  }
  [[nodiscard]] int stage(std::size_t rank, const Action& a) const {
    return stage_of(placement_, {.rank = static_cast<int>(rank), .chunk = a.chunk}, shape_);
  }

  [[nodiscard]] std::size_t place(std::size_t rank, const Action& a) const {
    return pass_place(placement_, stages_, static_cast<int>(rank), stage(rank, a));
  }

  /// False if the action's input is not there; otherwise adds it to `after`.
  bool wait(std::size_t rank, const Action& a, std::vector<TaskId>& after) {
    const int at = stage(rank, a);
    if (a.pass == Pass::weight_gradient || (a.pass == Pass::forward && at == 0)) {
      return true;
    }
    const bool forward = a.pass == Pass::forward;
    const bool turns = !forward && at + 1 == stages_;
    const int from = forward ? at - 1 : (turns ? at : at + 1);
    const std::optional<TaskId> input = end(!forward && !turns, from, a.micro_batch);
    if (input) {
      after.push_back(*input);
    }
    return input.has_value();
  }

  /// How many actions were added: none if an input is missing.
  std::size_t add(std::size_t rank, std::size_t index, std::optional<TaskId>& last) {
    const ActionList& list = lists_[rank];
    const std::size_t count = list[index].with_next ? 2 : 1;
    std::vector<TaskId> after;
    if (last) {
      after.push_back(*last);
    }
    std::size_t kind = 0;
    for (std::size_t i = index; i < index + count; ++i) {
      if (!wait(rank, list[i], after)) {
        return 0;
      }
      if (count == 1) {
        kind = pass_kind(place(rank, list[i]), list[i].pass, list[i].overlapped);
      } else if (list[i].pass == Pass::forward) {
        kind = pair_kind(place(rank, list[i]));
      }
    }
    last = built_.graph.add(static_cast<ResourceId>(rank), costs_[kind], after);
    for (std::size_t i = index; i < index + count; ++i) {
      if (list[i].pass != Pass::weight_gradient) {
        end(list[i].pass != Pass::forward, stage(rank, list[i]), list[i].micro_batch) = last;
      }
    }
    return count;
  }

  Placement placement_;
  PipelineShape shape_;
  int stages_;
  const Costs& costs_;
  std::vector<ActionList> lists_;
  std::array<std::vector<std::optional<TaskId>>, 2> end_;
  PipelineGraph built_;
};

inline PipelineGraph pipeline_graph(const Schedule& schedule,
                                    PipelineShape shape,
                                    const Costs& costs) {
  return PipelineGraphBuilder(schedule, shape, costs).build();
}

/// The same costs for all stages of a model: a rank's forward, the two halves of its backward.
inline Costs equal_costs(const Schedule& schedule,
                         PipelineShape shape,
                         Ticks forward,
                         Ticks backward) {
  const int stages = model_stages(placement(schedule), shape);
  const int v = placement(schedule) == Placement::two_ways ? 1 : shape.virtual_stages;
  const std::size_t places = pass_places(placement(schedule), stages);
  Costs costs(pass_kinds(places), 0);
  for (std::size_t place = 0; place < places; ++place) {
    for (const bool overlapped : {false, true}) {
      costs[pass_kind(place, Pass::forward, overlapped)] = forward / v;
      costs[pass_kind(place, Pass::backward, overlapped)] = backward / v;
      costs[pass_kind(place, Pass::input_gradient, overlapped)] = backward / 2 / v;
    }
    costs[pass_kind(place, Pass::weight_gradient)] = backward / 2 / v;
    costs[pair_kind(place)] = (forward + backward) / v;
  }
  return costs;
}

}  // namespace titer::pipeline_test
