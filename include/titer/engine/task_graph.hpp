#pragma once
// What is to be done: tasks with a fixed duration, the resource each occupies, and what each waits
// for. The engine knows time, resources and dependencies, and nothing about what they stand for.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "titer/units/ensure.hpp"
#include "titer/units/quantity.hpp"

namespace titer {

using TaskId = std::uint32_t;
using ResourceId = std::uint32_t;
/// Picoseconds: 2^63 of them are 106 days. Rounded to nearest once, when a task is added.
using Ticks = std::int64_t;

/// The longest duration and the latest end of a task, 53 days: sums of two of them cannot wrap
/// when compared as `a > kMaxTicks - b`.
inline constexpr Ticks kMaxTicks = Ticks{1} << 62;

/// The end of what begins at a tick.
[[nodiscard]] constexpr Ticks add_ticks(Ticks tick, Ticks more) {
  ensure(more <= kMaxTicks - tick, "a timeline must end before 2^62 picoseconds");
  return tick + more;
}

/// The nearest whole number (halves away from zero). REQUIRES 0 <= exact <= kMaxTicks.
[[nodiscard]] constexpr Ticks nearest_tick(double exact) {
  const auto whole = static_cast<Ticks>(exact);
  return whole + (exact - static_cast<double>(whole) >= 0.5 ? 1 : 0);
}
/// Nearest picosecond. The time must be finite, not negative, and at most kMaxTicks.
[[nodiscard]] constexpr Ticks to_ticks(Seconds time) {
  const double exact = time.si() * 1e12;
  ensure(exact >= 0.0 && exact <= static_cast<double>(kMaxTicks),
         "a duration must be finite, not negative, and at most 2^62 picoseconds");
  return nearest_tick(exact);
}
[[nodiscard]] constexpr Seconds to_seconds(Ticks ticks) {
  return Seconds::from_si(static_cast<double>(ticks) * 1e-12);
}

/// A directed graph of tasks. Add a task only after everything it waits for: ids are therefore a
/// topological order, and a cycle cannot be written.
class TaskGraph {
 public:
  /// A new resource that serves one task at a time.
  ResourceId add_resource();
  /// A new task; `after` holds ids of tasks added before. Durations must not be negative.
  TaskId add(ResourceId resource, Ticks duration, std::span<const TaskId> after = {});
  TaskId add(ResourceId resource, Seconds duration, std::span<const TaskId> after = {}) {
    return add(resource, to_ticks(duration), after);
  }

  [[nodiscard]] std::size_t size() const { return durations_.size(); }
  [[nodiscard]] std::size_t resources() const { return resource_count_; }
  [[nodiscard]] Ticks duration(TaskId task) const { return durations_[task]; }
  [[nodiscard]] ResourceId resource(TaskId task) const { return resources_[task]; }
  [[nodiscard]] std::span<const TaskId> after(TaskId task) const {
    return {after_.data() + after_begin_[task], after_.data() + after_begin_[task + 1]};
  }
  /// Whether some task takes no time at all.
  [[nodiscard]] bool has_instant_tasks() const { return has_instant_tasks_; }

 private:
  std::size_t resource_count_ = 0;
  bool has_instant_tasks_ = false;
  std::vector<Ticks> durations_;
  std::vector<ResourceId> resources_;
  std::vector<std::uint32_t> after_begin_ = {0};  // CSR: dependencies of task i are
  std::vector<TaskId> after_;                     // after_[after_begin_[i] .. after_begin_[i+1])
};

}  // namespace titer
