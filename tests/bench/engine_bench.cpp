// Tasks per second of the engine. "Swept" graphs are those whose resources serve their tasks in the
// order of ids, which one pass settles; "Replayed" are the same with two tasks on a resource of
// their own that are not, so that the whole graph is run event by event (see engine.cpp).
#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "titer/engine/engine.hpp"

namespace TITER_TEST_FILE {

using titer::Engine;
using titer::ResourceId;
using titer::TaskGraph;
using titer::TaskId;
using titer::Ticks;
using titer::Timeline;

constexpr std::size_t kTasks = 2'000'000;

enum class Durations { equal, random };

class Clock {
 public:
  explicit Clock(Durations durations) : durations_(durations) {}
  Ticks next() {
    return durations_ == Durations::equal ? Ticks{1'000'000}
                                          : static_cast<Ticks>(500'000 + random_() % 1'000'000);
  }

 private:
  Durations durations_;
  std::minstd_rand random_{1};
};

/// The later id is ready first.
void add_disorder(TaskGraph& graph) {
  const ResourceId early = graph.add_resource();
  const ResourceId shared = graph.add_resource();
  const TaskId first = graph.add(early, Ticks{10});
  graph.add(shared, Ticks{10}, std::array{first});
  graph.add(shared, Ticks{10});
}

/// Forward and backward of each micro-batch over a row of ranks, one link between neighbours and
/// direction: each rank runs `ranks - rank` forwards, then one backward, one forward, and so on.
class Pipeline {
 public:
  Pipeline(std::size_t ranks, std::size_t batches, Durations durations)
      : ranks_(ranks), batches_(batches), clock_(durations), next_(ranks, 0), last_(ranks, none) {
    for (std::size_t i = 0; i < 3 * ranks; ++i) {
      graph_.add_resource();
    }
    forward_.assign(ranks * batches, none);
    backward_.assign(ranks * batches, none);
    for (bool progress = true; progress;) {
      progress = false;
      for (std::size_t rank = 0; rank < ranks_; ++rank) {
        progress = add_next(rank) || progress;
      }
    }
  }

  TaskGraph& graph() { return graph_; }

 private:
  static constexpr TaskId none = ~TaskId{0};

  struct Work {
    bool is_forward;
    std::size_t batch;
  };

  [[nodiscard]] Work work(std::size_t rank, std::size_t step) const {
    const std::size_t ahead = std::min(ranks_ - rank, batches_);
    if (step < ahead) {
      return {true, step};
    }
    if (step >= 2 * batches_ - ahead) {
      return {false, step - batches_};
    }
    const std::size_t pair = (step - ahead) / 2;
    return (step - ahead) % 2 == 0 ? Work{false, pair} : Work{true, pair + ahead};
  }

  /// The next work of a rank and its transfer, unless what it waits for is not there yet.
  bool add_next(std::size_t rank) {
    if (next_[rank] == 2 * batches_) {
      return false;
    }
    const auto [is_forward, batch] = work(rank, next_[rank]);
    const bool needs_input = is_forward ? rank > 0 : rank + 1 < ranks_;
    const TaskId input = (is_forward ? forward_ : backward_)[rank * batches_ + batch];
    if (needs_input && input == none) {
      return false;
    }
    after_.clear();
    for (const TaskId task : {last_[rank], input}) {
      if (task != none) {
        after_.push_back(task);
      }
    }
    last_[rank] = graph_.add(static_cast<ResourceId>(rank), clock_.next(), after_);
    send(rank, batch, is_forward);
    ++next_[rank];
    return true;
  }

  void send(std::size_t rank, std::size_t batch, bool is_forward) {
    if (is_forward ? rank + 1 == ranks_ : rank == 0) {
      return;
    }
    const std::size_t link = (is_forward ? 1 : 2) * ranks_ + rank;
    const std::size_t to = is_forward ? rank + 1 : rank - 1;
    (is_forward ? forward_ : backward_)[to * batches_ + batch] =
        graph_.add(static_cast<ResourceId>(link), clock_.next() / 10, std::array{last_[rank]});
  }

  std::size_t ranks_;
  std::size_t batches_;
  Clock clock_;
  TaskGraph graph_;
  std::vector<std::size_t> next_;
  std::vector<TaskId> last_;
  std::vector<TaskId> forward_, backward_;  // per rank and batch: the transfer that brings it
  std::vector<TaskId> after_;
};

TaskGraph chain() {
  TaskGraph graph;
  const ResourceId resource = graph.add_resource();
  TaskId last = graph.add(resource, Ticks{1});
  for (std::size_t i = 1; i < kTasks; ++i) {
    last = graph.add(resource, Ticks{1}, std::array{last});
  }
  return graph;
}

TaskGraph fan() {
  TaskGraph graph;
  Clock clock(Durations::random);
  for (std::size_t i = 0; i < 64; ++i) {
    graph.add_resource();
  }
  const TaskId root = graph.add(0, Ticks{1});
  std::vector<TaskId> leaves;
  for (std::size_t i = 2; i < kTasks; ++i) {
    leaves.push_back(graph.add(static_cast<ResourceId>(i % 64), clock.next(), std::array{root}));
  }
  graph.add(0, Ticks{1}, leaves);
  return graph;
}

/// Each task waits for two of the 2 * resources tasks before it, on a random resource.
TaskGraph tangle(std::size_t resources) {
  TaskGraph graph;
  Clock clock(Durations::random);
  std::minstd_rand random(2);
  for (std::size_t i = 0; i < resources; ++i) {
    graph.add_resource();
  }
  for (std::size_t i = 0; i < kTasks; ++i) {
    const auto resource = static_cast<ResourceId>(random() % resources);
    if (i < 2 * resources) {
      graph.add(resource, clock.next());
    } else {
      const std::array after{static_cast<TaskId>(i - 1 - random() % (2 * resources)),
                             static_cast<TaskId>(i - 1 - random() % (2 * resources))};
      graph.add(resource, clock.next(), after);
    }
  }
  return graph;
}

void measure(benchmark::State& state, const TaskGraph& graph) {
  Engine engine;
  Timeline timeline;
  engine.run(graph, timeline);
  while (state.KeepRunning()) {
    engine.run(graph, timeline);
    benchmark::DoNotOptimize(timeline.makespan);
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(graph.size()));
}

void measure_pipeline(benchmark::State& state, Durations durations, bool disorder) {
  const auto ranks = static_cast<std::size_t>(state.range(0));
  Pipeline pipeline(ranks, kTasks / (4 * ranks), durations);
  if (disorder) {
    add_disorder(pipeline.graph());
  }
  measure(state, pipeline.graph());
}

void pipeline_swept(benchmark::State& state) { measure_pipeline(state, Durations::random, false); }
void pipeline_replayed(benchmark::State& state) {
  measure_pipeline(state, Durations::random, true);
}
void pipeline_equal_replayed(benchmark::State& state) {
  measure_pipeline(state, Durations::equal, true);
}
BENCHMARK(pipeline_swept)->Arg(8)->Arg(64)->Arg(1024)->Unit(benchmark::kMillisecond);
BENCHMARK(pipeline_replayed)->Arg(8)->Arg(64)->Arg(1024)->Unit(benchmark::kMillisecond);
BENCHMARK(pipeline_equal_replayed)->Arg(8)->Arg(64)->Arg(1024)->Unit(benchmark::kMillisecond);

void chain_swept(benchmark::State& state) { measure(state, chain()); }
BENCHMARK(chain_swept)->Unit(benchmark::kMillisecond);

void chain_replayed(benchmark::State& state) {
  TaskGraph graph = chain();
  add_disorder(graph);
  measure(state, graph);
}
BENCHMARK(chain_replayed)->Unit(benchmark::kMillisecond);

void fan_swept(benchmark::State& state) { measure(state, fan()); }
BENCHMARK(fan_swept)->Unit(benchmark::kMillisecond);

void fan_replayed(benchmark::State& state) {
  TaskGraph graph = fan();
  add_disorder(graph);
  measure(state, graph);
}
BENCHMARK(fan_replayed)->Unit(benchmark::kMillisecond);

void tangle_replayed(benchmark::State& state) {
  measure(state, tangle(static_cast<std::size_t>(state.range(0))));
}
BENCHMARK(tangle_replayed)->Arg(64)->Arg(4096)->Unit(benchmark::kMillisecond);

void build(benchmark::State& state) {
  constexpr std::size_t ranks = 64;
  std::size_t tasks = 0;
  while (state.KeepRunning()) {
    Pipeline pipeline(ranks, kTasks / (4 * ranks), Durations::random);
    tasks += pipeline.graph().size();
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(tasks));
}
BENCHMARK(build)->Unit(benchmark::kMillisecond);

}  // namespace TITER_TEST_FILE
