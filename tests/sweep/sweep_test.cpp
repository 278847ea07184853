#include "titer/sweep/sweep.hpp"

#include <gtest/gtest.h>

#include "sweeps.hpp"

namespace titer::testing {
namespace TITER_TEST_FILE {

using Indices = std::vector<std::size_t>;

TEST(SweepPoints, AreTheProductOfTheAxes) {
  EXPECT_EQ(sweep_of(kSmallScenario, {}).points(), 1u);
  const Sweep sweep = sweep_of(kSmallScenario,
                               {axis("plan.tensor", "[1, 2, 4]"),
                                axis("plan.data", "[1, 2]"),
                                axis("training.global_batch", "[8, 16, 32, 64]")});
  EXPECT_EQ(sweep.points(), 3u * 2u * 4u);
}

TEST(SweepPoints, VaryTheFirstAxisSlowest) {
  const Sweep sweep =
      sweep_of(kSmallScenario, {axis("plan.tensor", "[1, 2, 4]"), axis("plan.data", "[1, 2]")});
  std::vector<Indices> order;
  for (std::size_t point = 0; point < sweep.points(); ++point) {
    order.push_back(sweep.indices(point));
  }
  EXPECT_EQ(order, (std::vector<Indices>{{0, 0}, {0, 1}, {1, 0}, {1, 1}, {2, 0}, {2, 1}}));
  EXPECT_EQ(sweep_of(kSmallScenario, {}).indices(0), Indices{});
}

TEST(SweepPoints, NumberEveryCombinationOnce) {
  const Sweep sweep = sweep_of(kSmallScenario,
                               {axis("plan.tensor", "[1, 2, 4]"),
                                axis("plan.data", "[1, 2]"),
                                axis("training.global_batch", "[8, 16, 32, 64]")});
  for (std::size_t point = 0; point < sweep.points(); ++point) {
    const Indices at = sweep.indices(point);
    EXPECT_EQ((at[0] * 2 + at[1]) * 4 + at[2], point);
  }
}

TEST(SweepStatus, HasTheNamesOfTheCsv) {
  EXPECT_EQ(name(PointStatus::ok), "ok");
  EXPECT_EQ(name(PointStatus::out_of_memory), "out-of-memory");
  EXPECT_EQ(name(PointStatus::invalid), "invalid");
  EXPECT_EQ(name(PointStatus::defect), "defect");
}

TEST(SweepStatus, OfAnUnsoundPointIsInvalidWithEveryReason) {
  const Sweep sweep =
      sweep_of(kSmallScenario, {axis("plan.tensor", "[5]"), axis("plan.micro_batch", "[3]")});
  SweepPoint point;
  SweepWorker(sweep, Fidelity::closed).compute(0, point);
  EXPECT_EQ(point.status, PointStatus::invalid);
  EXPECT_NE(point.reason.find("plan.tensor: 5: expected a divisor of the"), std::string::npos)
      << point.reason;
  EXPECT_NE(point.reason.find("; training.global_batch: 32: expected a multiple of micro_batch x "
                              "data = 3 x 1 = 3"),
            std::string::npos)
      << point.reason;
}

TEST(SweepStatus, OfAPointThatDoesNotFitSaysWhatFillsTheMemory) {
  const Sweep sweep =
      sweep_of(kSmallScenario, {axis("cluster.chip.memory.capacity", R"(["1 GiB", "80 GiB"])")});
  SweepWorker worker(sweep, Fidelity::closed);
  SweepPoint point;
  worker.compute(0, point);
  EXPECT_EQ(point.status, PointStatus::out_of_memory);
  EXPECT_EQ(point.reason, memory_sentence(point.result));
  EXPECT_TRUE(point.reason.starts_with("does not fit: stage 0 needs ")) << point.reason;
  const Seconds time = point.result.iteration_time;
  worker.compute(1, point);
  EXPECT_EQ(point.status, PointStatus::ok);
  EXPECT_EQ(point.reason, "") << "the reason of the point before must not stay";
  EXPECT_EQ(point.result.iteration_time, time) << "capacity takes no time";
}

TEST(SweepStatus, OfAnUnknownNameSuggestsTheRightOne) {
  const Sweep sweep = sweep_of(kSmallScenario, {axis("cluster", R"(["dgx-a100-80g"])")});
  SweepPoint point;
  SweepWorker(sweep, Fidelity::closed).compute(0, point);
  EXPECT_EQ(point.status, PointStatus::invalid);
  EXPECT_NE(point.reason.find("did you mean \"dgx-a100-80gb\"?"), std::string::npos)
      << point.reason;
}

TEST(SweepDataDegree, FollowsFromTheNodesWhenThePlanLeavesItOpen) {
  const Sweep sweep =
      sweep_of(kSmallScenario, {axis("cluster.nodes", "[1, 2]"), axis("plan.tensor", "[1, 2, 8]")});
  SweepWorker worker(sweep, Fidelity::closed);
  constexpr std::array<std::int64_t, 6> devices = {8, 8, 8, 16, 16, 16};
  for (std::size_t i = 0; i < sweep.points(); ++i) {
    SweepPoint point;
    worker.compute(i, point);
    EXPECT_EQ(point.status, PointStatus::ok) << point.reason;
    EXPECT_EQ(point.result.devices, devices[i]) << "d = 8 nodes / t";
  }
}

TEST(SweepFidelity, OfTheEventEngineAreThoseOfTheClosedForm) {
  const Sweep sweep =
      sweep_of(kSmallScenario, {axis("plan.pipeline", "[1, 2, 4]"), axis("plan.data", "[1, 2]")});
  SweepWorker closed(sweep, Fidelity::closed);
  SweepWorker event(sweep, Fidelity::event);
  for (std::size_t i = 0; i < sweep.points(); ++i) {
    SweepPoint a;
    SweepPoint b;
    closed.compute(i, a);
    event.compute(i, b);
    ASSERT_EQ(a.status, PointStatus::ok) << a.reason;
    EXPECT_EQ(b.status, PointStatus::ok) << b.reason;
    EXPECT_EQ(a.result.iteration_time, b.result.iteration_time) << "point " << i;
  }
}

}  // namespace TITER_TEST_FILE
}  // namespace titer::testing
