#include "titer/campaign/shared_jobs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "campaign/courses.hpp"
#include "titer/engine/engine.hpp"

namespace titer::testing {
namespace TITER_TEST_FILE {

SharingResult sharing_of(std::string_view jobs, const std::vector<std::string>& sets = {}) {
  return followed<SharingResult>(
      course_of(course_json_of(R"("jobs": )" + std::string(jobs)), sets));
}

/// A job as the engine takes it: it computes on the shared device, then waits for its transfers.
struct Turns {
  Seconds iteration;
  double load = 0;
};

/// What an iteration of each takes once they have met, first come first served.
std::vector<Seconds> executed(const std::vector<Turns>& jobs) {
  constexpr int iterations = 200;
  TaskGraph graph;
  const ResourceId device = graph.add_resource();
  std::vector<std::vector<TaskId>> computes(jobs.size());
  std::vector<TaskId> last(jobs.size());
  std::vector<ResourceId> own;
  for (std::size_t job = 0; job < jobs.size(); ++job) {
    own.push_back(graph.add_resource());
  }
  for (int i = 0; i < iterations; ++i) {
    for (std::size_t job = 0; job < jobs.size(); ++job) {
      const Seconds busy = jobs[job].load * jobs[job].iteration;
      const std::array<TaskId, 1> before = {last[job]};
      const auto after = i == 0 ? std::span<const TaskId>() : std::span<const TaskId>(before);
      const std::array<TaskId, 1> compute = {graph.add(device, busy, after)};
      last[job] = graph.add(own[job], jobs[job].iteration - busy, compute);
      computes[job].push_back(compute[0]);
    }
  }
  const Timeline timeline = run(graph);
  std::vector<Seconds> periods;
  for (const auto& tasks : computes) {
    const Ticks span = timeline.start[tasks.back()] - timeline.start[tasks[iterations / 2]];
    periods.push_back(to_seconds(span) / (iterations / 2 - 1));
  }
  return periods;
}

// [seed 004, L5707: two jobs of half the compute and half the memory]
TEST(SharedJobs, TwoHalvesKeepTheirRates) {
  const auto result = followed<SharingResult>(load_course("two-jobs"));
  EXPECT_TRUE(result.fits());
  EXPECT_EQ(result.load, 0.5 + 0.5);
  EXPECT_EQ(result.slowdown, 1);
  EXPECT_EQ(result.saved_share(), 0.5);
  for (const SharedJobResult& job : result.jobs) {
    EXPECT_EQ(job.shared, job.alone);
    EXPECT_EQ(job.device_time_shared, 0.5 * job.device_time_alone);
  }
}

TEST(SharedJobs, AreSlowedByWhatTheyWantTogether) {
  const SharingResult result = sharing_of(R"([{"load": 0.5}, {"load": 0.75}, {"load": 1}])");
  EXPECT_EQ(result.slowdown, 0.5 + 0.75 + 1);
  for (const SharedJobResult& job : result.jobs) {
    EXPECT_EQ(job.shared, 2.25 * job.alone);
  }
  EXPECT_EQ(result.saved_share(), 1 - 2.25 / 3);
  // The parts of the jobs make the whole of the shared devices' time.
  double parts = 0;
  for (const SharedJobResult& job : result.jobs) {
    parts += job.device_time_shared / (2 * job.shared);
  }
  EXPECT_NEAR(parts, 1, 1e-12);
}

TEST(SharedJobs, SaveNothingWhereAllCompute) {
  EXPECT_EQ(sharing_of(R"([{"load": 1}, {"load": 1}])").saved_share(), 0);
}

TEST(SharedJobs, LoadIsTheComputeOfTheBreakdown) {
  const Course course = course_of(course_json_of(R"("jobs": [{}, {"set": {"plan.tensor": 2,
      "plan.data": 1}}])"));
  const auto& jobs = std::get<SharedJobs>(course.kind).jobs;
  const auto result = followed<SharingResult>(course);
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const StepResult step = estimate(jobs[i].scenario);
    const Breakdown& parts = step.breakdown;
    EXPECT_EQ(
        result.jobs[i].load,
        (parts.forward + parts.backward + parts.recompute + parts.optimizer) / step.iteration_time);
    EXPECT_EQ(result.jobs[i].memory, step.memory_peak);
  }
  EXPECT_LT(result.jobs[1].load, result.jobs[0].load);
  EXPECT_EQ(result.memory, result.jobs[0].memory + result.jobs[1].memory);
}

TEST(SharedJobs, SayWhenTheyDoNotFitTogether) {
  const SharingResult result =
      sharing_of(R"([{"name": "a"}, {"name": "b"}, {"name": "c"}])", {"plan.recompute=none"});
  ASSERT_FALSE(result.fits());
  for (const SharedJobResult& job : result.jobs) {
    EXPECT_LE(job.memory, result.capacity);
  }
  EXPECT_TRUE(memory_sentence(result).starts_with("does not fit: a, b and c need "))
      << memory_sentence(result);
}

TEST(SharingSlowdown, IsMetByTheEngineWhereIterationsAreEquallyLong) {
  const std::vector<std::vector<double>> cases = {
      {0.5, 0.5}, {0.3, 0.6}, {1, 1}, {0.75, 0.75}, {0.2, 0.9}, {0.4, 0.5, 0.6}, {0.2, 0.3, 0.4}};
  for (const std::vector<double>& loads : cases) {
    std::vector<Turns> jobs;
    for (const double load : loads) {
      jobs.push_back({.iteration = 1_s, .load = load});
    }
    for (const Seconds period : executed(jobs)) {
      EXPECT_NEAR(period.si(), sharing_slowdown(loads), 1e-9) << ::testing::PrintToString(loads);
    }
  }
}

TEST(SharingSlowdown, IsTheLeastWhereTheyAreNot) {
  const std::vector<Turns> jobs = {{1_s, 0.5}, {0.3_s, 0.4}, {0.77_s, 0.3}};
  const std::vector<Seconds> periods = executed(jobs);
  double most = 0;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    most = std::max(most, periods[i] / jobs[i].iteration);
  }
  EXPECT_GE(most, sharing_slowdown(std::vector{0.5, 0.4, 0.3}));
}

}  // namespace TITER_TEST_FILE
}  // namespace titer::testing
