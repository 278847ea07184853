#include "titer/campaign/training_time.hpp"

#include <gtest/gtest.h>

namespace titer {
namespace TITER_TEST_FILE {

Seconds hours(double count) { return Seconds::from_si(count * 3600); }
Frequency once_in(Seconds time) { return Frequency::from_si(1 / time.si()); }

BreakingJob job_of(Seconds mtbf) {
  BreakingJob job;
  job.rates.hardware = once_in(mtbf);
  job.checkpoint = 120_s;
  job.restart = 900_s;
  job.interval = daly_interval(job.checkpoint, mtbf);
  job.replicas = 20;
  job.spare_nodes = 1000;
  job.repair = hours(24);
  return job;
}

/// Simulated mean over the closed form's, for a run of so many failures.
double ratio(const BreakingJob& job, double failures, std::uint32_t samples = 40) {
  const Seconds useful = failures * job.rates.mtbf();
  const auto time = simulate_training(job, useful, {.samples = samples});
  return time->mean / useful * goodput(job).fraction;
}

TEST(TrainingTime, OfOneThatNeverFailsIsItsWorkAndCheckpoints) {
  BreakingJob job = job_of(hours(1e9));
  job.interval = hours(1);
  const auto time = simulate_training(job, hours(10), {.samples = 3});
  EXPECT_DOUBLE_EQ(time->mean.si(), 10 * 3600 + 9 * 120.0);  // none at the end
  EXPECT_EQ(time->low, time->high);
}

TEST(TrainingTime, IsTheClosedFormsOnAverage) {
  // 40 samples of 400 failures: within about 3 / sqrt(16000) of the overhead.
  EXPECT_NEAR(ratio(job_of(hours(3)), 400), 1, 0.01);
  EXPECT_NEAR(ratio(job_of(hours(24)), 400), 1, 0.005);
  EXPECT_NEAR(ratio(job_of(hours(0.5)), 400), 1, 0.03);
}

TEST(TrainingTime, AgreesOnEveryLoss) {
  BreakingJob lagging = job_of(hours(6));
  lagging.lag = 600_s;
  EXPECT_NEAR(ratio(lagging, 400), 1, 0.01);
  BreakingJob planned = job_of(hours(6));
  planned.rates.planned = once_in(hours(4));
  EXPECT_NEAR(ratio(planned, 400), 1, 0.01);
  BreakingJob slow = job_of(hours(12));
  slow.becoming_slow = once_in(hours(8));
  slow.slowdown = 1.5;
  slow.slow_detect = hours(2);
  EXPECT_NEAR(ratio(slow, 400), 1, 0.01);
  BreakingJob software = job_of(hours(6));
  software.rates.software = software.rates.hardware;
  software.spare_nodes = 4;
  EXPECT_NEAR(ratio(software, 400), 1, 0.02);
}

TEST(TrainingTime, AgreesOnNodesInRepair) {
  BreakingJob job = job_of(hours(12));
  job.spare_nodes = 1;
  EXPECT_NEAR(ratio(job, 400), 1, 0.03);
  EXPECT_GT(goodput(job).lost.too_few_nodes, 0.3);
  job.without = WithoutSpare::shrink;
  job.replicas_per_node = 0.5;
  EXPECT_NEAR(ratio(job, 400), 1, 0.03);
  EXPECT_GT(goodput(job).lost.too_few_nodes, 0.02);
}

TEST(TrainingTime, IsTheSameForASeed) {
  const BreakingJob job = job_of(hours(3));
  const auto mean = [&](std::uint64_t seed) {
    return simulate_training(job, hours(100), {.samples = 5, .seed = seed})->mean;
  };
  EXPECT_EQ(mean(1), mean(1));
  EXPECT_NE(mean(1), mean(2));
}

TEST(TrainingTime, SpreadsWithTheErrorBarOfTheStep) {
  BreakingJob job = job_of(hours(1e9));
  job.interval = hours(1e6);
  const auto time = simulate_training(job, hours(100), {.samples = 400, .low = 0.8, .high = 1.3});
  EXPECT_NEAR(time->low / hours(100), 0.8, 0.03);
  EXPECT_NEAR(time->high / hours(100), 1.3, 0.04);
  StepResult step;
  step.iteration_time = 2_s;
  step.error_bar = ErrorBar{.low = 1_s, .high = 3_s};
  EXPECT_EQ(samples_of(step).low, 0.5);
  EXPECT_EQ(samples_of(step).high, 1.5);
}

TEST(TrainingTime, OfVeryManyFailuresIsTheClosedForms) {
  const BreakingJob job = job_of(hours(3));
  const Seconds useful = hours(3 * 1e5);
  const auto time = simulate_training(job, useful, {.low = 0.8, .high = 1.3});
  EXPECT_NEAR(time->mean / useful * goodput(job).fraction, 1, 1e-12);
  EXPECT_NEAR(time->high / time->low, 1.3 / 0.8, 1e-12);
}

TEST(TrainingTime, CountsTheRunsInTime) {
  const BreakingJob job = job_of(hours(3));
  const auto in_time = [&](Seconds useful, Seconds deadline) {
    return *simulate_training(
                job, useful, {.samples = 400, .low = 0.8, .high = 1.3, .deadline = deadline})
                ->in_time;
  };
  // Followed one by one, and so many failures that they are not: the quantiles are the shares.
  for (const Seconds useful : {hours(100), hours(3 * 1e5)}) {
    const auto time = simulate_training(job, useful, {.samples = 400, .low = 0.8, .high = 1.3});
    EXPECT_FALSE(time->in_time);
    EXPECT_NEAR(in_time(useful, time->low), 0.1, 0.005);
    EXPECT_NEAR(in_time(useful, time->high), 0.9, 0.005);
    EXPECT_NEAR(in_time(useful, 0.01 * useful), 0, 1e-12);
    EXPECT_NEAR(in_time(useful, 100 * useful), 1, 1e-12);
  }
  EXPECT_NEAR(in_time(hours(3e5), hours(3e5) / goodput(job).fraction), 0.5, 1e-9);
  const auto certain = simulate_training(job, hours(3e5), {.deadline = hours(4e5)});
  EXPECT_EQ(certain->in_time, 1);  // no error bar
}

TEST(TrainingTime, IsNotFollowedWhereItHardlyEnds) {
  EXPECT_FALSE(simulate_training(job_of(60_s), hours(1), {}));
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
