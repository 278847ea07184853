// A guided tour.
//
// Floor. Running a task means reading its duration (8 bytes), resource (4), where its dependencies
// begin (4) and each of them (4), looking up when those ended (8 each, written not long ago), and
// writing its start (8) and end (8): 40 bytes of streams with two dependencies, 2 ns at 20 GB/s.
// There are two ways to run a graph.
//
// Sweep. Ids are a topological order, so one pass over them can give every task
//   ready = latest end of its dependencies,  start = max(ready, end of the resource's last task)
// which serves each resource in the order of ids. If along each resource no task was ready before
// its predecessor, that is the order of first ready, first served; and as such an order determines
// the timeline (induction over time: what has ended decides what is ready, and that decides what
// starts), the pass has found it. This costs about the floor. It holds wherever the order of work
// on a resource is fixed by dependencies, or by who made the graph.
//
// Replay. If the pass meets a task that was ready before its predecessor, the graph is run event by
// event instead:
// - A resource runs one task, so the events to come are one alarm per resource: a Calendar.
// - Nobody keeps a list of successors, which would have to be sorted out of the dependencies for
//   every graph. A task watches one dependency that has not ended, like a clause of a SAT solver
//   one of its literals [Moskewicz et al. 2001, Chaff]; when that ends, it looks for another among
//   those it has not seen ended, and is ready when none is left. Each dependency is looked at once.
// - A task is watching or queued but not both, so one link serves both lists.
// A task costs 12 bytes of links besides the floor, and what dominates: finding the next alarm, and
// branches that depend on data.
#include "titer/engine/engine.hpp"

#include <algorithm>
#include <limits>
#include <span>
#include <utility>

#include "titer/units/ensure.hpp"

namespace titer {
namespace {

// Ends of lists; TaskGraph gives neither as an id.
constexpr TaskId kNoTask = std::numeric_limits<TaskId>::max();
constexpr TaskId kEnded = kNoTask - 1;

}  // namespace

template <class Time>
class Engine::Sweep {
 public:
  Sweep(SweepMemory<Time>& memory, const TaskGraph& graph) : memory_(memory), graph_(graph) {
    memory.end.resize(graph.size());
    memory.lanes.assign(graph.resources(), {});
  }

  /// False if this order is not known to be the right one; the timeline is then not.
  [[nodiscard]] bool run(Timeline& timeline) {
    Time last{};
    for (TaskId task = 0; task < graph_.size(); ++task) {
      Lane<Time>& lane = memory_.lanes[graph_.resource(task)];
      const Time ready = ready_time(task);
      if (ready < lane.latest_ready) {
        return false;
      }
      const Time start = std::max(ready, lane.free);
      const Ticks duration = graph_.duration(task);
      if (duration > kMaxTicks - tick(start)) {
        return false;  // too late in this order, perhaps not in the right one
      }
      const Time end = end_of(start, duration);
      lane = {end, ready};
      memory_.end[task] = end;
      timeline.start[task] = tick(start);
      last = std::max(last, end);
    }
    timeline.makespan = tick(last);
    return true;
  }

 private:
  [[nodiscard]] Time ready_time(TaskId task) const {
    Time ready{};
    for (const TaskId earlier : graph_.after(task)) {
      ready = std::max(ready, memory_.end[earlier]);
    }
    return ready;
  }

  static Ticks tick(Ticks time) { return time; }
  static Ticks tick(Moment time) { return time.tick; }
  static Ticks end_of(Ticks start, Ticks duration) { return start + duration; }
  static Moment end_of(Moment start, Ticks duration) {
    return duration == 0 ? Moment{start.tick, start.wave + 1} : Moment{start.tick + duration, 0};
  }

  SweepMemory<Time>& memory_;
  const TaskGraph& graph_;
};

class Engine::Replay {
 public:
  Replay(Engine& engine, const TaskGraph& graph, Timeline& timeline)
      : memory_(engine), graph_(graph), timeline_(timeline) {}

  void run() {
    prepare();
    serve_ready();
    while (next_wave()) {
      for (const ResourceId resource : memory_.due_) {
        end_running(resource);
      }
      serve_ready();
    }
    timeline_.makespan = now_;
  }

 private:
  /// Every task watches the last of what it waits for.
  void prepare() {
    clear_memory();
    // Backwards, so that each list of watchers is in the order of ids.
    for (auto task = static_cast<TaskId>(graph_.size()); task-- > 0;) {
      const std::span<const TaskId> after = graph_.after(task);
      if (after.empty()) {
        memory_.ready_.push_back(task);
      } else {
        watch(task, after.back(), static_cast<std::uint32_t>(after.size()));
      }
    }
    std::ranges::reverse(memory_.ready_);
  }

  void clear_memory() {
    memory_.links_.assign(graph_.size(), {kNoTask, kNoTask, 0});
    memory_.servers_.assign(graph_.resources(), {kNoTask, kNoTask, kNoTask});
    memory_.ready_.clear();
  }

  void watch(TaskId task, TaskId earlier, std::uint32_t unseen) {
    Link& link = memory_.links_[task];
    Link& watched = memory_.links_[earlier];
    link.next = watched.watchers;
    link.unseen = unseen;
    watched.watchers = task;
  }

  /// The watched task has ended: watches another that has not, or else is ready.
  void look_further(TaskId task) {
    const TaskId* after = graph_.after(task).data();
    for (std::uint32_t unseen = memory_.links_[task].unseen - 1; unseen > 0; --unseen) {
      const TaskId earlier = after[unseen - 1];
      if (memory_.links_[earlier].watchers != kEnded) {
        watch(task, earlier, unseen);
        return;
      }
    }
    memory_.ready_.push_back(task);
  }

  void serve_ready() {
    std::vector<TaskId>& ready = memory_.ready_;
    if (!std::ranges::is_sorted(ready)) {
      std::ranges::sort(ready);
    }
    for (const TaskId task : ready) {
      serve(task);
    }
    ready.clear();
  }

  /// Starts the task if its resource is idle, else queues it.
  void serve(TaskId task) {
    const ResourceId resource = graph_.resource(task);
    Server& server = memory_.servers_[resource];
    if (server.running == kNoTask) {
      start(task, resource);
      return;
    }
    memory_.links_[task].next = kNoTask;
    if (server.first == kNoTask) {
      server.first = task;
    } else {
      memory_.links_[server.last].next = task;
    }
    server.last = task;
  }

  void start(TaskId task, ResourceId resource) {
    const Ticks end = add_ticks(now_, graph_.duration(task));
    memory_.servers_[resource].running = task;
    memory_.calendar_.set(resource, end);
    timeline_.start[task] = now_;
    // Its end will need these; to load them takes as long as to run a task or two.
    if (const TaskId watcher = memory_.links_[task].watchers; watcher != kNoTask) {
      __builtin_prefetch(&memory_.links_[watcher]);
      __builtin_prefetch(graph_.after(watcher).data());
    }
  }

  /// What was queued before this wave comes first: the resource goes on at once.
  void end_running(ResourceId resource) {
    Server& server = memory_.servers_[resource];
    const TaskId ended = std::exchange(server.running, kNoTask);
    if (server.first != kNoTask) {
      const TaskId task = server.first;
      server.first = memory_.links_[task].next;
      start(task, resource);
    }
    TaskId watcher = std::exchange(memory_.links_[ended].watchers, kEnded);
    while (watcher != kNoTask) {
      const TaskId next = memory_.links_[watcher].next;
      look_further(watcher);
      watcher = next;
    }
  }

  /// Finds the resources whose tasks end next, perhaps at this same tick; false if nothing runs.
  [[nodiscard]] bool next_wave() {
    const Ticks tick = memory_.calendar_.take_earliest(memory_.due_);
    if (tick == Calendar::never) {
      return false;
    }
    now_ = tick;
    return true;
  }

  Engine& memory_;
  const TaskGraph& graph_;
  Timeline& timeline_;
  Ticks now_ = 0;
};

// For both ways to run, whichever is taken now: the next graph of this size may take the other.
// What is reserved and not used costs addresses, not memory.
void Engine::reserve(const TaskGraph& graph) {
  ticks_.end.reserve(graph.size());
  ticks_.lanes.reserve(graph.resources());
  moments_.end.reserve(graph.size());
  moments_.lanes.reserve(graph.resources());
  links_.reserve(graph.size());
  servers_.reserve(graph.resources());
  calendar_.reset(graph.resources());
  due_.reserve(graph.resources());
  ready_.reserve(graph.size());
}

void Engine::run(const TaskGraph& graph, Timeline& timeline) {
  reserve(graph);
  timeline.start.resize(graph.size());
  const bool done = graph.has_instant_tasks() ? Sweep<Moment>(moments_, graph).run(timeline)
                                              : Sweep<Ticks>(ticks_, graph).run(timeline);
  if (!done) {
    Replay(*this, graph, timeline).run();
  }
}

Timeline run(const TaskGraph& graph) {
  Timeline timeline;
  Engine().run(graph, timeline);
  return timeline;
}

}  // namespace titer
