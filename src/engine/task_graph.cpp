#include "titer/engine/task_graph.hpp"

#include <limits>

#include "append.hpp"
#include "titer/units/ensure.hpp"

namespace titer {
namespace {

// The engine's links between tasks keep the two largest ids for "none" and "ended".
constexpr std::size_t kMaxTasks = std::numeric_limits<TaskId>::max() - 2;
constexpr std::size_t kMostTaskDependencies = std::numeric_limits<std::uint32_t>::max();

}  // namespace

ResourceId TaskGraph::add_resource() {
  ensure(resource_count_ < std::numeric_limits<ResourceId>::max(), "too many resources");
  return static_cast<ResourceId>(resource_count_++);
}

TaskId TaskGraph::add(ResourceId resource, Ticks duration, std::span<const TaskId> after) {
  ensure(resource < resource_count_, "a task needs a resource that was added before");
  ensure(duration >= 0 && duration <= kMaxTicks,
         "a duration must not be negative, and at most 2^62 picoseconds");
  ensure(size() < kMaxTasks, "too many tasks");
  ensure(after.size() <= kMostTaskDependencies - after_.size(), "too many dependencies");
  const auto id = static_cast<TaskId>(size());
  for (const TaskId earlier : after) {
    ensure(earlier < id, "a task can only wait for tasks added before");
  }
  append(after_, after);
  after_begin_.push_back(static_cast<std::uint32_t>(after_.size()));
  resources_.push_back(resource);
  durations_.push_back(duration);
  has_instant_tasks_ = has_instant_tasks_ || duration == 0;
  return id;
}

}  // namespace titer
