#pragma once
// The discrete-event engine. A task becomes ready when everything it waits for has ended; a
// resource serves its ready tasks one at a time, first ready first served, and equal times in the
// order of task ids. Same graph, same timeline, on any machine.
//
// Tasks of no duration end at the tick they start at. A tick then has several waves: the tasks that
// end in one wave make others ready in it, and a task that starts in a wave and takes no time ends
// in the next. Ready earlier means an earlier tick, or an earlier wave of the same tick.

#include <cstdint>
#include <vector>

#include "titer/engine/calendar.hpp"
#include "titer/engine/task_graph.hpp"

namespace titer {

/// When each task started (it ended at start + duration), and when the last one ended.
struct Timeline {
  std::vector<Ticks> start;
  Ticks makespan = 0;
};

/// Runs graphs. Keeps its working memory between runs: running a graph no larger than one run
/// before, into the same Timeline, allocates nothing.
class Engine {
 public:
  void run(const TaskGraph& graph, Timeline& timeline);

 private:
  // The two ways to run a graph, described in engine.cpp, and what each of them keeps.
  template <class Time>
  class Sweep;
  class Replay;

  /// A wave of a tick.
  struct Moment {
    Ticks tick = 0;
    std::uint32_t wave = 0;
    [[nodiscard]] friend auto operator<=>(Moment a, Moment b) = default;
  };
  template <class Time>
  struct Lane {           // a resource in a sweep
    Time free{};          // when the last task given to it ends
    Time latest_ready{};  // when that task was ready
  };
  template <class Time>
  struct SweepMemory {
    std::vector<Time> end;
    std::vector<Lane<Time>> lanes;
  };
  struct Link {       // a task in a replay
    TaskId watchers;  // first of the tasks that wait for this one; kEnded once it ended
    TaskId next;      // next watcher of the same task, or next in the same queue
    // How many of its dependencies, up to the watched one, may not have ended.
    std::uint32_t unseen;
  };
  struct Server {  // a resource in a replay
    TaskId running;
    TaskId first;  // its queue
    TaskId last;
  };

  void reserve(const TaskGraph& graph);

  SweepMemory<Ticks> ticks_;
  SweepMemory<Moment> moments_;
  std::vector<Link> links_;
  std::vector<Server> servers_;
  Calendar calendar_;
  std::vector<ResourceId> due_;  // whose task ends in this wave
  std::vector<TaskId> ready_;
};

/// Convenience for a single run.
[[nodiscard]] Timeline run(const TaskGraph& graph);

}  // namespace titer
