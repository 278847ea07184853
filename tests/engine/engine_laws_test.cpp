// What holds for every graph, tried on many random ones.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <vector>

#include "engine/graphs.hpp"
#include "titer/engine/engine.hpp"

namespace titer::testing {
namespace TITER_TEST_FILE {

/// Sum of the durations served by each resource.
std::vector<Ticks> busy_time(const TaskGraph& graph) {
  std::vector<Ticks> busy(graph.resources(), 0);
  for (TaskId task = 0; task < graph.size(); ++task) {
    busy[graph.resource(task)] += graph.duration(task);
  }
  return busy;
}

/// The rules of engine.hpp word by word: at each wave look at every task.
class SlowEngine {
 public:
  explicit SlowEngine(const TaskGraph& graph)
      : graph_(graph),
        started_(graph.size()),
        ended_(graph.size(), false),
        queued_(graph.size(), false),
        busy_(graph.resources(), false),
        queues_(graph.resources()) {}

  Timeline run() {
    while (true) {
      queue_ready();
      const std::vector<TaskId> instant = start_idle();
      if (!instant.empty()) {
        std::for_each(instant.begin(), instant.end(), [this](TaskId task) { end(task); });
      } else if (!advance()) {
        return timeline();
      }
    }
  }

 private:
  void queue_ready() {
    for (TaskId task = 0; task < graph_.size(); ++task) {
      const auto after = graph_.after(task);
      if (!queued_[task] &&
          std::all_of(after.begin(), after.end(), [this](TaskId t) { return ended_[t]; })) {
        queued_[task] = true;
        queues_[graph_.resource(task)].push_back(task);
      }
    }
  }

  /// Returns those that take no time.
  std::vector<TaskId> start_idle() {
    std::vector<TaskId> instant;
    for (ResourceId resource = 0; resource < graph_.resources(); ++resource) {
      std::vector<TaskId>& queue = queues_[resource];
      if (busy_[resource] || queue.empty()) {
        continue;
      }
      const TaskId task = queue.front();
      queue.erase(queue.begin());
      started_[task] = now_;
      busy_[resource] = true;
      if (graph_.duration(task) == 0) {
        instant.push_back(task);
      }
    }
    return instant;
  }

  void end(TaskId task) {
    ended_[task] = true;
    busy_[graph_.resource(task)] = false;
  }

  /// Ends all that ends at the next tick; false if nothing runs.
  bool advance() {
    std::optional<Ticks> next;
    for (TaskId task = 0; task < graph_.size(); ++task) {
      if (started_[task] && !ended_[task]) {
        const Ticks at = *started_[task] + graph_.duration(task);
        next = next ? std::min(*next, at) : at;
      }
    }
    if (!next) {
      return false;
    }
    now_ = *next;
    for (TaskId task = 0; task < graph_.size(); ++task) {
      if (started_[task] && !ended_[task] && *started_[task] + graph_.duration(task) == now_) {
        end(task);
      }
    }
    return true;
  }

  [[nodiscard]] Timeline timeline() const {
    Timeline result;
    for (const std::optional<Ticks>& start : started_) {
      result.start.push_back(start.value());
    }
    result.makespan = now_;
    return result;
  }

  const TaskGraph& graph_;
  Ticks now_ = 0;
  std::vector<std::optional<Ticks>> started_;
  std::vector<bool> ended_, queued_, busy_;
  std::vector<std::vector<TaskId>> queues_;
};

TEST(EngineLaws, TheSlowEngineAgrees) {
  Engine engine;
  Timeline timeline;
  for (std::uint32_t seed = 0; seed < 6000; ++seed) {
    const TaskGraph graph = random_graph(seed);
    engine.run(graph, timeline);
    const Timeline expected = SlowEngine(graph).run();
    ASSERT_EQ(timeline.start, expected.start) << "seed " << seed;
    ASSERT_EQ(timeline.makespan, expected.makespan) << "seed " << seed;
  }
}

TEST(EngineLaws, TheSlowEngineAgreesOnManyResources) {
  for (std::uint32_t seed = 0; seed < 40; ++seed) {
    const TaskGraph graph = random_graph(seed,
                                         {.tasks = 300,
                                          .resources = 100,
                                          .max_after = 2,
                                          .max_duration = 3,
                                          .instant = seed % 2 == 0});
    ASSERT_EQ(run(graph).start, SlowEngine(graph).run().start) << "seed " << seed;
  }
}

/// Whether the tasks from `first` on started as they do in `alone`.
bool has_part(const Timeline& together, TaskId first, const Timeline& alone) {
  return std::equal(alone.start.begin(), alone.start.end(), together.start.begin() + first);
}

// Graphs in the order of ids take the engine's short way; beside a disorderly pair they take the
// long one. Nobody may see the difference.
TEST(EngineLaws, UnrelatedTasksDoNotChangeEachOther) {
  const TaskGraph beside = disorder();
  const Timeline beside_alone = run(beside);
  for (std::uint32_t seed = 0; seed < 2000; ++seed) {
    const TaskGraph graph = random_graph(seed);
    TaskGraph both;
    const TaskId one = add_beside(both, graph);
    const TaskId pair = add_beside(both, beside);
    const TaskId two = add_beside(both, graph);
    const Timeline alone = run(graph);
    const Timeline together = run(both);
    EXPECT_TRUE(has_part(together, one, alone) && has_part(together, pair, beside_alone) &&
                has_part(together, two, alone))
        << seed;
    EXPECT_EQ(together.makespan, std::max(alone.makespan, beside_alone.makespan)) << seed;
  }
}

/// A graph and how it ran.
struct Sample {
  explicit Sample(std::uint32_t seed) : graph(random_graph(seed)), timeline(titer::run(graph)) {}
  [[nodiscard]] Ticks start(TaskId task) const { return timeline.start[task]; }
  [[nodiscard]] Ticks end(TaskId task) const { return start(task) + graph.duration(task); }
  [[nodiscard]] Ticks ready(TaskId task) const {
    Ticks ready = 0;
    for (const TaskId earlier : graph.after(task)) {
      ready = std::max(ready, end(earlier));
    }
    return ready;
  }
  /// The other tasks of its resource.
  [[nodiscard]] std::vector<TaskId> rivals(TaskId task) const {
    std::vector<TaskId> others;
    for (TaskId other = 0; other < graph.size(); ++other) {
      if (other != task && graph.resource(other) == graph.resource(task)) {
        others.push_back(other);
      }
    }
    return others;
  }

  TaskGraph graph;
  Timeline timeline;
};

/// Whether `holds(run, task)` for each task of many random graphs.
template <class Claim>
bool always(Claim holds) {
  for (std::uint32_t seed = 0; seed < 1000; ++seed) {
    const Sample sample(seed);
    for (TaskId task = 0; task < sample.graph.size(); ++task) {
      if (!holds(sample, task)) {
        ADD_FAILURE() << "seed " << seed << ", task " << task;
        return false;
      }
    }
  }
  return true;
}

TEST(EngineLaws, AResourceHasOneTaskAtATime) {
  EXPECT_TRUE(always([](const Sample& sample, TaskId task) {
    const std::vector<TaskId> rivals = sample.rivals(task);
    return std::all_of(rivals.begin(), rivals.end(), [&](TaskId other) {
      return sample.start(task) >= sample.end(other) || sample.start(other) >= sample.end(task);
    });
  }));
}

TEST(EngineLaws, NoTaskStartsBeforeItIsReady) {
  EXPECT_TRUE(always(
      [](const Sample& sample, TaskId task) { return sample.start(task) >= sample.ready(task); }));
}

// Whoever starts later than ready starts when another task of the resource ends.
TEST(EngineLaws, NoResourceIsIdleWhileATaskIsReady) {
  EXPECT_TRUE(always([](const Sample& sample, TaskId task) {
    const std::vector<TaskId> rivals = sample.rivals(task);
    return sample.start(task) == sample.ready(task) ||
           std::any_of(rivals.begin(), rivals.end(), [&](TaskId other) {
             return sample.end(other) == sample.start(task);
           });
  }));
}

Ticks critical_path(const TaskGraph& graph) {
  std::vector<Ticks> path(graph.size(), 0);  // the longest up to the end of each task
  Ticks longest = 0;
  for (TaskId task = 0; task < graph.size(); ++task) {
    for (const TaskId earlier : graph.after(task)) {
      path[task] = std::max(path[task], path[earlier]);
    }
    path[task] += graph.duration(task);
    longest = std::max(longest, path[task]);
  }
  return longest;
}

TEST(EngineLaws, TheMakespanLiesBetweenItsBounds) {
  for (std::uint32_t seed = 0; seed < 1000; ++seed) {
    const TaskGraph graph = random_graph(seed);
    const std::vector<Ticks> busy = busy_time(graph);
    const Ticks makespan = run(graph).makespan;
    const Ticks busiest = *std::max_element(busy.begin(), busy.end());
    EXPECT_GE(makespan, std::max(critical_path(graph), busiest)) << seed;
    EXPECT_LE(makespan, std::accumulate(busy.begin(), busy.end(), Ticks{0})) << seed;
  }
}

/// The same graph with the duration of one task halved.
TaskGraph with_halved(const TaskGraph& graph, TaskId halved) {
  TaskGraph result;
  for (std::size_t i = 0; i < graph.resources(); ++i) {
    result.add_resource();
  }
  for (TaskId task = 0; task < graph.size(); ++task) {
    const Ticks duration = graph.duration(task);
    result.add(graph.resource(task), task == halved ? duration / 2 : duration, graph.after(task));
  }
  return result;
}

// Why no one may claim that faster parts make shorter runs: a task that ends earlier lets a less
// urgent one get ahead of the queue [Graham 1969, Bounds on multiprocessing timing anomalies].
TEST(EngineLaws, AShorterTaskMayMakeTheRunLonger) {
  int longer = 0;
  for (std::uint32_t seed = 0; seed < 2000; ++seed) {
    const TaskGraph graph = random_graph(
        seed, {.tasks = 8, .resources = 3, .max_after = 2, .max_duration = 20, .instant = false});
    const Ticks makespan = run(graph).makespan;
    for (TaskId task = 0; task < graph.size(); ++task) {
      longer += run(with_halved(graph, task)).makespan > makespan ? 1 : 0;
    }
  }
  EXPECT_GT(longer, 0);
}

TEST(EngineLaws, RunsRepeatWhateverRanBefore) {
  const TaskGraph graph = random_graph(
      1, {.tasks = 500, .resources = 9, .max_after = 3, .max_duration = 5, .instant = true});
  const Timeline first = run(graph);
  Engine engine;
  Timeline timeline;
  for (std::uint32_t seed = 0; seed < 20; ++seed) {
    engine.run(random_graph(seed), timeline);
    engine.run(graph, timeline);
    ASSERT_EQ(timeline.start, first.start);
    ASSERT_EQ(timeline.makespan, first.makespan);
  }
}

}  // namespace TITER_TEST_FILE
}  // namespace titer::testing
