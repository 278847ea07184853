#include "titer/simulate/samples.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <thread>

#include "titer/scenario/conditions.hpp"

namespace titer {
namespace TITER_TEST_FILE {

std::vector<Seconds> seconds(const std::vector<double>& values) {
  std::vector<Seconds> times;
  for (const double value : values) {
    times.push_back(Seconds::from_si(value));
  }
  return times;
}

void ignore_progress(std::size_t /*done*/) {}

/// A step of devices that each do some passes and then wait for the slowest.
Seconds synchronous_step(const Conditions& conditions,
                         std::int64_t devices,
                         std::uint64_t passes,
                         std::uint32_t sample) {
  double slowest = 0;
  for (std::int64_t device = 0; device < devices; ++device) {
    double time = 0;
    for (std::uint64_t pass = 0; pass < passes; ++pass) {
      time += conditions.compute_factor(device, pass, sample) / static_cast<double>(passes);
    }
    slowest = std::max(slowest, time);
  }
  return Seconds::from_si(slowest);
}

TEST(Statistics, AreThoseOfTheTextbook) {
  const SampleStatistics found = statistics(seconds({4, 2, 8, 6}), Seconds::from_si(4));
  EXPECT_EQ(found.count, 4U);
  EXPECT_EQ(found.mean.si(), (2.0 + 4 + 6 + 8) / 4);
  ASSERT_TRUE(found.deviation);
  EXPECT_NEAR(found.deviation->si(), std::sqrt((9.0 + 1 + 1 + 9) / 3), 1e-15);
  EXPECT_NEAR(found.standard_error()->si(), std::sqrt(20.0 / 3) / 2, 1e-15);
  EXPECT_EQ(found.least.si(), 2.0);
  EXPECT_EQ(found.most.si(), 8.0);
  EXPECT_EQ(found.slowdown(), 5.0 / 4);
}

TEST(Statistics, TakePercentilesByNearestRank) {
  std::vector<double> values;
  for (int i = 100; i > 0; --i) {
    values.push_back(i);
  }
  const SampleStatistics hundred = statistics(seconds(values), Seconds::from_si(1));
  EXPECT_EQ(hundred.p50.si(), 50.0);
  EXPECT_EQ(hundred.p95.si(), 95.0);
  const SampleStatistics three = statistics(seconds({3, 1, 2}), Seconds::from_si(1));
  EXPECT_EQ(three.p50.si(), 2.0);  // 1.5 of 3, rounded up
  EXPECT_EQ(three.p95.si(), 3.0);
  const SampleStatistics two = statistics(seconds({3, 1}), Seconds::from_si(1));
  EXPECT_EQ(two.p50.si(), 1.0);
}

TEST(Statistics, OfOneSampleHaveNoDeviation) {
  const SampleStatistics found = statistics(seconds({0.3}), Seconds::from_si(0.1));
  EXPECT_FALSE(found.deviation);
  EXPECT_FALSE(found.standard_error());
  EXPECT_EQ(found.mean.si(), 0.3);
  EXPECT_EQ(found.p50.si(), 0.3);
  EXPECT_EQ(found.p95.si(), 0.3);
}

TEST(Statistics, OfEqualSamplesAreExact) {
  const SampleStatistics found =
      statistics(seconds(std::vector<double>(7, 0.1)), Seconds::from_si(0.1));
  EXPECT_EQ(found.mean.si(), 0.1);
  EXPECT_EQ(found.deviation->si(), 0.0);
  EXPECT_EQ(found.slowdown(), 1.0);
}

TEST(SampleTimes, AreTheSameForAnyNumberOfThreads) {
  Conditions conditions;
  conditions.compute_jitter = Jitter{.spread = Spread::lognormal, .deviation = 0.1};
  const auto times = [&](unsigned threads) {
    return sample_times(
        {.count = 200, .threads = threads},
        [&](std::uint32_t sample) { return synchronous_step(conditions, 16, 8, sample); },
        ignore_progress);
  };
  const std::vector<Seconds> alone = times(1);
  ASSERT_EQ(alone.size(), 200U);
  EXPECT_EQ(alone, times(3));
  EXPECT_EQ(alone, times(8));
  EXPECT_EQ(alone[17], synchronous_step(conditions, 16, 8, 17));
}

TEST(SampleTimes, OfFewSamplesNeedNoMoreThreads) {
  const auto index = [](std::uint32_t sample) { return Seconds::from_si(sample); };
  EXPECT_EQ(sample_times({.count = 2, .threads = 64}, index, ignore_progress), seconds({0, 1}));
  EXPECT_EQ(sample_times({.count = 1, .threads = 0}, index, ignore_progress), seconds({0}));
}

TEST(SampleTimes, TellTheirProgressOnTheCallingThread) {
  const std::thread::id caller = std::this_thread::get_id();
  std::vector<std::size_t> told;
  const auto zero = [](std::uint32_t /*sample*/) { return Seconds{}; };
  static_cast<void>(sample_times({.count = 100, .threads = 1}, zero, [&](std::size_t done) {
    EXPECT_EQ(std::this_thread::get_id(), caller);
    told.push_back(done);
  }));
  ASSERT_EQ(told.size(), 100U);
  EXPECT_TRUE(std::is_sorted(told.begin(), told.end()));
  EXPECT_EQ(told.back(), 100U);
}

TEST(SampleTimes, PassOnWhatASampleThrows) {
  const auto fails = [](std::uint32_t sample) {
    if (sample == 5) {
      throw std::runtime_error("sample 5");
    }
    return Seconds{};
  };
  for (const unsigned threads : {1U, 4U}) {
    EXPECT_THROW(
        static_cast<void>(sample_times({.count = 100, .threads = threads}, fails, ignore_progress)),
        std::runtime_error);
  }
}

// The law of slow-down with scale: more devices, a later slowest one, as the closed form says.
TEST(SampleTimes, FollowTheLawOfTheSlowestDevice) {
  Conditions conditions;
  conditions.compute_jitter = Jitter{.spread = Spread::normal, .deviation = 0.05};
  for (const std::int64_t devices : {1, 8, 64, 256}) {
    for (const std::uint64_t passes : {1U, 9U}) {
      const auto times = sample_times(
          {.count = 2000, .threads = 2},
          [&](std::uint32_t sample) {
            return synchronous_step(conditions, devices, passes, sample);
          },
          ignore_progress);
      const SampleStatistics found = statistics(times, Seconds::from_si(1));
      const double law =
          expected_slowdown(*conditions.compute_jitter, devices, static_cast<std::int64_t>(passes));
      EXPECT_NEAR(found.slowdown(), law, 4 * found.standard_error()->si()) << devices;
    }
  }
}

TEST(SampleTimes, ShowTheShareOfStepsThatHaveAStraggler) {
  Conditions conditions;
  conditions.stragglers = {.probability = 0.01, .slowdown = 1.5, .per = Stragglers::Per::step};
  constexpr int devices = 32;
  const auto times = sample_times(
      {.count = 4000, .threads = 2},
      [&](std::uint32_t sample) { return synchronous_step(conditions, devices, 4, sample); },
      ignore_progress);
  const SampleStatistics found = statistics(times, Seconds::from_si(1));
  const double struck = 1 - std::pow(1 - 0.01, devices);  // some device is slow
  EXPECT_NEAR(found.slowdown(), 1 + 0.5 * struck, 4 * found.standard_error()->si());
  EXPECT_EQ(found.p50.si(), 1.0);
  EXPECT_EQ(found.p95.si(), 1.5);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
