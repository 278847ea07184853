#pragma once
// A schedule executed by itself: all stages alike, sending free. What its pictures show, and what
// its closed forms are held to.

#include <string>
#include <vector>

#include "titer/plan/schedule/schedule.hpp"

namespace titer {

/// An action when it ran. Two that were done together have the same times.
struct ActionTime {
  Action action;
  int stage = 0;  // of the model
  Seconds start;
  Seconds end;
};

struct RankRun {
  std::vector<ActionTime> actions;  // in order
  std::vector<AliveChunks> alive;   // of each action
  Seconds busy;
  int peak_chunks = 0;  // most chunks that were alive

  /// Between its first start and its last end.
  [[nodiscard]] Seconds span() const {
    return actions.empty() ? Seconds{} : actions.back().end - actions.front().start;
  }
  [[nodiscard]] Seconds idle_in_span() const { return span() - busy; }
};

struct ScheduleRun {
  std::vector<RankRun> ranks;
  Seconds makespan;
  // Where the actions wait for one another in a ring, a sentence that names the first rank's; the
  // run is then as far as it came.
  std::string deadlock;

  [[nodiscard]] Seconds idle(int rank) const {
    return makespan - ranks[static_cast<std::size_t>(rank)].busy;
  }
  /// The most idle time of a rank, inside its span or until the last rank ends.
  [[nodiscard]] Seconds bubble(bool of_span) const;
  /// Idle over busy time of all ranks: (p-1)/(v m) for 1F1B.
  [[nodiscard]] double bubble_overhead() const;
  /// Idle over total time of all ranks: (p-1)/(v m + p - 1) for 1F1B.
  [[nodiscard]] double bubble_ratio() const {
    return bubble_overhead() / (1.0 + bubble_overhead());
  }
};

/// Executes the actions of all ranks. `times`: of a rank's layers; a chunk takes its share.
/// REQUIRES a shape that the schedule does not refuse.
[[nodiscard]] ScheduleRun run_schedule(const Schedule& schedule,
                                       const PipelineShape& shape,
                                       const PassTimes& times);

}  // namespace titer
