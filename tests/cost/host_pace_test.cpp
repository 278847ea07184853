// The closed form of a host beside its device, against both of them executed on the engine.
#include "titer/cost/host_pace.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "titer/engine/engine.hpp"

namespace titer::testing {
namespace {

constexpr Seconds us(double count) { return Seconds::from_si(count * 1e-6); }

struct Launched {
  Seconds launch;
  Seconds busy;
  bool awaited = false;
};
using Launches = std::vector<Launched>;

HostPace pace_of(const Launches& block) {
  HostPace pace;
  for (const Launched& one : block) {
    if (one.awaited) {
      pace.wait();
    }
    pace.launch(one.launch);
    pace.keep_busy(one.busy);
  }
  return pace;
}

Seconds busy_time(const Launches& block) {
  Seconds sum;
  for (const Launched& one : block) {
    sum += one.busy;
  }
  return sum;
}

/// When the device has done so many blocks: every kernel waits for its launch, the host's launches
/// for one another, and an awaited one for all that the device had to do before it.
Seconds executed(const Launches& block, int blocks) {
  TaskGraph graph;
  const ResourceId host = graph.add_resource();
  const ResourceId device = graph.add_resource();
  TaskId launched = 0;
  TaskId done = 0;
  bool first = true;
  for (int i = 0; i < blocks; ++i) {
    for (const Launched& one : block) {
      std::vector<TaskId> after;
      if (!first) {
        after.push_back(launched);
      }
      if (!first && one.awaited) {
        after.push_back(done);
      }
      launched = graph.add(host, one.launch, after);
      std::vector<TaskId> ready = {launched};
      if (!first) {
        ready.push_back(done);
      }
      done = graph.add(device, one.busy, ready);
      first = false;
    }
  }
  Engine engine;
  Timeline timeline;
  engine.run(graph, timeline);
  return to_seconds(timeline.makespan);
}

void expect_pace(const Launches& block) {
  constexpr int few = 40;
  const Seconds period = (1.0 / few) * (executed(block, 2 * few) - executed(block, few));
  const Seconds expected = busy_time(block) + pace_of(block).idle();
  EXPECT_NEAR(period.si(), expected.si(), 1e-9 * expected.si());
}

}  // namespace

TEST(HostPace, TheSlowerOfBothSetsThePace) {
  const Launches of_device = {{us(5), us(20)}, {us(5), us(10)}};
  EXPECT_EQ(pace_of(of_device).idle(), Seconds{});
  expect_pace(of_device);
  const Launches of_host = {{us(30), us(20)}, {us(10), us(4)}};
  EXPECT_NEAR(pace_of(of_host).idle().si(), (us(30 + 10) - us(20 + 4)).si(), 1e-18);
  expect_pace(of_host);
}

TEST(HostPace, AWaitLeavesTheHostNoLead) {
  // The device's long kernel would hide all launches; behind the wait it is idle until they come.
  const Launches block = {{us(5), us(100)}, {us(5), us(1), true}, {us(50), us(1)}};
  // From the wait on: 5 and 50 us of launches, a kernel of 1 us, the next block's launch of 5 us,
  // and its kernel of 100 us.
  EXPECT_NEAR(pace_of(block).idle().si(), us(5 + 50 + 5 + 100 - 102).si(), 1e-15);
  expect_pace(block);
}

TEST(HostPace, ManyWaitsOfABlockAddUp) {
  const Launches block = {{us(5), us(10), true}, {us(7), us(3), true}, {us(9), us(2)}};
  EXPECT_NEAR(pace_of(block).idle().si(), us((5 + 10) + (7 + 9 + 2) - 15).si(), 1e-15);
  expect_pace(block);
}

TEST(HostPace, AnyBlockTakesAsLongAsItIsExecuted) {
  std::mt19937 random(17);
  std::uniform_int_distribution<int> launch(0, 40);
  std::uniform_int_distribution<int> busy(1, 60);
  std::bernoulli_distribution waits(0.15);
  for (int i = 0; i < 100; ++i) {
    Launches block(static_cast<std::size_t>(1 + i % 12));
    for (Launched& one : block) {
      one = {us(launch(random)), us(busy(random)), waits(random)};
    }
    SCOPED_TRACE(i);
    expect_pace(block);
  }
}

}  // namespace titer::testing
