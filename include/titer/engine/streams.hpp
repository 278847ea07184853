#pragma once
// Streams, as a device has them: each does its tasks one after the other, in a fixed order. A task
// starts when the one before it on its stream has ended and every semaphore that it waits for has
// been signalled often enough. The tasks are never all in memory: a stream asks a source for its
// next one when it gets there, so memory grows with the streams and semaphores alone.
//
// Tasks with a load slow each other down while they run, see SharedLoads; the others take exactly
// their duration. When a task starts and ends does not depend on the numbers of streams,
// semaphores, loads or resources.

#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "titer/engine/calendar.hpp"
#include "titer/engine/shared_loads.hpp"
#include "titer/engine/stream_task.hpp"
#include "titer/engine/time_limit.hpp"
#include "titer/units/ensure.hpp"

namespace titer {

/// Runs streams. Keeps its working memory between runs.
class StreamEngine {
 public:
  StreamEngine() = default;
  /// Remembers the rates of sets of up to so many loads in all, see LoadRates.
  explicit StreamEngine(std::size_t remembered_loads) : shared_(remembered_loads) {}

  template <StreamSource Source, StreamListener Listener = NoListener>
  [[nodiscard]] StreamRun run(std::size_t streams,
                              std::size_t semaphores,
                              Source& source,
                              Listener&& listener = {},
                              const Loads& loads = {}) {
    reset(streams, semaphores, loads);
    for (StreamId stream = 0; stream < streams; ++stream) {
      fetch(stream, source, listener);
    }
    for (Ticks tick = 0; tick != Calendar::never; tick = calendar_.take_earliest(due_)) {
      now_ = tick;
      for (const StreamId stream : due_) {
        end(stream, source, listener);
      }
      while (!instant_.empty()) {
        due_.swap(instant_);
        instant_.clear();
        for (const StreamId stream : due_) {
          end(stream, source, listener);
        }
      }
      shared_.settle(now_, calendar_);
    }
    return finish();
  }

 private:
  static constexpr StreamId none = std::numeric_limits<StreamId>::max();
  static constexpr std::uint32_t nobody = std::numeric_limits<std::uint32_t>::max();

  struct Stream {
    StreamTask task;
    Ticks start = 0;
    std::uint32_t seen = 0;     // waits that are over
    std::uint32_t awaited = 0;  // by the next one
    StreamId child = none;      // in the heap of a semaphore, the smallest awaited count on top
    StreamId sibling = none;
    bool done = false;
  };
  struct Semaphore {
    std::uint32_t count = 0;
    std::uint32_t nearest = nobody;  // the smallest awaited count
    StreamId waiters = none;         // the top of their heap
  };

  void reset(std::size_t streams, std::size_t semaphores, const Loads& loads) {
    streams_.assign(streams, {});
    semaphores_.assign(semaphores, {});
    calendar_.reset(streams);
    shared_.reset(loads, streams);
    due_.clear();
    instant_.clear();
    now_ = 0;
  }

  [[nodiscard]] StreamRun finish() const {
    StreamRun result{.makespan = now_, .stuck = {}, .patterns = shared_.patterns()};
    for (StreamId id = 0; id < streams_.size(); ++id) {
      if (!streams_[id].done) {
        result.stuck.push_back(id);
      }
    }
    return result;
  }

  template <class Source, class Listener>
  void fetch(StreamId id, Source& source, Listener& listener) {
    Stream& stream = streams_[id];
    stream.task.waits.clear();
    stream.task.signals.clear();
    stream.task.load = kNoLoad;
    if (!source.next(id, stream.task)) {
      stream.done = true;
      return;
    }
    stream.seen = 0;
    start_if_ready(id, listener);
  }

  template <class Listener>
  void start_if_ready(StreamId id, Listener& listener) {
    Stream& stream = streams_[id];
    for (; stream.seen < stream.task.waits.size(); ++stream.seen) {
      const SemaphoreWait& wait = stream.task.waits[stream.seen];
      if (semaphores_[wait.semaphore].count < wait.count) {
        stream.awaited = wait.count;
        queue(id, semaphores_[wait.semaphore]);
        return;
      }
    }
    start(id, stream);
    listener.started(id, stream.task, now_);
  }

  void start(StreamId id, Stream& stream) {
    const Ticks duration = stream.task.duration;
    ensure(duration >= 0, "a task takes no less than no time");
    ensure_in_time(duration <= kMaxTicks - now_);
    stream.start = now_;
    if (duration == 0) {
      instant_.push_back(id);
    } else if (stream.task.load == kNoLoad || shared_.start(id, stream.task.load, duration, now_)) {
      calendar_.set(id, now_ + duration);
    }
  }

  template <class Source, class Listener>
  void end(StreamId id, Source& source, Listener& listener) {
    const Stream& stream = streams_[id];
    listener.ended(id, stream.task, stream.start, now_);
    if (stream.task.load != kNoLoad && stream.task.duration > 0) {
      shared_.end(id);
    }
    for (const SemaphoreId semaphore : stream.task.signals) {
      signal(semaphores_[semaphore], listener);
    }
    fetch(id, source, listener);
  }

  template <class Listener>
  void signal(Semaphore& semaphore, Listener& listener) {
    ensure(++semaphore.count != nobody, "a semaphore counts to less than 2^32 - 1");
    while (semaphore.nearest <= semaphore.count) {
      start_if_ready(pop(semaphore), listener);  // waits on if it must
    }
  }

  // The waiters of a semaphore: a pairing heap, so that a signal looks at none that waits on.
  void queue(StreamId id, Semaphore& semaphore) {
    streams_[id].child = none;
    streams_[id].sibling = none;
    semaphore.waiters = semaphore.waiters == none ? id : meld(semaphore.waiters, id);
    semaphore.nearest = streams_[semaphore.waiters].awaited;
  }

  [[nodiscard]] StreamId meld(StreamId top, StreamId below) {
    if (streams_[below].awaited < streams_[top].awaited) {
      std::swap(top, below);
    }
    streams_[below].sibling = std::exchange(streams_[top].child, below);
    return top;
  }

  [[nodiscard]] StreamId pop(Semaphore& semaphore) {
    const StreamId first = semaphore.waiters;
    StreamId rest = streams_[first].child;
    StreamId pairs = none;  // melded two by two, the last one first
    while (rest != none) {
      const StreamId left = rest;
      const StreamId right = streams_[left].sibling;
      rest = right == none ? none : streams_[right].sibling;
      const StreamId pair = right == none ? left : meld(left, right);
      streams_[pair].sibling = std::exchange(pairs, pair);
    }
    semaphore.waiters = pairs;
    if (pairs != none) {
      rest = std::exchange(streams_[pairs].sibling, none);
      while (rest != none) {
        const StreamId next = std::exchange(streams_[rest].sibling, none);
        semaphore.waiters = meld(semaphore.waiters, rest);
        rest = next;
      }
    }
    semaphore.nearest = semaphore.waiters == none ? nobody : streams_[semaphore.waiters].awaited;
    return first;
  }

  std::vector<Stream> streams_;
  std::vector<Semaphore> semaphores_;
  Calendar calendar_;
  SharedLoads shared_;
  std::vector<StreamId> due_;
  std::vector<StreamId> instant_;  // take no time: end at the tick they started at
  Ticks now_ = 0;
};

}  // namespace titer
