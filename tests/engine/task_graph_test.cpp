#include "titer/engine/task_graph.hpp"

#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <vector>

#include "titer/units/ensure.hpp"

namespace titer {
namespace TITER_TEST_FILE {

std::vector<TaskId> list(std::span<const TaskId> tasks) { return {tasks.begin(), tasks.end()}; }

TEST(Ticks, ArePicosecondsRoundedToNearest) {
  EXPECT_EQ(to_ticks(Seconds{}), 0);
  EXPECT_EQ(to_ticks(1_s), Ticks{1'000'000'000'000});
  EXPECT_EQ(to_ticks(3_ns), Ticks{3} * 1000);
  EXPECT_EQ(to_ticks(Seconds::from_si(0.4e-12)), 0);
  EXPECT_EQ(to_ticks(Seconds::from_si(0.6e-12)), 1);
  EXPECT_EQ(to_ticks(Seconds::from_si(2.5e-12)), 3);
  EXPECT_EQ(to_ticks(Seconds::from_si(-0.0)), 0);
}

TEST(Ticks, SurviveTheWayToSecondsAndBack) {
  for (const Ticks ticks : {Ticks{0}, Ticks{1}, Ticks{999}, Ticks{123'456'789'012}}) {
    EXPECT_EQ(to_ticks(to_seconds(ticks)), ticks);
  }
}

class NoDuration : public ::testing::TestWithParam<double> {};

TEST_P(NoDuration, IsRefused) {
  EXPECT_THROW((void)to_ticks(Seconds::from_si(GetParam())), Defect);
}

INSTANTIATE_TEST_SUITE_P(Seconds,
                         NoDuration,
                         ::testing::Values(-1.0,
                                           -0.1e-12,
                                           std::numeric_limits<double>::infinity(),
                                           -std::numeric_limits<double>::infinity(),
                                           std::numeric_limits<double>::quiet_NaN()));

TEST(Ticks, ReachTwoToThe62) {
  const double most = static_cast<double>(kMaxTicks) * 1e-12;
  EXPECT_EQ(kMaxTicks, Ticks{1} << 62);
  EXPECT_LE(to_ticks(Seconds::from_si(most * (1 - 1e-15))), kMaxTicks);
  EXPECT_THROW((void)to_ticks(Seconds::from_si(most * (1 + 1e-15))), Defect);
}

TEST(TaskGraph, StartsEmpty) {
  const TaskGraph graph;
  EXPECT_EQ(graph.size(), 0u);
  EXPECT_EQ(graph.resources(), 0u);
  EXPECT_FALSE(graph.has_instant_tasks());
}

TEST(TaskGraph, KeepsWhatWasAdded) {
  TaskGraph graph;
  const ResourceId left = graph.add_resource();
  const ResourceId right = graph.add_resource();
  const TaskId a = graph.add(left, Ticks{5});
  const TaskId b = graph.add(right, 2_ns, std::array{a});
  const TaskId c = graph.add(left, Ticks{7}, std::array{a, b, a});
  EXPECT_EQ(graph.size(), 3u);
  EXPECT_EQ(graph.resources(), 2u);
  EXPECT_EQ(graph.duration(a), 5);
  EXPECT_EQ(graph.duration(b), Ticks{2} * 1000);
  EXPECT_EQ(graph.resource(b), right);
  EXPECT_EQ(graph.resource(c), left);
  EXPECT_TRUE(graph.after(a).empty());
  EXPECT_EQ(list(graph.after(b)), std::vector{a});
  EXPECT_EQ(list(graph.after(c)), (std::vector{a, b, a}));
}

TEST(TaskGraph, KnowsWhetherATaskTakesNoTime) {
  TaskGraph graph;
  const ResourceId resource = graph.add_resource();
  graph.add(resource, Ticks{1});
  EXPECT_FALSE(graph.has_instant_tasks());
  graph.add(resource, Ticks{0});
  graph.add(resource, Ticks{1});
  EXPECT_TRUE(graph.has_instant_tasks());
}

TEST(TaskGraph, CopiesDependenciesOfItsOwnTasks) {
  TaskGraph graph;
  const ResourceId resource = graph.add_resource();
  const TaskId a = graph.add(resource, Ticks{1});
  const TaskId b = graph.add(resource, Ticks{1});
  TaskId last = graph.add(resource, Ticks{1}, std::array{a, b});
  for (int i = 0; i < 100; ++i) {  // over several growths of the storage
    last = graph.add(resource, Ticks{1}, graph.after(last));
    ASSERT_EQ(list(graph.after(last)), (std::vector{a, b}));
  }
}

/// Whether adding this to a graph of one resource and one task is refused without a trace.
bool refused(ResourceId resource, Ticks duration, std::vector<TaskId> after) {
  TaskGraph graph;
  const TaskId first = graph.add(graph.add_resource(), Ticks{1});
  try {
    graph.add(resource, duration, after);
  } catch (const Defect&) {
    const TaskId next = graph.add(0, Ticks{1}, std::array{first});
    return next == first + 1 && list(graph.after(next)) == std::vector{first};
  }
  return false;
}

TEST(TaskGraph, RefusesABrokenTaskAndStaysAsItWas) {
  EXPECT_TRUE(refused(1, Ticks{1}, {}));       // no such resource
  EXPECT_TRUE(refused(0, Ticks{-1}, {}));      // negative
  EXPECT_TRUE(refused(0, kMaxTicks + 1, {}));  // too long
  EXPECT_TRUE(refused(0, Ticks{1}, {0, 1}));   // waits for itself
  EXPECT_TRUE(refused(0, Ticks{1}, {9}));      // no such task
  EXPECT_FALSE(refused(0, kMaxTicks, {0, 0}));
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
