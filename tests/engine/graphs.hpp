#pragma once
// Graphs that the tests of the engine share.

#include <array>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "titer/engine/task_graph.hpp"

namespace titer::testing {

struct Shape {
  std::size_t tasks;
  std::size_t resources;
  std::uint32_t max_after;     // dependencies per task
  std::uint32_t max_duration;  // few different durations make ties
  bool instant;                // durations from 0, or from 1
};

inline TaskGraph random_graph(std::uint32_t seed, const Shape& shape) {
  std::mt19937 random(seed);
  TaskGraph graph;
  for (std::size_t i = 0; i < shape.resources; ++i) {
    graph.add_resource();
  }
  std::vector<TaskId> after;
  for (std::size_t task = 0; task < shape.tasks; ++task) {
    after.clear();
    const auto count = task == 0 ? 0 : random() % (shape.max_after + 1);
    for (std::size_t i = 0; i < count; ++i) {
      after.push_back(static_cast<TaskId>(random() % task));
    }
    const auto resource = static_cast<ResourceId>(random() % shape.resources);
    const auto low = shape.instant ? 0u : 1u;
    graph.add(resource, static_cast<Ticks>(low + random() % (shape.max_duration + 1 - low)), after);
  }
  return graph;
}

/// One of many kinds: crowded or spare resources, sparse or dense, with and without ties and zeros.
inline TaskGraph random_graph(std::uint32_t seed) {
  std::mt19937 random(seed);
  const std::size_t resources = 1 + random() % 12;
  return random_graph(seed + 1,
                      {.tasks = random() % 40,
                       .resources = resources,
                       .max_after = static_cast<std::uint32_t>(random() % 5),
                       .max_duration = static_cast<std::uint32_t>(1 + random() % 9),
                       .instant = random() % 2 == 0});
}

/// Adds `part`, on resources of its own; returns the id of its first task.
inline TaskId add_beside(TaskGraph& graph, const TaskGraph& part) {
  const auto first_task = static_cast<TaskId>(graph.size());
  const auto first_resource = static_cast<ResourceId>(graph.resources());
  for (std::size_t i = 0; i < part.resources(); ++i) {
    graph.add_resource();
  }
  for (TaskId task = 0; task < part.size(); ++task) {
    std::vector<TaskId> after;
    for (const TaskId earlier : part.after(task)) {
      after.push_back(first_task + earlier);
    }
    graph.add(first_resource + part.resource(task), part.duration(task), after);
  }
  return first_task;
}

/// The later id is ready first: what makes the engine run a graph event by event.
inline TaskGraph disorder() {
  TaskGraph graph;
  const ResourceId early = graph.add_resource();
  const ResourceId shared = graph.add_resource();
  const TaskId first = graph.add(early, Ticks{3});
  graph.add(shared, Ticks{4}, std::array{first});
  graph.add(shared, Ticks{1});
  return graph;
}

}  // namespace titer::testing
