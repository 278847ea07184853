#include "titer/report/file/goal_export.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "paths.hpp"
#include "plan/blocks.hpp"
#include "plan/plans.hpp"
#include "report/goal_schedules.hpp"
#include "scenario/plain.hpp"
#include "temporary_folder.hpp"
#include "titer/estimate/estimate.hpp"

namespace titer {
namespace TITER_TEST_FILE {

using plans::plan_of;

std::string goal_text(const Scenario& scenario, ExportDetail detail = ExportDetail::pass) {
  std::string text;
  write_goal(ExportedStep(scenario, detail), [&](std::string_view part) { text += part; });
  return text;
}

double on(const Link& link, std::int64_t bytes) {
  return 1e9 * (link.latency + Bytes::from_si(static_cast<double>(bytes)) / link.bandwidth).si();
}

double nanoseconds(Seconds time) { return 1e9 * time.si(); }

TEST(GoalExport, RunsAPipelineInTheTimeOfTheClosedForm) {
  for (const ExportDetail detail :
       {ExportDetail::pass, ExportDetail::layer, ExportDetail::operation}) {
    Plan plan = plan_of(4, 1, 1);
    plan.recompute = Recompute::full;
    const Scenario scenario = plain::scenario(plan);
    const goal::Schedule schedule = goal::read(goal_text(scenario, detail));
    ASSERT_EQ(schedule.size(), 4u);
    const auto taken = goal::run(schedule, [](int /*from*/, int /*to*/, std::int64_t bytes) {
      return on(plain::kInside, bytes);
    });
    ASSERT_TRUE(taken.has_value());
    // A nanosecond for every rank on the way; its calculations add up to the right sum.
    const double closed = nanoseconds(estimate(scenario).iteration_time);
    EXPECT_NEAR(*taken, closed, 2.0 * 4.0 * 8.0);
    EXPECT_GT(closed, 1e6);
  }
}

TEST(GoalExport, CopiesFromAndToTheHostOnASecondProcessor) {
  Scenario scenario = plain::scenario(plan_of(1, 1, 2));
  const auto copies = [&] {
    const std::string text = goal_text(scenario);
    int count = 0;
    for (std::size_t at = text.find(" cpu 1\n"); at != std::string::npos;
         at = text.find(" cpu 1\n", at + 1)) {
      ++count;
    }
    return count;
  };
  EXPECT_EQ(copies(), 0);
  scenario.cluster.host_memory =
      HostTier{.capacity = 1000_GB, .bandwidth = 100_GBps, .per_device = 10_GBps};
  scenario.plan.offload.optimizer = HostPlace::host;
  EXPECT_EQ(copies(), 2) << "each rank's optimizer state";
}

TEST(GoalExport, RunsAnAllReduceAsTheRingOfItsFormula) {
  const Scenario scenario = plain::scenario(plan_of(1, 1, 4));
  const StepResult closed = estimate(scenario);
  const auto taken = goal::run(
      goal::read(goal_text(scenario)),
      [](int /*from*/, int /*to*/, std::int64_t bytes) { return on(plain::kInside, bytes); });
  ASSERT_TRUE(taken.has_value());
  EXPECT_GT(closed.breakdown.data_comm, 1_ms);
  EXPECT_NEAR(*taken, nanoseconds(closed.iteration_time), 10.0);
}

/// Reduces to each rank of its gradients, and broadcasts from each of what it has updated, in the
/// same time: chains of fewer blocks than the formula's best, so that they take somewhat longer.
TEST(GoalExport, RunsChainsOneAfterTheOther) {
  const auto taken = [](bool reduces, bool broadcasts) {
    Plan plan = plan_of(1, 1, 4);
    plan.sharding = Sharding::zero2;
    plan.reduce_every_pass = false;
    plan.overlap_grad_reduce = false;
    plan.overlap_param_gather = false;
    if (reduces) {
      plan.gradient_collective = GradientCollective::reduce;
    }
    Scenario scenario = plain::scenario(plan);
    scenario.stack.broadcasts_updates = broadcasts;
    EXPECT_TRUE(validate(scenario).empty());
    const goal::Schedule schedule = goal::read(goal_text(scenario));
    EXPECT_EQ(goal::ends(schedule, 's'), goal::ends(schedule, 'r'));
    const auto executed = goal::run(schedule, [](int /*from*/, int /*to*/, std::int64_t bytes) {
      return on(plain::kInside, bytes);
    });
    const double closed = nanoseconds(estimate(scenario).iteration_time);
    EXPECT_TRUE(executed.has_value());
    EXPECT_NEAR(executed.value_or(0) / closed, 1.0, 0.03) << reduces << broadcasts;
    return executed.value_or(0);
  };
  const double at_once = taken(false, false);
  const double reduces = taken(true, false) - at_once;
  const double broadcasts = taken(false, true) - at_once;
  EXPECT_GT(reduces, 0.01 * at_once);
  EXPECT_NEAR(broadcasts / reduces, 1.0, 1e-6) << "weights and gradients have two bytes each";
}

TEST(GoalExport, RunsTensorParallelTransfersAsRings) {
  Plan plan = plan_of(2, 4, 1);
  plan.sequence_parallel = true;
  const Scenario scenario = plain::scenario(plan);
  const auto taken = goal::run(
      goal::read(goal_text(scenario, ExportDetail::layer)),
      [](int /*from*/, int /*to*/, std::int64_t bytes) { return on(plain::kInside, bytes); });
  ASSERT_TRUE(taken.has_value());
  const double closed = nanoseconds(estimate(scenario).iteration_time);
  EXPECT_NEAR(*taken / closed, 1.0, 1e-5);
}

TEST(GoalExport, HasOneReceiveForEverySendWithItsBytesAndTag) {
  for (const Sharding sharding : {Sharding::none, Sharding::zero1}) {
    for (const bool buckets : {false, true}) {
      Plan plan = plan_of(2, 2, 2);
      plan.sharding = sharding;
      plan.overlap_grad_reduce = buckets;
      plan.pipeline_send = buckets ? PipelineSend::overlapped : PipelineSend::blocking;
      const Scenario scenario = plain::scenario(plan);
      const goal::Schedule schedule = goal::read(goal_text(scenario, ExportDetail::layer));
      const goal::Ends sends = goal::ends(schedule, 's');
      EXPECT_EQ(sends, goal::ends(schedule, 'r'));
      EXPECT_GT(sends.size(), 100u);
      for (const auto& [key, bytes] : sends) {
        EXPECT_EQ(bytes.size(), 1u) << "a tag twice";
        EXPECT_GE(bytes.front(), 1);
      }
      EXPECT_TRUE(goal::run(schedule, [](int, int, std::int64_t) { return 1.0; }).has_value());
    }
  }
}

TEST(GoalExport, RunsSchedulesOfEveryPlacementToTheEnd) {
  for (const Schedule& schedule : {named_schedule("zb-h1"),
                                   named_schedule("zb-v"),
                                   named_schedule("dualpipe"),
                                   named_schedule("chimera"),
                                   named_schedule("hanayo")}) {
    Plan plan = plan_of(4, 2, 2);
    plan.schedule = schedule;
    plan.virtual_stages = usual_chunks(schedule);
    plan.sharding = Sharding::zero1;
    plan.overlap_grad_reduce = true;
    plan.overlap_param_gather = true;
    Scenario scenario = plain::scenario(plan);
    scenario.stack.bucket_parameters = 40e6;
    ASSERT_TRUE(validate(scenario).empty()) << name(schedule);
    const goal::Schedule read = goal::read(goal_text(scenario, ExportDetail::layer));
    EXPECT_EQ(goal::ends(read, 's'), goal::ends(read, 'r')) << name(schedule);
    EXPECT_TRUE(goal::run(read, [](int, int, std::int64_t) { return 1.0; }).has_value())
        << name(schedule);
  }
}

TEST(GoalExport, SendsTheVolumeOfTheAlgorithms) {
  // 2 (d-1)/d S each way round the ring, by each of d ranks.
  const Scenario scenario = plain::scenario(plan_of(1, 1, 8));
  double sent = 0;
  for (const auto& [key, bytes] : goal::ends(goal::read(goal_text(scenario)), 's')) {
    sent += static_cast<double>(bytes.front());
  }
  const double gradients =
      rank_parameters(scenario.model, scenario.plan, 0) * size_of(scenario.gradient_type()).si();
  EXPECT_NEAR(sent, 8.0 * 2.0 * 7.0 / 8.0 * gradients, 8.0 * 14.0);
}

TEST(GoalExport, LeavesOutAlgorithmsInWhichSwitchesAdd) {
  ScenarioSource source = ScenarioSource::load("llama3-70b-64xh100");
  const Scenario shipped = source.read();
  Scenario scenario = plain::scenario(plan_of(1, 1, 8));
  scenario.cluster = shipped.cluster;
  scenario.cluster.nodes.reset();
  ASSERT_TRUE(validate(scenario).empty());
  const goal::Schedule schedule = goal::read(goal_text(scenario));
  EXPECT_EQ(schedule.size(), 8u) << "the ranks alone";
  EXPECT_EQ(goal::ends(schedule, 's'), goal::ends(schedule, 'r'));
}

TEST(GoalExport, WritesTheSameBytesTwice) {
  const Scenario scenario = plain::scenario(plan_of(2, 2, 2));
  EXPECT_EQ(goal_text(scenario), goal_text(scenario));
}

TEST(GoalExport, IsReadByWhatReadsAPublishedSchedule) {
  const std::filesystem::path sample =
      testing::root() / "../shared/samples/goal/binary_tree_32.goal";
  if (!std::filesystem::exists(sample)) {
    GTEST_SKIP() << sample << " is not there";
  }
  const goal::Schedule schedule = goal::read(testing::file_text(sample));
  ASSERT_EQ(schedule.size(), 32u);
  EXPECT_EQ(goal::ends(schedule, 's').size(), 31u);  // to every rank but the root, once
  // A binomial tree of 32 takes 5 rounds; its sends start together here.
  EXPECT_EQ(goal::run(schedule, [](int, int, std::int64_t) { return 1.0; }), 5.0);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
