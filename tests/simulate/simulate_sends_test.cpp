// Sends, buckets and contention, by hand.
#include <gtest/gtest.h>

#include "simulate/simulations.hpp"

namespace titer {
namespace TITER_TEST_FILE {

using simulations::kBackward;
using simulations::kForward;
using simulations::kOptimizer;
using simulations::kSend;
using simulations::RoundStep;
using simulations::ticks;

RoundStep two_stages(PipelineSend send, int micro_batches = 2) {
  Plan plan;
  plan.pipeline = 2;
  RoundStep step(plan, micro_batches);
  step.scenario.stack.pipeline_send = send;
  return step;
}

TEST(BlockingSends, KeepTheSenderFromComputing) {
  const StepResult result = two_stages(PipelineSend::blocking).result();
  // Stage 0 sends before its second forward pass, stage 1 before its second one too.
  const Seconds first_back = kForward + kSend + kForward + kBackward + kSend;
  const Seconds second_back = first_back + kForward + kBackward + kSend;
  EXPECT_EQ(ticks(result.iteration_time), ticks(second_back + kBackward + kOptimizer));
  EXPECT_EQ(result.reference_stage, 0);
  EXPECT_EQ(ticks(result.breakdown.pipeline_comm), ticks(2 * kSend));
}

TEST(OverlappedSends, LetTheSenderComputeOn) {
  const StepResult result = two_stages(PipelineSend::overlapped).result();
  // Stage 1 has its first input after F + send, and then never waits: the second came beside.
  const Seconds last_stage = kForward + kSend + 2 * (kForward + kBackward);
  EXPECT_EQ(ticks(result.iteration_time), ticks(last_stage + kSend + kBackward + kOptimizer));
  EXPECT_EQ(ticks(result.comm_total.pipeline), ticks(2 * kSend)) << "hidden or not";
  // Stage 0 computes F F, waits, B at 43 for 20, which is through when the second gradient comes:
  // only its second activation is sent while it has nothing to do.
  EXPECT_EQ(ticks(result.breakdown.pipeline_comm), ticks(kSend));
}

TEST(OverlappedSends, GoOneAfterTheOther) {
  RoundStep step = two_stages(PipelineSend::overlapped, 8);
  const Seconds slow = 50_us;
  std::fill(step.costs.send.begin(), step.costs.send.end(), slow);
  step.scenario.plan.schedule = named_schedule("gpipe");
  // All eight forward passes are sent in a row, then all gradients.
  const Seconds forward = kForward + 8 * slow + kForward;
  EXPECT_EQ(ticks(step.result().iteration_time),
            ticks(forward + kBackward + 8 * slow + kBackward + kOptimizer));
}

TEST(OverlappedSends, AreNeverSlowerThanBlockingOnes) {
  for (const int m : {1, 2, 3, 7, 16}) {
    for (const Schedule& schedule : {named_schedule("gpipe"), named_schedule("1f1b")}) {
      Plan plan;
      plan.pipeline = 4;
      plan.schedule = schedule;
      RoundStep step(plan, m);
      const Seconds blocking = step.result().iteration_time;
      step.scenario.stack.pipeline_send = PipelineSend::overlapped;
      EXPECT_LE(step.result().iteration_time, blocking) << m;
    }
  }
}

TEST(BatchedSends, StartWhenBothAreThere) {
  const StepResult result = two_stages(PipelineSend::batched).result();
  // Stage 0 sends its second activation when stage 1 has done its first pair of passes, together
  // with the gradient that comes back.
  const Seconds pair = kForward + kBackward;
  const Seconds exchange = kForward + kSend + pair;
  const Seconds last_stage = exchange + kSend + pair;
  EXPECT_EQ(ticks(result.iteration_time), ticks(last_stage + kSend + kBackward + kOptimizer));
}

TEST(BatchedSends, SayWhichRankWaitsForEver) {
  Plan plan;
  plan.pipeline = 2;
  plan.virtual_stages = 2;
  plan.micro_batch_group = 4;
  RoundStep step(plan, 8);
  step.scenario.stack.pipeline_send = PipelineSend::batched;
  try {
    static_cast<void>(step.run());
    FAIL() << "the last rank cannot send before the first has done its group";
  } catch (const InputError& error) {
    const std::string line = error.lines.front();
    EXPECT_NE(line.find("plan.pipeline_send: batched: rank 0 of the pipeline waits for ever before "
                        "the forward of stage 0, micro-batch "),
              std::string::npos)
        << line;
  }
}

/// Three passes of one device whose gradients are complete half-way and at the end.
RoundStep with_buckets(int micro_batches = 1) {
  Plan plan;
  plan.data = 2;
  RoundStep step(plan, micro_batches);
  step.costs.buckets = {{{.ready = 0.5, .sync = 6_us, .gather = {}, .parameters = {}},
                         {.ready = 1.0, .sync = 6_us, .gather = {}, .parameters = {}}}};
  return step;
}

TEST(GradientBuckets, AreSynchronisedBesideTheLastBackwardPass) {
  const StepResult result = with_buckets().result();
  // The first is through before the second is complete.
  EXPECT_EQ(ticks(result.iteration_time), ticks(kForward + kBackward + 6_us + kOptimizer));
  EXPECT_EQ(ticks(result.breakdown.data_comm), ticks(6_us));
  EXPECT_EQ(ticks(result.comm_total.data), ticks(12_us));
}

TEST(GradientBuckets, WaitForTheLastMicroBatch) {
  const StepResult result = with_buckets(3).result();
  EXPECT_EQ(ticks(result.iteration_time), ticks(3 * (kForward + kBackward) + 6_us + kOptimizer));
}

TEST(GradientBuckets, OfSeveralGoOneAfterTheOther) {
  RoundStep step = with_buckets();
  step.costs.buckets[0][0].sync = 25_us;
  // From half the backward pass on: 10 of the 25 us are beside it.
  EXPECT_EQ(ticks(step.result().iteration_time),
            ticks(kForward + kBackward / 2 + 25_us + 6_us + kOptimizer));
}

TEST(ParameterGathers, RunBesideTheFirstForwardPass) {
  RoundStep step = with_buckets(2);
  for (GradientBucket& bucket : step.costs.buckets[0]) {
    bucket.sync = {};
    bucket.gather = 8_us;
  }
  // The second half of the forward pass waits for the second gather: 16 us, not 8 + 5.
  const StepResult result = step.result();
  EXPECT_EQ(ticks(result.iteration_time),
            ticks(2 * 8_us + kForward / 2 + kBackward + kForward + kBackward + kOptimizer));
  EXPECT_EQ(ticks(result.breakdown.data_comm), ticks(8_us + 8_us - kForward / 2));
}

TEST(Contention, SlowsComputeAndCommunicationWhileBothRun) {
  RoundStep step = with_buckets();
  step.scenario.stack.overlap_slowdown = 1.5;
  // Beside compute, 6 us of transfer take 9, in which 6 us of compute are done; 4 us are left.
  const Seconds backward = kBackward / 2 + 1.5 * 6_us + 4_us;
  EXPECT_EQ(ticks(step.result().iteration_time), ticks(kForward + backward + 6_us + kOptimizer));
}

TEST(Contention, ChangesNothingWhereNothingRunsSideBySide) {
  RoundStep step = two_stages(PipelineSend::blocking, 5);
  const std::string quiet = simulations::all_of(step.scenario, step.result());
  step.scenario.stack.overlap_slowdown = 1.5;
  EXPECT_EQ(simulations::all_of(step.scenario, step.result()), quiet);
}

TEST(Contention, MakesTransfersShareALink) {
  // Both directions of a message and a bucket of gradients go through the network here, and the
  // device has nothing to compute meanwhile.
  Plan plan;
  plan.pipeline = 2;
  plan.data = 8;
  plan.rank_order = {Dimension::tensor, Dimension::context, Dimension::data, Dimension::pipeline};
  RoundStep step(plan, 1);
  step.scenario.stack.pipeline_send = PipelineSend::overlapped;
  const std::vector<GradientBucket> buckets = {
      {.ready = 1.0, .sync = 30_us, .gather = {}, .parameters = {}}};
  step.costs.buckets = {buckets, buckets};
  const Seconds alone = step.result().iteration_time;
  step.scenario.stack.overlap_slowdown = 1.1;
  // Data groups fill a node, messages leave it: no link is shared, but the device's SMs are.
  EXPECT_EQ(ticks(alone), ticks(2 * kForward + 2 * kSend + 2 * kBackward + 30_us + kOptimizer));
  EXPECT_EQ(step.result().iteration_time, alone);
  // In one node the gradient's message and the bucket go out over the same link, each at half
  // speed: the message takes 3 us longer. The last stage is not the one that ends last.
  plan.data = 4;
  RoundStep near(plan, 1);
  near.scenario.stack = step.scenario.stack;
  near.costs.buckets = step.costs.buckets;
  EXPECT_EQ(ticks(near.result().iteration_time), ticks(alone + kSend));
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
