#pragma once
// A schedule's actions as tasks for the engine, written from the rules of a pipeline alone: a rank
// does its actions in order; a forward waits for the stage before, a backward for the stage after,
// and the last stage's backward for its own forward. An oracle for PipelineProgram.

#include <array>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "titer/engine/engine.hpp"
#include "titer/plan/schedule.hpp"

namespace titer::pipeline_test {

template <class List>
struct AlternativesOf;
template <class... Alternatives>
struct AlternativesOf<std::variant<Alternatives...>> {
  template <template <class...> class Target>
  using As = Target<Alternatives...>;
  static std::vector<Schedule> all() { return {Schedule(Alternatives{})...}; }
};
inline std::vector<Schedule> all_schedules() { return AlternativesOf<Schedule>::all(); }

/// p, m and v that a schedule allows: interleaving needs two stages and m divisible by p.
inline bool allows(const Schedule& schedule, PipelineShape shape) {
  return shape.virtual_stages == 1 ||
         (interleaves(schedule) && shape.stages > 1 && shape.micro_batches % shape.stages == 0);
}

inline std::vector<PipelineShape> shapes_of(const Schedule& schedule) {
  std::vector<PipelineShape> shapes;
  for (const int p : {1, 2, 3, 4, 5, 8}) {
    for (const int m : {1, 2, 3, 4, 5, 8, 12, 16, 24}) {
      for (const int v : {1, 2, 3, 4}) {
        const PipelineShape shape{.stages = p, .micro_batches = m, .virtual_stages = v};
        if (allows(schedule, shape)) {
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
         ", v = " + std::to_string(shape.virtual_stages);
}

struct PipelineGraph {
  TaskGraph graph;
  std::vector<TaskId> last;  // of each rank
  bool complete = false;     // false: the order deadlocks
};

/// Ticks of a pass, index: 2 * virtual stage + (backward ? 1 : 0).
using Costs = std::vector<Ticks>;

class PipelineGraphBuilder {
 public:
  PipelineGraphBuilder(const Schedule& schedule, PipelineShape shape, const Costs& costs)
      : schedule_(schedule), shape_(shape), costs_(costs) {
    for (auto& ends : end_) {
      ends.resize(static_cast<std::size_t>(virtual_stages() * shape.micro_batches));
    }
  }

  PipelineGraph build() {
    std::vector<int> next(static_cast<std::size_t>(shape_.stages), 0);
    std::vector<std::optional<TaskId>> last(next.size());
    for (std::size_t r = 0; r < next.size(); ++r) {
      built_.graph.add_resource();
    }
    int done = 0;
    for (bool progress = true; progress;) {
      progress = false;
      for (std::size_t r = 0; r < next.size(); ++r) {
        // One action per turn: the ranks take turns, unlike in PipelineProgram.
        if (next[r] < shape_.actions_per_rank() && add(r, next[r], last[r])) {
          ++next[r];
          ++done;
          progress = true;
        }
      }
    }
    built_.complete = done == shape_.stages * shape_.actions_per_rank();
    for (const auto& task : last) {
      built_.last.push_back(task.value_or(0));
    }
    return std::move(built_);
  }

 private:
  [[nodiscard]] int virtual_stages() const { return shape_.stages * shape_.virtual_stages; }
  std::optional<TaskId>& end(bool backward, int stage, int micro_batch) {
    return end_[backward ? 1 : 0]
               [static_cast<std::size_t>(stage * shape_.micro_batches + micro_batch)];
  }

  bool add(std::size_t rank, int index, std::optional<TaskId>& last) {
    const Action a = action(schedule_, static_cast<int>(rank), index, shape_);
    const int stage = a.chunk * shape_.stages + static_cast<int>(rank);
    const bool first = !a.backward && stage == 0;
    const bool turns = a.backward && stage + 1 == virtual_stages();
    const int from = a.backward ? (turns ? stage : stage + 1) : stage - 1;
    const std::optional<TaskId> input =
        first ? std::nullopt : end(a.backward && !turns, from, a.micro_batch);
    if (!first && !input) {
      return false;
    }
    std::vector<TaskId> after;
    for (const auto& task : {last, input}) {
      if (task) {
        after.push_back(*task);
      }
    }
    const auto kind = static_cast<std::size_t>(2 * stage + (a.backward ? 1 : 0));
    last = built_.graph.add(static_cast<ResourceId>(rank), costs_[kind], after);
    end(a.backward, stage, a.micro_batch) = last;
    return true;
  }

  Schedule schedule_;
  PipelineShape shape_;
  const Costs& costs_;
  std::array<std::vector<std::optional<TaskId>>, 2> end_;
  PipelineGraph built_;
};

inline PipelineGraph pipeline_graph(const Schedule& schedule,
                                    PipelineShape shape,
                                    const Costs& costs) {
  return PipelineGraphBuilder(schedule, shape, costs).build();
}

/// The same cost for every chunk: forward / v and backward / v ticks.
inline Costs equal_costs(PipelineShape shape, Ticks forward, Ticks backward) {
  Costs costs;
  for (int stage = 0; stage < shape.stages * shape.virtual_stages; ++stage) {
    costs.push_back(forward / shape.virtual_stages);
    costs.push_back(backward / shape.virtual_stages);
  }
  return costs;
}

}  // namespace titer::pipeline_test
