#include "titer/engine/engine.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

#include "allocations.hpp"
#include "engine/graphs.hpp"
#include "titer/units/ensure.hpp"

namespace titer::testing {
namespace TITER_TEST_FILE {

using Starts = std::vector<Ticks>;

TEST(Engine, TakesNoTimeForNoTasks) {
  TaskGraph graph;
  EXPECT_EQ(run(graph).makespan, 0);
  graph.add_resource();
  const Timeline timeline = run(graph);
  EXPECT_EQ(timeline.makespan, 0);
  EXPECT_TRUE(timeline.start.empty());
}

TEST(Engine, RunsAChainOneAfterAnother) {
  TaskGraph graph;
  const ResourceId a = graph.add_resource();
  const ResourceId b = graph.add_resource();
  const TaskId first = graph.add(a, Ticks{5});
  const TaskId second = graph.add(b, Ticks{7}, std::array{first});
  graph.add(a, Ticks{11}, std::array{second});
  const Timeline timeline = run(graph);
  EXPECT_EQ(timeline.start, (Starts{0, 5, 5 + 7}));
  EXPECT_EQ(timeline.makespan, 5 + 7 + 11);
}

TEST(Engine, JoinsAfterTheLongestBranchOfAFork) {
  TaskGraph graph;
  std::array<ResourceId, 3> on{};
  std::generate(on.begin(), on.end(), [&] { return graph.add_resource(); });
  const TaskId fork = graph.add(on[0], Ticks{2});
  const TaskId left = graph.add(on[0], Ticks{3}, std::array{fork});
  const TaskId middle = graph.add(on[1], Ticks{9}, std::array{fork});
  const TaskId right = graph.add(on[2], Ticks{4}, std::array{fork});
  graph.add(on[1], Ticks{1}, std::array{left, middle, right});
  const Timeline timeline = run(graph);
  EXPECT_EQ(timeline.start, (Starts{0, 2, 2, 2, 2 + 9}));
  EXPECT_EQ(timeline.makespan, 2 + 9 + 1);
}

TEST(Engine, ServesFirstReadyFirst) {
  TaskGraph graph;
  const ResourceId shared = graph.add_resource();
  const ResourceId slow = graph.add_resource();
  const ResourceId fast = graph.add_resource();
  const TaskId hold = graph.add(shared, Ticks{10});
  const TaskId late = graph.add(slow, Ticks{6});
  const TaskId early = graph.add(fast, Ticks{4});
  const TaskId behind = graph.add(shared, Ticks{3}, std::array{late});
  const TaskId ahead = graph.add(shared, Ticks{5}, std::array{early});
  const Timeline timeline = run(graph);
  EXPECT_EQ(timeline.start[hold], 0);
  EXPECT_EQ(timeline.start[ahead], 10);
  EXPECT_EQ(timeline.start[behind], 10 + 5);
  EXPECT_EQ(timeline.makespan, 10 + 5 + 3);
}

TEST(Engine, ServesEqualTimesInTheOrderOfIds) {
  TaskGraph graph;
  const ResourceId shared = graph.add_resource();
  const ResourceId a = graph.add_resource();
  const ResourceId b = graph.add_resource();
  const TaskId x = graph.add(a, Ticks{4});
  const TaskId y = graph.add(b, Ticks{4});
  const TaskId first = graph.add(shared, Ticks{1}, std::array{y});
  const TaskId second = graph.add(shared, Ticks{1}, std::array{x});
  add_beside(graph, disorder());
  const Timeline timeline = run(graph);
  EXPECT_EQ(timeline.start[first], 4);
  EXPECT_EQ(timeline.start[second], 4 + 1);
}

TEST(Engine, EndsInstantTasksAtTheTickTheyStart) {
  TaskGraph graph;
  const ResourceId resource = graph.add_resource();
  TaskId last = graph.add(resource, Ticks{3});
  for (int i = 0; i < 5; ++i) {
    last = graph.add(resource, Ticks{0}, std::array{last});
  }
  graph.add(resource, Ticks{2}, std::array{last});
  const Timeline timeline = run(graph);
  EXPECT_EQ(timeline.start, (Starts{0, 3, 3, 3, 3, 3, 3}));
  EXPECT_EQ(timeline.makespan, 3 + 2);
}

// Ready in the first wave of tick 0 is earlier than ready in the second, whatever the ids.
TEST(Engine, ServesAnEarlierWaveOfATickFirst) {
  TaskGraph graph;
  const ResourceId shared = graph.add_resource();
  const ResourceId other = graph.add_resource();
  const TaskId instant = graph.add(other, Ticks{0});
  const TaskId second_wave = graph.add(shared, Ticks{4}, std::array{instant});
  const TaskId first_wave = graph.add(shared, Ticks{6});
  const Timeline timeline = run(graph);
  EXPECT_EQ(timeline.start[first_wave], 0);
  EXPECT_EQ(timeline.start[second_wave], 6);
}

TEST(Engine, MayTakeLongerInThisExampleOfFourTasks) {
  const auto makespan = [](Ticks lesser_input) {
    TaskGraph graph;
    const ResourceId shared = graph.add_resource();
    const ResourceId a = graph.add_resource();
    const ResourceId b = graph.add_resource();
    const TaskId urgent_input = graph.add(a, Ticks{4});
    const TaskId input = graph.add(b, lesser_input);
    const TaskId urgent = graph.add(shared, Ticks{1}, std::array{urgent_input});
    graph.add(shared, Ticks{6}, std::array{input});
    graph.add(a, Ticks{10}, std::array{urgent});
    return run(graph).makespan;
  };
  EXPECT_EQ(makespan(5), 4 + 1 + 10);      // the urgent task first
  EXPECT_EQ(makespan(3), 3 + 6 + 1 + 10);  // it waits for the other one
}

TaskGraph row_of(int tasks, Ticks duration) {
  TaskGraph graph;
  const ResourceId resource = graph.add_resource();
  for (int i = 0; i < tasks; ++i) {
    graph.add(resource, duration);
  }
  return graph;
}

TEST(Engine, AllocatesNothingForAGraphNoLargerThanBefore) {
  for (const Ticks duration : {0, 1}) {
    const TaskGraph ordered = row_of(500, duration);
    TaskGraph disordered = ordered;
    add_beside(disordered, disorder());
    for (const TaskGraph& graph : {ordered, disordered}) {
      Engine engine;
      Timeline timeline;
      const std::size_t before = allocations();
      engine.run(graph, timeline);
      const std::size_t once = allocations();
      engine.run(graph, timeline);
      const std::size_t twice = allocations();
      EXPECT_TRUE(once > before && twice == once);
    }
  }
}

// Also when the first graph never had as many tasks end at once.
TEST(Engine, AllocatesNothingForAGraphMoreParallelThanBefore) {
  TaskGraph uneven = disorder();
  TaskGraph even = disorder();
  for (int i = 1; i <= 1000; ++i) {
    uneven.add(uneven.add_resource(), Ticks{i});
    even.add(even.add_resource(), Ticks{5});
  }
  Engine engine;
  Timeline timeline;
  engine.run(uneven, timeline);
  const std::size_t before = allocations();
  engine.run(even, timeline);
  EXPECT_EQ(allocations(), before);
  EXPECT_EQ(timeline.makespan, 3 + 4);
}

// Nor if only the second has tasks of no duration, or serves a resource out of the order of ids.
TEST(Engine, AllocatesNothingForAnotherKindOfGraph) {
  const TaskGraph ordered = row_of(500, 1);
  const TaskGraph instant = row_of(500, 0);
  Engine engine;
  Timeline timeline;
  TaskGraph larger = row_of(503, 1);
  larger.add_resource();
  larger.add_resource();
  engine.run(larger, timeline);
  for (TaskGraph graph : {ordered, instant}) {
    add_beside(graph, disorder());
    const std::size_t before = allocations();
    engine.run(graph, timeline);
    EXPECT_EQ(allocations(), before);
  }
}

// Nor as many ready at once.
TEST(Engine, AllocatesNothingForAWiderGraphOfTheSameSize) {
  TaskGraph narrow = disorder();
  TaskGraph wide = disorder();
  TaskId last = 0;
  for (int i = 0; i < 1000; ++i) {
    last = narrow.add(0, Ticks{1}, std::array{last});
    wide.add(0, Ticks{1}, std::array{TaskId{0}});
  }
  Engine engine;
  Timeline timeline;
  engine.run(narrow, timeline);
  const std::size_t before = allocations();
  engine.run(wide, timeline);
  EXPECT_EQ(allocations(), before);
  EXPECT_EQ(timeline.makespan, 3 + 1000);
}

TEST(Engine, RefusesATimelineBeyondTwoToThe62) {
  TaskGraph graph;
  const ResourceId resource = graph.add_resource();
  graph.add(resource, kMaxTicks);
  EXPECT_EQ(run(graph).makespan, kMaxTicks);
  graph.add(resource, Ticks{1});
  EXPECT_THROW((void)run(graph), Defect);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer::testing
