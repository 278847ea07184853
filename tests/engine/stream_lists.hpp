#pragma once
// Streams whose tasks are written down, and what became of each task.

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <ostream>
#include <span>
#include <utility>
#include <vector>

#include "titer/engine/streams.hpp"

namespace titer::testing {

struct Span {
  Ticks start = -1;
  Ticks end = -1;
  friend bool operator==(const Span& a, const Span& b) = default;
  friend std::ostream& operator<<(std::ostream& out, const Span& span) {
    return out << '[' << span.start << ", " << span.end << ')';
  }
};
using Spans = std::vector<Span>;

[[nodiscard]] inline StreamTask task_of(Ticks duration,
                                        std::initializer_list<SemaphoreWait> waits = {},
                                        std::initializer_list<SemaphoreId> signals = {}) {
  StreamTask task{.duration = duration, .waits = {}, .signals = {}, .label = 0, .load = kNoLoad};
  for (const SemaphoreWait& wait : waits) {
    task.waits.add(wait);
  }
  for (const SemaphoreId signal : signals) {
    task.signals.add(signal);
  }
  return task;
}

[[nodiscard]] inline StreamTask loaded(Ticks duration, LoadId load) {
  StreamTask task = task_of(duration);
  task.load = load;
  return task;
}

/// A source; the label of a task is its number on its stream.
struct StreamLists {
  std::vector<std::vector<StreamTask>> streams{};
  std::vector<std::size_t> taken{};
  std::size_t semaphores = 0;

  void add_stream(std::vector<StreamTask> tasks) {
    streams.push_back(std::move(tasks));
    taken.push_back(0);
  }
  bool next(StreamId stream, StreamTask& task) {
    if (taken[stream] == streams[stream].size()) {
      return false;
    }
    task = streams[stream][taken[stream]];
    task.label = static_cast<std::uint32_t>(taken[stream]++);
    return true;
  }
};

/// A listener that writes down when each task of each stream started and ended, and fails if time
/// goes back or a task is heard of twice.
struct SpanRecord {
  std::vector<Spans> spans{};
  Ticks now = 0;

  void started(StreamId stream, const StreamTask& task, Ticks tick) {
    ensure(tick >= now && spans[stream].size() == task.label, "a task starts once, in order");
    now = tick;
    spans[stream].push_back({.start = tick, .end = -1});
  }
  void ended(StreamId stream, const StreamTask& task, Ticks start, Ticks tick) {
    Span& span = spans[stream].at(task.label);
    ensure(tick >= now && span.start == start && span.end == -1, "a task ends once, in order");
    now = tick;
    span.end = tick;
  }
};

struct StreamOutcome {
  StreamRun run;
  std::vector<Spans> spans{};  // of each stream
};

[[nodiscard]] inline StreamOutcome run_lists(StreamLists& lists,
                                             const Loads& loads = {},
                                             StreamEngine engine = {}) {
  lists.taken.assign(lists.streams.size(), 0);
  SpanRecord record;
  record.spans.resize(lists.streams.size());
  StreamRun run = engine.run(lists.streams.size(), lists.semaphores, lists, record, loads);
  return {.run = std::move(run), .spans = std::move(record.spans)};
}

}  // namespace titer::testing
