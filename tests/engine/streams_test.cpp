#include "titer/engine/streams.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "engine/graphs.hpp"
#include "engine/stream_lists.hpp"
#include "engine/stream_pipelines.hpp"
#include "titer/engine/engine.hpp"
#include "titer/units/ensure.hpp"

namespace titer::testing {
namespace TITER_TEST_FILE {

TEST(Streams, TakeNoTimeForNoTasks) {
  StreamLists none;
  EXPECT_EQ(run_lists(none).run.makespan, 0);
  none.add_stream({});
  EXPECT_EQ(run_lists(none).run.makespan, 0);
  EXPECT_TRUE(run_lists(none).run.stuck.empty());
}

TEST(Streams, DoTheirTasksOneAfterTheOther) {
  StreamLists lists;
  lists.add_stream({task_of(3), task_of(0), task_of(4)});
  lists.add_stream({task_of(5)});
  const auto outcome = run_lists(lists);
  EXPECT_EQ(outcome.spans[0], (Spans{{0, 3}, {3, 3}, {3, 3 + 4}}));
  EXPECT_EQ(outcome.spans[1], (Spans{{0, 5}}));
  EXPECT_EQ(outcome.run.makespan, 3 + 4);
}

TEST(Streams, StartWhenAllTheyWaitForWasSignalledOftenEnough) {
  StreamLists lists;
  lists.semaphores = 2;
  lists.add_stream({task_of(3, {}, {0}), task_of(4, {}, {0, 1})});
  lists.add_stream({task_of(9, {}, {1})});
  lists.add_stream({task_of(1, {{0, 1}}), task_of(1, {{0, 2}, {1, 2}})});
  const auto outcome = run_lists(lists);
  EXPECT_EQ(outcome.spans[2], (Spans{{3, 3 + 1}, {9, 9 + 1}}));
}

TEST(Streams, WakeEachOfManyWaitersAtItsCount) {
  constexpr std::uint32_t waiters = 3000;
  StreamLists lists;
  lists.semaphores = 1;
  std::vector<std::uint32_t> counts(waiters);
  for (std::uint32_t i = 0; i < waiters; ++i) {
    counts[i] = i / 2 + 1;  // two for each count
  }
  std::ranges::shuffle(counts, std::mt19937(1));
  for (const std::uint32_t count : counts) {
    lists.add_stream({task_of(1, {{0, count}})});
  }
  lists.add_stream(std::vector<StreamTask>(waiters / 2, task_of(10, {}, {0})));
  const auto outcome = run_lists(lists);
  for (std::size_t i = 0; i < waiters; ++i) {
    ASSERT_EQ(outcome.spans[i].at(0).start, 10 * Ticks{counts[i]});
  }
}

TEST(Streams, WaitTwiceForTheSameSemaphoreInOneTask) {
  StreamLists lists;
  lists.semaphores = 1;
  lists.add_stream({task_of(2, {{0, 1}, {0, 3}})});
  lists.add_stream({task_of(5, {}, {0}), task_of(5, {}, {0}), task_of(5, {}, {0})});
  EXPECT_EQ(run_lists(lists).spans[0], (Spans{{15, 15 + 2}}));
}

TEST(Streams, PassASignalOnThroughTasksOfNoDurationInOneTick) {
  StreamLists lists;
  constexpr std::uint32_t length = 1000;
  lists.semaphores = length;
  for (std::uint32_t i = 0; i + 1 < length; ++i) {
    lists.add_stream({task_of(0, {{i, 1}}, {i + 1})});
  }
  lists.add_stream({task_of(7, {}, {0})});
  const auto outcome = run_lists(lists);
  EXPECT_EQ(outcome.spans[length - 2], (Spans{{7, 7}}));
  EXPECT_EQ(outcome.run.makespan, 7);
}

TEST(Streams, SayWhichAreStuck) {
  StreamLists lists;
  lists.semaphores = 3;
  lists.add_stream({task_of(1, {{0, 1}}, {1})});
  lists.add_stream({task_of(4)});
  lists.add_stream({task_of(2, {}, {2}), task_of(2, {{2, 1}, {1, 5}}, {0})});
  const StreamRun run = run_lists(lists).run;
  EXPECT_EQ(run.makespan, 4);
  EXPECT_EQ(run.stuck, (std::vector<StreamId>{0, 2}));
}

TEST(Streams, RefuseTimelinesThatEndTooLate) {
  StreamLists lists;
  lists.add_stream({task_of(kMaxTicks), task_of(1)});
  EXPECT_THROW(static_cast<void>(run_lists(lists)), Defect);
  StreamLists before_zero;
  before_zero.add_stream({task_of(-1)});
  EXPECT_THROW(static_cast<void>(run_lists(before_zero)), Defect);
}

TEST(Streams, RefuseLoadsThatTheyDoNotKnow) {
  StreamLists lists;
  StreamTask task = task_of(1);
  task.load = 0;
  lists.add_stream({task});
  EXPECT_THROW(static_cast<void>(run_lists(lists)), Defect);
}

/// Streams of which each counts its ended tasks in a semaphore, and the same as a graph: a resource
/// per stream, and every task waits for the one before it and for those that the counts mean.
struct Program {
  StreamLists lists;
  TaskGraph graph;
  std::vector<std::vector<TaskId>> ids;  // of each stream
};

Program random_program(std::uint32_t seed) {
  std::mt19937 random(seed);
  Program program;
  const auto streams = static_cast<std::uint32_t>(1 + random() % 9);
  const auto tasks = static_cast<std::uint32_t>(random() % 120);
  const auto longest = 1 + random() % 9;
  program.lists.semaphores = streams;  // counts the tasks that its stream has ended
  program.ids.resize(streams);
  std::vector<std::vector<StreamTask>> lists(streams);
  for (std::uint32_t i = 0; i < streams; ++i) {
    program.graph.add_resource();
  }
  for (std::uint32_t i = 0; i < tasks; ++i) {
    const auto stream = static_cast<StreamId>(random() % streams);
    std::vector<TaskId> after;
    if (!program.ids[stream].empty()) {
      after.push_back(program.ids[stream].back());
    }
    StreamTask task = task_of(static_cast<Ticks>(random() % (longest + 1)), {}, {stream});
    for (auto waits = random() % 5; waits > 0; --waits) {
      const auto other = static_cast<StreamId>(random() % streams);
      const auto count = static_cast<std::uint32_t>(random() % (program.ids[other].size() + 1));
      task.waits.add({other, count});
      if (count > 0) {
        after.push_back(program.ids[other][count - 1]);
      }
    }
    lists[stream].push_back(task);
    program.ids[stream].push_back(program.graph.add(stream, task.duration, after));
  }
  for (const auto& list : lists) {
    program.lists.add_stream(list);
  }
  return program;
}

TEST(Streams, AreAGraphWhoseResourcesServeInOrder) {
  for (std::uint32_t seed = 0; seed < 2000; ++seed) {
    Program program = random_program(seed);
    const Timeline expected = run(program.graph);
    const auto outcome = run_lists(program.lists);
    ASSERT_TRUE(outcome.run.stuck.empty()) << seed;
    ASSERT_EQ(outcome.run.makespan, expected.makespan) << seed;
    for (std::size_t stream = 0; stream < program.ids.size(); ++stream) {
      ASSERT_EQ(outcome.spans[stream].size(), program.ids[stream].size()) << seed;
      for (std::size_t i = 0; i < program.ids[stream].size(); ++i) {
        const TaskId id = program.ids[stream][i];
        ASSERT_EQ(outcome.spans[stream][i].start, expected.start[id]) << seed;
        ASSERT_EQ(outcome.spans[stream][i].end, expected.start[id] + program.graph.duration(id))
            << seed;
      }
    }
  }
}

TEST(Streams, TakeAsLongAsThePipelineFormulaSays) {
  constexpr PipelineSize size{.ranks = 8, .batches = 32, .copies = 3, .equal = true};
  constexpr Ticks forward = 1'000'000;
  PlainPipeline pipeline(size);
  const StreamRun run = StreamEngine().run(pipeline.streams(), pipeline.semaphores(), pipeline);
  EXPECT_EQ(run.makespan, Ticks{size.batches + size.ranks - 1} * (forward + 2 * forward));
}

TEST(Streams, KeepNothingOfARunForTheNext) {
  LanePipeline large({.ranks = 8, .batches = 24, .copies = 2}, true);
  PlainPipeline small({.ranks = 4, .batches = 6});
  StreamEngine fresh;
  const Ticks expected =
      fresh.run(small.streams(), small.semaphores(), small, NoListener{}).makespan;
  StreamEngine used;
  static_cast<void>(
      used.run(large.streams(), large.semaphores(), large, NoListener{}, large.loads()));
  small.restart();
  EXPECT_EQ(used.run(small.streams(), small.semaphores(), small).makespan, expected);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer::testing
