// Steps whose devices differ, and steps with noise.

#include <gtest/gtest.h>

#include <map>

#include "plan/plans.hpp"
#include "simulate/simulations.hpp"
#include "titer/estimate/device_classes.hpp"
#include "titer/simulate/meetings.hpp"
#include "titer/simulate/samples.hpp"

namespace titer {
namespace TITER_TEST_FILE {

using simulations::all_of;
using simulations::kBackward;
using simulations::kForward;
using simulations::kOptimizer;
using simulations::RoundStep;
using simulations::ticks;

using plans::plan_of;

void give_transfers(StepCosts& costs) {
  for (PassCost* cost : {&costs.kinds.front().forward, &costs.kinds.front().backward}) {
    set_transfers(*cost, 2_us, 5_us);
  }
  for (StageTail& tail : costs.tails) {
    tail.gradient_sync = 8_us;
  }
}

// ---- noise of transfers ------------------------------------------------------------------------

Conditions noisy_transfers() {
  Conditions conditions;
  conditions.transfer_jitter = Jitter{.spread = Spread::gamma, .deviation = 0.2};
  return conditions;
}

TEST(TransferNoise, LengthensATransferByTheDrawOfItsFirstDevice) {
  RoundStep step(plan_of(1, 1, 2), 2);
  step.costs.tails[0].gradient_sync = 8_us;
  step.scenario.conditions = noisy_transfers();
  for (std::uint32_t sample = 0; sample < 5; ++sample) {
    const auto kind = static_cast<std::uint64_t>(Affected::data);
    const double noise = step.scenario.conditions.transfer_noise(0, kind, sample);
    EXPECT_NE(noise, 1.0);
    EXPECT_EQ(ticks(step.run({.sample = sample}).result.iteration_time),
              ticks(2 * (kForward + kBackward) + noise * 8_us + kOptimizer));
  }
}

/// What each device's lane did, in order.
std::map<std::pair<int, DeviceLane>, std::vector<Ticks>> durations_of(
    const StepTimeline& timeline) {
  std::map<std::pair<int, DeviceLane>, std::vector<Ticks>> durations;
  for (const LaneSpan& span : timeline.spans) {
    durations[{span.rank, span.lane}].push_back(span.end - span.start);
  }
  return durations;
}

TEST(TransferNoise, IsTheSameForAllThatTakePart) {
  RoundStep step(plan_of(2, 2, 4), 3);
  give_transfers(step.costs);
  step.scenario.conditions = noisy_transfers();
  auto durations = durations_of(step.run({.record = true, .sample = 3}).timeline);
  for (int rank = 0; rank < 16; ++rank) {
    // The tensor group's other member is a neighbour, the data group's are two apart.
    const auto tensor = durations[{rank, DeviceLane::tensor_comm}];
    EXPECT_EQ(tensor.size(), 2U * 2U * 3U) << "exposed and beside compute";
    EXPECT_EQ(tensor, (durations[{rank ^ 1, DeviceLane::tensor_comm}]));
    EXPECT_NE(tensor, (durations[{rank ^ 2, DeviceLane::tensor_comm}])) << "another group";
    const auto data = durations[{rank, DeviceLane::data_comm}];
    EXPECT_EQ(data, (durations[{rank ^ 2, DeviceLane::data_comm}]));
    EXPECT_NE(data, (durations[{rank ^ 1, DeviceLane::data_comm}])) << "another group";
    EXPECT_NE((durations[{rank, DeviceLane::pipeline_send}]),
              (durations[{rank ^ 1, DeviceLane::pipeline_send}]));
    EXPECT_EQ((durations[{rank, DeviceLane::compute}][0]), ticks(kForward)) << "is not noisy";
  }
}

TEST(TransferNoise, LeavesTheMeanWhereItIs) {
  RoundStep step(plan_of(1, 1, 2), 1);
  step.costs.tails[0].gradient_sync = 800_us;
  step.scenario.conditions = noisy_transfers();
  std::vector<Seconds> times;
  for (std::uint32_t sample = 0; sample < 2000; ++sample) {
    times.push_back(step.run({.sample = sample}).result.iteration_time);
  }
  const SampleStatistics found = statistics(times, kForward + kBackward + 800_us + kOptimizer);
  EXPECT_NEAR(found.mean.si(), found.quiet.si(), 4 * found.standard_error()->si());
  EXPECT_NEAR(found.deviation->si(), 0.2 * 800e-6, 0.1 * 0.2 * 800e-6);
}

TEST(Noise, OfNoDeviationSaysWhatTheFoldedStepSays) {
  RoundStep step(plan_of(2, 2, 2), 4);
  give_transfers(step.costs);
  const std::string folded = all_of(step.scenario, step.result());
  Scenario quiet = step.scenario;
  step.scenario.conditions.compute_jitter = Jitter{.spread = Spread::normal, .deviation = 0};
  step.scenario.conditions.transfer_jitter = Jitter{.spread = Spread::gamma, .deviation = 0};
  EXPECT_EQ(all_of(quiet, step.run({.sample = 9}).result), folded);
}

TEST(Noise, IsTheSameOnAnyNumberOfThreads) {
  RoundStep step(plan_of(2, 2, 2), 4);
  give_transfers(step.costs);
  step.scenario.conditions = noisy_transfers();
  step.scenario.conditions.compute_jitter = Jitter{.spread = Spread::lognormal, .deviation = 0.1};
  step.scenario.conditions.stragglers = Stragglers{.probability = 0.05, .slowdown = 2};
  const auto times = [&](unsigned threads) {
    return sample_times(
        {.count = 60, .threads = threads},
        [&](std::uint32_t sample) { return step.run({.sample = sample}).result.iteration_time; },
        [](std::size_t /*done*/) {});
  };
  const std::vector<Seconds> alone = times(1);
  EXPECT_EQ(alone, times(2));
  EXPECT_EQ(alone, times(7));
  EXPECT_NE(alone[0], alone[1]);
}

// The law of slow-down with scale: replicas of equal passes that wait for the slowest of them.
TEST(Noise, SlowsAStepOfMoreReplicasAsTheLawSays) {
  for (const Spread spread : {Spread::normal, Spread::gamma}) {
    double before = 1;
    for (const std::int64_t replicas : {2, 8, 32}) {
      constexpr int micro_batches = 4;
      RoundStep step(plan_of(1, 1, replicas), micro_batches);
      step.costs.kinds.front().backward.compute = kForward;
      step.costs.tails[0] = {};
      const Jitter jitter{.spread = spread, .deviation = 0.08};
      step.scenario.conditions.compute_jitter = jitter;
      const std::vector<Seconds> times = sample_times(
          {.count = 1000, .threads = 2},
          [&](std::uint32_t sample) { return step.run({.sample = sample}).result.iteration_time; },
          [](std::size_t /*done*/) {});
      const SampleStatistics found = statistics(times, 2 * micro_batches * kForward);
      const double error = *found.standard_error() / found.quiet;
      const double law = expected_slowdown(jitter, replicas, 2 * micro_batches);
      EXPECT_NEAR(found.slowdown(), law, 4 * error) << static_cast<int>(spread) << " " << replicas;
      EXPECT_GT(law, before + 8 * error) << "what the test can tell apart";
      before = law;
    }
  }
}

// ---- slower devices ----------------------------------------------------------------------------

// The book's K80 is half as fast as a V100: with a third of the layers it is through when the other
// one is. [F53]
TEST(MixedSpeeds, AreThroughTogetherWhereTheSlowStageHasAThirdOfTheLayers) {
  constexpr int micro_batches = 64;
  const auto with_layers = [](const std::vector<std::int64_t>& layers) {
    Plan plan = plan_of(2, 1, 1);
    plan.layers = layers;
    RoundStep step(plan, micro_batches);
    for (StageTail& tail : step.costs.tails) {
      tail = {};
    }
    step.scenario.conditions.devices = {{.first = 0, .last = 0, .compute = 1 / 0.5}};
    return step.result();
  };
  const StepResult thirds = with_layers({2, 4});
  EXPECT_EQ(ticks(thirds.ranks[0].compute),
            ticks(micro_batches * 2 * 2.0 * (kForward + kBackward)));
  EXPECT_EQ(thirds.ranks[0].compute, thirds.ranks[1].compute);
  const StepResult halves = with_layers({3, 3});
  EXPECT_EQ(ticks(halves.ranks[0].compute), 2 * ticks(halves.ranks[1].compute));
  // The slow stage's work bounds both: 3 layers against 2. Sends and the bubble come on top.
  EXPECT_NEAR(halves.iteration_time / thirds.iteration_time, 3.0 / 2, 0.05);
}

// Data-parallel replicas wait for the slowest. [F55]
TEST(MixedSpeeds, OfReplicasMakeTheStepAsLongAsTheSlowestTakes) {
  constexpr int micro_batches = 3;
  RoundStep step(plan_of(1, 1, 4), micro_batches);
  step.costs.tails[0].gradient_sync = 8_us;
  const Seconds work = micro_batches * (kForward + kBackward);
  step.scenario.conditions.devices = {{.first = 0, .last = 0, .compute = 1.25},
                                      {.first = 1, .last = 1, .compute = 1.5},
                                      {.first = 3, .last = 3, .compute = 0.5}};
  EXPECT_EQ(ticks(step.result().iteration_time), ticks(1.5 * work + 8_us + 1.5 * kOptimizer));
  // As long as with all of them as slow.
  const Seconds one = step.result().iteration_time;
  step.scenario.conditions.devices = {{.first = 0, .last = 3, .compute = 1.5}};
  EXPECT_EQ(step.result().iteration_time, one);
}

TEST(DegradedLinks, SlowExactlyTheTransfersThroughThem) {
  RoundStep step(plan_of(2, 2, 4), 3);  // a pipeline rank is a node of eight
  give_transfers(step.costs);
  const auto quiet = durations_of(step.run({.every_rank = true, .record = true}).timeline);
  const auto slowed = [&](const DeviceCondition& condition) {
    step.scenario.conditions.devices = {condition};
    std::vector<std::pair<int, DeviceLane>> lanes;
    for (const auto& [lane, durations] : durations_of(step.run({.record = true}).timeline)) {
      if (durations != quiet.at(lane)) {
        EXPECT_EQ(durations[0], 2 * quiet.at(lane)[0]);
        lanes.push_back(lane);
      }
    }
    return lanes;
  };
  using Lanes = std::vector<std::pair<int, DeviceLane>>;
  const Lanes sends = {{3, DeviceLane::pipeline_send}, {11, DeviceLane::pipeline_send}};
  Lanes through_nic = slowed({.first = 3, .last = 3, .network = 2});
  std::erase_if(through_nic,
                [](const auto& lane) { return lane.second == DeviceLane::pipeline_receive; });
  EXPECT_EQ(through_nic, sends);
  Lanes in_node = {{1, DeviceLane::data_comm},
                   {2, DeviceLane::tensor_comm},
                   {3, DeviceLane::tensor_comm},
                   {3, DeviceLane::data_comm},
                   {5, DeviceLane::data_comm},
                   {7, DeviceLane::data_comm}};
  std::sort(in_node.begin(), in_node.end());
  EXPECT_EQ(slowed({.first = 3, .last = 3, .node = 2}), in_node);
}

// ---- other chips -------------------------------------------------------------------------------

/// GPT-3 on 64 A100, a node for each of its eight stages.
Scenario mixed(const std::string& devices, std::vector<std::string> more = {}) {
  more.insert(more.begin(), {"training.global_batch=32", "plan.virtual_stages=1"});
  if (!devices.empty()) {
    more.push_back(R"(conditions={"devices": [)" + devices + "]}");
  }
  return scenarios::shipped_run(more);
}

TEST(OtherChips, OfAllDevicesTakeWhatThatChipTakes) {
  const Scenario all = mixed(R"({"devices": "0-63", "chip": "h100-sxm5-80gb"})");
  Scenario alone = mixed("");
  const Seconds before = simulate(alone).result.iteration_time;
  alone.cluster.chip = all.conditions.chips.at(0);
  const StepResult expected = simulate(alone).result;
  const StepResult result = simulate(all).result;
  EXPECT_EQ(result.iteration_time, expected.iteration_time);
  EXPECT_EQ(result.mfu, expected.mfu);
  EXPECT_EQ(result.memory_capacity, expected.memory_capacity);
  EXPECT_EQ(result.grade, expected.grade);
  EXPECT_LT(result.iteration_time, before);
}

TEST(OtherChips, OfOneStageHoldTheOthersUp) {
  const StepResult alike = simulate(mixed("")).result;
  const StepResult one = simulate(mixed(R"({"nodes": 2, "chip": "v100-sxm2-32gb"})")).result;
  const StepResult all = simulate(mixed(R"({"nodes": "0-7", "chip": "v100-sxm2-32gb"})")).result;
  EXPECT_GT(one.ranks[2].compute, 1.5 * alike.ranks[2].compute);
  EXPECT_EQ(one.ranks[2].compute, all.ranks[2].compute);
  EXPECT_EQ(one.ranks[3].compute, alike.ranks[3].compute);
  EXPECT_GT(one.iteration_time, 1.3 * alike.iteration_time);
  EXPECT_LT(one.iteration_time, all.iteration_time);
  EXPECT_EQ(one.memory_capacity, 32_GiB);
}

TEST(OtherChips, CountInTheMeanPeakByTheirNumber) {
  const Scenario one = mixed(R"({"devices": "0-15", "chip": "v100-sxm2-32gb"})");
  const FlopsPerSecond a100 = one.cluster.chip.rate(DataType::fp16)->peak;
  const FlopsPerSecond v100 = one.conditions.chips.at(0).rate(DataType::fp16)->peak;
  EXPECT_DOUBLE_EQ(mean_peak(one).si(), (0.75 * a100 + 0.25 * v100).si());
}

TEST(OtherChips, InATensorGroupSetItsPace) {
  const StepResult one = simulate(mixed(R"({"devices": 21, "chip": "v100-sxm2-32gb"})")).result;
  const StepResult node = simulate(mixed(R"({"nodes": 2, "chip": "v100-sxm2-32gb"})")).result;
  EXPECT_EQ(one.iteration_time, node.iteration_time);
}

TEST(OtherChips, WorkWithEverySchedule) {
  const std::string others =
      R"({"nodes": "1,5", "chip": "v100-sxm2-32gb"}, {"nodes": 7, "chip": "h100-sxm5-80gb"})";
  for (const auto& [schedule, chunks] : std::map<std::string, int>{
           {"gpipe", 1}, {"zb-h1", 1}, {"zb-v", 2}, {"dualpipe", 1}, {"dualpipev", 2}}) {
    const std::vector<std::string> changes = {"plan.schedule=" + schedule,
                                              "plan.virtual_stages=" + std::to_string(chunks)};
    EXPECT_GT(simulate(mixed(others, changes)).result.iteration_time,
              simulate(mixed("", changes)).result.iteration_time)
        << schedule;
  }
}

TEST(OtherChips, NeedCostsOfEachOfThem) {
  const Scenario scenario = mixed(R"({"nodes": 2, "chip": "v100-sxm2-32gb"})");
  const std::vector<StepCosts> costs = class_costs(scenario);
  EXPECT_THROW(static_cast<void>(simulate(scenario, costs.front())), Defect);
  EXPECT_EQ(simulate(scenario, costs).result.iteration_time,
            simulate(scenario).result.iteration_time);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
