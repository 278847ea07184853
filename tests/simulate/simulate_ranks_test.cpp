// Every rank by itself, unequal devices, and the recorded timeline.
#include <gtest/gtest.h>

#include <map>

#include "simulate/simulations.hpp"

namespace titer {
namespace TITER_TEST_FILE {

using simulations::all_of;
using simulations::kBackward;
using simulations::kForward;
using simulations::kOptimizer;
using simulations::kSend;
using simulations::RoundStep;
using simulations::ticks;

constexpr SimulationOptions kEveryRank = {.every_rank = true};

TEST(EveryRank, SaysWhatTheFoldedOneSays) {
  scenarios::Maker maker(31);
  int compared = 0;
  while (compared < 60) {
    Scenario scenario = maker.next();
    if (scenario.plan.devices() > 512 || scenario.plan.devices() < 4) {
      continue;
    }
    ++compared;
    scenario.stack.pipeline_send =
        compared % 2 == 0 ? PipelineSend::overlapped : PipelineSend::blocking;
    scenario.stack.overlap_slowdown = compared % 3 == 0 ? 1.25 : 1.0;
    const Simulation folded = simulate(scenario);
    const Simulation every = simulate(scenario, kEveryRank);
    EXPECT_EQ(every.timeline.ranks.size(), static_cast<std::size_t>(scenario.plan.devices()));
    EXPECT_EQ(folded.timeline.ranks.size(), static_cast<std::size_t>(scenario.plan.pipeline));
    EXPECT_EQ(all_of(scenario, every.result), all_of(scenario, folded.result))
        << scenarios::text_of(scenario);
  }
}

/// Two stages of tensor and data groups of two, with transfers of every kind.
RoundStep with_everything() {
  Plan plan;
  plan.pipeline = 2;
  plan.tensor = 2;
  plan.data = 2;
  RoundStep step(plan, 4);
  const auto with_transfers = [](PassCost& cost) { set_transfers(cost, 2_us, 5_us); };
  with_transfers(step.costs.kinds.front().forward);
  with_transfers(step.costs.kinds.front().backward);
  const std::vector<GradientBucket> buckets = {
      {.ready = 0.5, .sync = 12_us, .gather = 4_us, .parameters = {}},
      {.ready = 1.0, .sync = 6_us, .gather = 4_us, .parameters = {}}};
  step.costs.buckets = {buckets, buckets};
  step.costs.embedding_sync = 7_us;
  return step;
}

TEST(EveryRank, SaysTheSameWithEveryWayOfSendingBucketsAndContention) {
  for (const PipelineSend send :
       {PipelineSend::blocking, PipelineSend::overlapped, PipelineSend::batched}) {
    for (const double slowdown : {1.0, 1.125, 1.5}) {
      RoundStep step = with_everything();
      step.scenario.stack.pipeline_send = send;
      step.scenario.stack.overlap_slowdown = slowdown;
      EXPECT_EQ(all_of(step.scenario, step.run(kEveryRank).result),
                all_of(step.scenario, step.result()))
          << name(send) << " " << slowdown;
    }
  }
}

TEST(EveryRank, AreNumberedInThePlansOrder) {
  Plan plan;
  plan.pipeline = 2;
  plan.tensor = 3;
  plan.data = 4;
  plan.rank_order = {Dimension::data, Dimension::pipeline, Dimension::tensor, Dimension::context};
  RoundStep step(plan, 1);
  const auto ranks = step.run(kEveryRank).timeline.ranks;
  ASSERT_EQ(ranks.size(), 24U);
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    EXPECT_EQ(ranks[rank].data, static_cast<int>(rank % 4));
    EXPECT_EQ(ranks[rank].stage, static_cast<int>(rank / 4 % 2));
    EXPECT_EQ(ranks[rank].tensor, static_cast<int>(rank / 8));
    EXPECT_EQ(ranks[rank].stands_for, 1);
  }
}

TEST(EveryRank, AreNotMoreThanAMillion) {
  Plan plan;
  plan.data = kMostSimulatedDevices + 1;
  RoundStep step(plan, 1);
  EXPECT_THROW(static_cast<void>(step.run(kEveryRank)), InputError);
  EXPECT_NO_THROW(static_cast<void>(step.run()));
}

TEST(UnequalDevices, LetTheirDataGroupWait) {
  Plan plan;
  plan.data = 2;
  RoundStep step(plan, 2);
  step.costs.tails[0].gradient_sync = 8_us;
  step.scenario.conditions.devices = {{.first = 1, .last = 1, .compute = 2}};
  const StepResult result = step.result();
  // Its optimizer step is slow too; the data it sends is not.
  EXPECT_EQ(ticks(result.iteration_time),
            ticks(2 * (2 * (kForward + kBackward)) + 8_us + 2 * kOptimizer));
  EXPECT_EQ(ticks(result.breakdown.bubble), 0) << "seen from the slow one, which never waits";
}

TEST(UnequalDevices, HoldTheirTensorGroupUpInEveryPass) {
  Plan plan;
  plan.tensor = 2;
  RoundStep step(plan, 2);
  set_transfers(step.costs.kinds.front().forward, 2_us, 2_us);
  step.scenario.conditions.devices = {{.first = 0, .last = 0, .compute = 1.5}};
  const Seconds pass = 1.5 * kForward + 2_us + 1.5 * kBackward;
  // Both begin the next pass together, so the fast one's head start is lost in every transfer.
  EXPECT_EQ(ticks(step.result().iteration_time), ticks(2 * pass + 1.5 * kOptimizer));
}

TEST(UnequalDevices, SlowTheTransfersThatTheyTakePartIn) {
  Plan plan;
  plan.pipeline = 2;
  plan.data = 8;
  RoundStep step(plan, 1);
  for (StageTail& tail : step.costs.tails) {
    tail.gradient_sync = 8_us;
  }
  const Seconds compute = 2 * (kForward + kBackward) + kOptimizer;
  const Seconds quiet = compute + 2 * kSend + 8_us;
  // Data groups fill nodes of eight, messages go between them.
  step.scenario.conditions.devices = {{.first = 3, .last = 3, .node = 1.5}};
  EXPECT_EQ(ticks(step.result().iteration_time), ticks(quiet + 0.5 * 8_us));
  step.scenario.conditions.devices = {{.first = 3, .last = 3, .network = 3}};
  EXPECT_EQ(ticks(step.result().iteration_time), ticks(quiet + 4 * kSend));
}

TEST(UnequalDevices, WaitTogetherUnderContention) {
  RoundStep step = with_everything();
  step.scenario.stack.overlap_slowdown = 1.25;
  const Seconds alike = step.result().iteration_time;
  step.scenario.conditions.devices = {{.first = 2, .last = 2, .compute = 1.125}};
  const Seconds unlike = step.result().iteration_time;
  EXPECT_GT(unlike, alike);
  EXPECT_LT(unlike, 1.25 * alike);
}

// ---- the timeline ------------------------------------------------------------------------------

StepTimeline recorded(const RoundStep& step, bool every_rank) {
  return step.run({.every_rank = every_rank, .record = true}).timeline;
}

TEST(RecordedTimeline, IsOnlyThereOnDemand) {
  const StepTimeline timeline = with_everything().run().timeline;
  EXPECT_TRUE(timeline.spans.empty());
  EXPECT_TRUE(timeline.flows.empty());
  EXPECT_TRUE(timeline.memory.empty());
  EXPECT_GT(timeline.makespan, 0);
}

TEST(RecordedTimeline, HasLanesThatDoOneThingAtATime) {
  for (const PipelineSend send : {PipelineSend::blocking, PipelineSend::overlapped}) {
    RoundStep step = with_everything();
    step.scenario.stack.pipeline_send = send;
    const StepTimeline timeline = recorded(step, true);
    std::map<std::pair<int, DeviceLane>, Ticks> free;
    Ticks last = 0;
    for (const LaneSpan& span : timeline.spans) {
      EXPECT_LT(span.start, span.end);
      EXPECT_GE(span.end, last) << "by end";
      last = span.end;
      Ticks& end = free[{span.rank, span.lane}];
      EXPECT_GE(span.start, end) << name(span.lane);
      end = span.end;
    }
    EXPECT_EQ(last, timeline.makespan);
  }
}

TEST(RecordedTimeline, AddsUpToTheResult) {
  const RoundStep step = with_everything();
  const Simulation simulation = step.run({.record = true});
  std::map<TaskPart, Ticks> busy;
  for (const LaneSpan& span : simulation.timeline.spans) {
    if (span.rank == simulation.result.reference_stage &&
        span.lane != DeviceLane::pipeline_receive) {
      busy[span.part] += span.end - span.start;
    }
  }
  const StepResult& result = simulation.result;
  EXPECT_EQ(busy[TaskPart::forward], ticks(result.breakdown.forward));
  EXPECT_EQ(busy[TaskPart::backward], ticks(result.breakdown.backward));
  EXPECT_EQ(busy[TaskPart::optimizer], ticks(result.breakdown.optimizer));
  EXPECT_EQ(busy[TaskPart::tensor_comm], ticks(result.comm_total.tensor));
  EXPECT_EQ(busy[TaskPart::pipeline_comm], ticks(result.comm_total.pipeline));
  EXPECT_EQ(busy[TaskPart::data_comm], ticks(result.comm_total.data));
  EXPECT_EQ(ticks(result.comm_total.tensor), ticks(4 * (5_us + 5_us)));
  EXPECT_EQ(ticks(result.breakdown.tensor_comm), ticks(4 * (2_us + 2_us))) << "the rest is hidden";
}

TEST(RecordedTimeline, TiesEveryMessageToItsArrivalAtTheNeighbour) {
  const RoundStep step = with_everything();
  const StepTimeline timeline = recorded(step, true);
  // Four micro-batches there and back, for each of four pairs of devices.
  EXPECT_EQ(timeline.flows.size(), 2U * 4U * 4U);
  for (const SpanFlow& flow : timeline.flows) {
    const LaneSpan& from = timeline.spans[flow.from];
    const LaneSpan& to = timeline.spans[flow.to];
    EXPECT_EQ(from.lane, DeviceLane::pipeline_send);
    EXPECT_EQ(to.lane, DeviceLane::pipeline_receive);
    EXPECT_EQ(from.end, to.end);
    EXPECT_EQ(from.micro_batch, to.micro_batch);
    const TimelineRank& sender = timeline.ranks[static_cast<std::size_t>(from.rank)];
    const TimelineRank& receiver = timeline.ranks[static_cast<std::size_t>(to.rank)];
    EXPECT_EQ(sender.stage + receiver.stage, 1);
    EXPECT_EQ(sender.tensor, receiver.tensor);
    EXPECT_EQ(sender.data, receiver.data);
  }
}

TEST(RecordedTimeline, FollowsTheMemoryInUseUpToItsPeak) {
  const RoundStep step = with_everything();
  const Simulation simulation = step.run({.record = true});
  std::vector<Bytes> most(2);
  std::vector<Ticks> last(2, 0);
  for (const MemoryPoint& point : simulation.timeline.memory) {
    const auto rank = static_cast<std::size_t>(point.rank);
    EXPECT_GE(point.tick, last[rank]);
    EXPECT_TRUE(most[rank] > 0_B || point.tick == 0) << "from the beginning on";
    last[rank] = point.tick;
    most[rank] = std::max(most[rank], point.in_use);
  }
  for (std::size_t rank = 0; rank < most.size(); ++rank) {
    EXPECT_EQ(most[rank], simulation.result.ranks[rank].memory.in_use);
  }
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
