#pragma once
// What the streams of StreamEngine do: their tasks, who hands them out, who hears of them, and what
// a run tells at its end.

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "titer/engine/load_rates.hpp"
#include "titer/engine/loads.hpp"
#include "titer/engine/task_graph.hpp"
#include "titer/units/ensure.hpp"

namespace titer {

using StreamId = std::uint32_t;
using SemaphoreId = std::uint32_t;

/// Waits until the semaphore has been signalled `count` times in all.
struct SemaphoreWait {
  SemaphoreId semaphore = 0;
  std::uint32_t count = 0;
};

/// Up to `capacity` values in place.
template <class T, std::size_t capacity>
class FewOf {
 public:
  constexpr void clear() { size_ = 0; }
  constexpr void add(const T& value) {
    ensure(size_ < capacity, "a task has room for a few waits and signals");
    values_[size_++] = value;
  }
  [[nodiscard]] constexpr const T* begin() const { return values_.data(); }
  [[nodiscard]] constexpr const T* end() const { return values_.data() + size_; }
  [[nodiscard]] constexpr std::size_t size() const { return size_; }
  [[nodiscard]] constexpr const T& operator[](std::size_t i) const { return values_[i]; }

 private:
  std::array<T, capacity> values_{};
  std::uint32_t size_ = 0;
};

struct StreamTask {
  Ticks duration = 0;  // when nobody is in its way
  FewOf<SemaphoreWait, 4> waits;
  FewOf<SemaphoreId, 4> signals;  // each once, when it ends
  std::uint32_t label = 0;        // whatever source and listener agree on
  LoadId load = kNoLoad;          // what it shares with other tasks while it runs
};

/// next(stream, task): writes the stream's next task, or returns false at its end. Waits, signals
/// and load are empty before; duration and label are those of the stream's task before.
template <class S>
concept StreamSource = requires(S& source, StreamId stream, StreamTask& task) {
  { source.next(stream, task) } -> std::same_as<bool>;
};

/// Hears of every task, in the order of time; of several at one tick in no particular order.
template <class L>
concept StreamListener =
    requires(L& listener, StreamId stream, const StreamTask& task, Ticks tick) {
  listener.started(stream, task, tick);
  listener.ended(stream, task, tick, tick);  // when it started, and now
};

/// Who does not want to hear of tasks.
struct NoListener {
  void started(StreamId /*stream*/, const StreamTask& /*task*/, Ticks /*now*/) {}
  void ended(StreamId /*stream*/, const StreamTask& /*task*/, Ticks /*start*/, Ticks /*now*/) {}
};

struct StreamRun {
  Ticks makespan = 0;
  std::vector<StreamId> stuck;  // streams whose next task waits for ever, in ascending order
  LoadPatterns patterns;        // of tasks that shared something
};

}  // namespace titer
