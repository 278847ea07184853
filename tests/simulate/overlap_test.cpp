// The closed form of a step in which something runs beside the passes.

#include <gtest/gtest.h>

#include "scenario/plain.hpp"
#include "titer/simulate/evaluate.hpp"

namespace titer {
namespace TITER_TEST_FILE {

constexpr int kRandomScenarios = 200;
/// Every duration of a step is rounded to a picosecond; no step here has more than a million.
constexpr double kRounding = 0.5e-12 * 1e6;

Seconds time_of(const Scenario& scenario) { return estimate(scenario).iteration_time; }

Scenario without_overlap(Scenario scenario) {
  scenario.plan.pipeline_send = PipelineSend::blocking;
  scenario.plan.overlap_grad_reduce = false;
  scenario.plan.overlap_param_gather = false;
  return scenario;
}

TEST(Overlap, BreaksTheIterationTimeDownIntoPartsThatAddUp) {
  scenarios::Maker maker(41, true);
  int hidden = 0;
  for (int i = 0; i < kRandomScenarios; ++i) {
    const Scenario scenario = maker.next();
    const StepResult result = estimate(scenario);
    const std::string text = scenarios::text_of(scenario);
    EXPECT_NEAR(result.breakdown.total().si(),
                result.iteration_time.si(),
                1e-12 * result.iteration_time.si())
        << text;
    for (const BreakdownPart& part : kBreakdownParts) {
      EXPECT_GE((result.breakdown.*part.value).si(), -kRounding) << text << ": " << part.name;
    }
    EXPECT_LE(result.breakdown.pipeline_comm.si(), result.comm_total.pipeline.si() + kRounding);
    EXPECT_LE(result.breakdown.data_comm.si(), result.comm_total.data.si() + kRounding) << text;
    hidden += result.breakdown.data_comm.si() < 0.9 * result.comm_total.data.si() ? 1 : 0;
  }
  EXPECT_GT(hidden, 10);
}

TEST(Overlap, OfSendsTakesNoLongerThanNone) {
  scenarios::Maker maker(42, true);
  for (int i = 0; i < kRandomScenarios; ++i) {
    const Scenario scenario = maker.next();
    Scenario blocking = scenario;
    blocking.plan.pipeline_send = PipelineSend::blocking;
    Scenario overlapped = scenario;
    overlapped.plan.pipeline_send = PipelineSend::overlapped;
    EXPECT_LE(time_of(overlapped).si(), time_of(blocking).si() + kRounding)
        << scenarios::text_of(scenario);
  }
}

/// One bucket per stage costs what the tail costs, and may begin earlier where a rank has several
/// stages; many buckets pay their start-up each, which round machines do not have.
TEST(Overlap, OfGradientsTakesNoLongerThanNoneWhereBucketsCostNoMore) {
  for (const std::int64_t v : {1, 2}) {
    for (const double bucket : {1e6, 60e6, 1e15}) {
      Plan plan;
      plan.pipeline = 2;
      plan.tensor = 8;
      plan.data = 4;
      plan.virtual_stages = v;
      plan.sharding = Sharding::zero1;
      plan.overlap_grad_reduce = true;
      plan.overlap_param_gather = true;
      Scenario scenario = plain::scenario(plan);
      for (Protocol& protocol : scenario.cluster.network_protocols) {
        protocol.latency = {};
      }
      scenario.stack.bucket_parameters = bucket;
      scenario.stack.bucket_parameters_per_rank = 0;
      EXPECT_LE(time_of(scenario).si(), time_of(without_overlap(scenario)).si() + kRounding)
          << v << " chunks, buckets of " << bucket;
    }
  }
}

TEST(Overlap, HidesTheGradientsOfAllButTheLastBucketBehindALongPass) {
  Plan plan;
  plan.tensor = 8;
  plan.data = 2;
  plan.overlap_grad_reduce = true;
  Scenario scenario = plain::scenario(plan);
  scenario.training.sequence = 1024;
  scenario.plan.micro_batch = 4;
  scenario.training.global_batch = 4 * 2;
  scenario.cluster.nic_bandwidth = 1000 * scenario.cluster.nic_bandwidth;
  scenario.stack.bucket_parameters = 1;
  scenario.stack.bucket_parameters_per_rank = 0;
  StepCosts costs;
  step_costs(scenario, costs);
  const StepResult result = estimate(scenario);
  EXPECT_NEAR(result.breakdown.data_comm.si(), costs.buckets[0].back().sync.si(), 1e-11);
}

TEST(Overlap, MakesNoDifferenceToMessagesThatTakeNoTime) {
  Plan plan;
  plan.pipeline = 4;
  plan.tensor = 2;
  plan.virtual_stages = 2;
  Scenario scenario = plain::scenario(plan);
  for (auto* protocols : {&scenario.cluster.node_protocols,
                          &scenario.cluster.peer_protocols,
                          &scenario.cluster.network_protocols}) {
    for (Protocol& protocol : *protocols) {
      protocol.latency = {};
    }
  }
  for (auto& bandwidth : scenario.cluster.pair_bandwidths) {
    bandwidth = bandwidth ? std::optional(1e12 * *bandwidth) : std::nullopt;
  }
  scenario.plan.pipeline_send = PipelineSend::overlapped;
  EXPECT_EQ(time_of(scenario), time_of(without_overlap(scenario)));
}

TEST(Overlap, NeverLosesByMoreBandwidth) {
  scenarios::Maker maker(43, true);
  for (int i = 0; i < kRandomScenarios; ++i) {
    const Scenario scenario = maker.next();
    Scenario faster = scenario;
    faster.cluster.nic_bandwidth = 1.7 * faster.cluster.nic_bandwidth;
    EXPECT_LE(time_of(faster).si(), time_of(scenario).si() + kRounding)
        << scenarios::text_of(scenario);
  }
}

TEST(Overlap, IsRefusedWhereItHasNoClosedForm) {
  Scenario scenario = scenarios::shipped_run({"plan.pipeline_send=batched"});
  Estimator estimator;
  StepResult result;
  try {
    evaluate(scenario, Fidelity::closed, estimator, result);
    FAIL() << "batched sends have no closed form";
  } catch (const InputError& error) {
    ASSERT_EQ(error.lines.size(), 1U);
    EXPECT_EQ(error.lines[0],
              "plan.pipeline_send: batched: expected the fidelity event: when ranks meet to "
              "exchange messages has no closed form here");
  }
}

TEST(OverlapChecks, NameWhatIsMissing) {
  const auto only = [](const Scenario& scenario) {
    const auto violations = validate(scenario);
    return violations.size() == 1 ? violations.front().text()
                                  : std::to_string(violations.size()) + " violations";
  };
  Scenario scenario = scenarios::shipped_run({"plan.overlap_grad_reduce=true"});
  EXPECT_TRUE(validate(scenario).empty());
  scenario.plan.overlap_param_gather = true;
  EXPECT_EQ(only(scenario),
            "plan.overlap_param_gather: true: expected the sharding zero1, whose updated "
            "parameters are gathered");
  scenario.plan.sharding = Sharding::zero1;
  scenario.plan.overlap_grad_reduce = false;
  EXPECT_EQ(only(scenario),
            "plan.overlap_param_gather: true: expected overlap_grad_reduce too: parameters are "
            "gathered by the buckets of gradients");
  scenario.plan.overlap_grad_reduce = true;
  scenario.stack.bucket_parameters = 0;
  scenario.stack.bucket_parameters_per_rank = 0;
  EXPECT_EQ(only(scenario),
            "plan.overlap_grad_reduce: true: expected a stack with bucket_parameters, which "
            "megatron-lm has not");
  scenario = scenarios::shipped_run({"plan.virtual_stages=1"});
  scenario.plan.micro_batch_group = 9;
  EXPECT_EQ(only(scenario),
            "plan.micro_batch_group: 9: expected the schedule 1f1b interleaved: virtual_stages of "
            "at least 2");
  for (const Schedule& schedule :
       std::initializer_list<Schedule>{named_schedule("breadth-first"), named_schedule("hanayo")}) {
    scenario = scenarios::shipped_run({"plan.virtual_stages=2"});
    scenario.plan.schedule = schedule;
    EXPECT_TRUE(validate(scenario).empty()) << name(schedule);
    scenario.plan.micro_batch_group = 9;
    EXPECT_EQ(only(scenario),
              "plan.micro_batch_group: 9: expected the schedule 1f1b interleaved: virtual_stages "
              "of at least 2")
        << name(schedule);
  }
}

TEST(OverlapDefaults, AreTheStacksWhereTheyApply) {
  Scenario scenario = scenarios::shipped_run();
  scenario.stack = shipped::stack("megatron-core");
  EXPECT_EQ(scenario.pipeline_send(), PipelineSend::overlapped) << "interleaved";
  EXPECT_TRUE(scenario.overlap_grad_reduce());
  EXPECT_FALSE(scenario.overlap_param_gather()) << "nothing is sharded";
  EXPECT_TRUE(validate(scenario).empty());
  scenario.plan.virtual_stages = 1;
  scenario.plan.sharding = Sharding::zero1;
  EXPECT_EQ(scenario.pipeline_send(), PipelineSend::blocking);
  EXPECT_TRUE(scenario.overlap_param_gather());
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
