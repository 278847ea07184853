#include "titer/campaign/goodput.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "titer/estimate/estimate.hpp"
#include "titer/estimate/model_state.hpp"
#include "titer/input/read_document.hpp"

namespace titer {
namespace TITER_TEST_FILE {

constexpr double kHourSeconds = 3600;

Seconds hours(double count) { return Seconds::from_si(count * kHourSeconds); }

double sum(const LostTime& lost) {
  return lost.checkpoints + lost.rework + lost.restarts + lost.slow_devices + lost.too_few_nodes;
}

/// Fails in hardware once in `mtbf`, with spares for all.
BreakingJob job_of(Seconds mtbf) {
  BreakingJob job;
  job.rates.hardware = Frequency::from_si(1 / mtbf.si());
  job.interval = hours(1);
  job.checkpoint = 60_s;
  job.restart = 600_s;
  job.replicas = 10;
  job.spare_nodes = 1000;
  job.repair = hours(24);
  return job;
}

TEST(CheckpointInterval, IsYoungsAndDalys) {
  // Daly's figures 3 to 5: dump 5 min; 24 h, 6 h and 15 min between failures.
  EXPECT_DOUBLE_EQ(young_interval(300_s, hours(24)).si(), std::sqrt(2 * 300 * 24 * 3600.0));
  EXPECT_NEAR(daly_interval(300_s, hours(24)).si() / 60, 117, 1);
  EXPECT_NEAR(daly_interval(300_s, hours(6)).si() / 60, 57, 1);
  EXPECT_NEAR(daly_interval(300_s, hours(0.25)).si() / 60, 9.1, 0.1);
  EXPECT_EQ(daly_interval(hours(2), hours(1)), hours(1));
}

TEST(CheckpointInterval, BestIsTheMinimumOfTheStretchAndDalysIsNearIt) {
  for (const double cost : {1e-4, 1e-3, 1e-2, 0.1, 0.3}) {
    const Seconds mtbf = hours(10);
    const Seconds checkpoint = cost * mtbf;
    const Seconds best = best_interval(checkpoint, mtbf);
    const auto stretch = [&](Seconds interval) {
      return time_stretch(interval, checkpoint, 600_s, mtbf);
    };
    EXPECT_LT(stretch(best), stretch(1.01 * best)) << cost;
    EXPECT_LT(stretch(best), stretch(0.99 * best)) << cost;
    EXPECT_NEAR(daly_interval(checkpoint, mtbf) / best, 1, 0.01) << cost;
    EXPECT_LT(stretch(daly_interval(checkpoint, mtbf)) / stretch(best) - 1, 1e-4) << cost;
  }
  // Young's is Daly's where checkpoints are cheap.
  EXPECT_NEAR(young_interval(1_s, hours(1000)) / daly_interval(1_s, hours(1000)), 1, 1e-3);
}

TEST(FailureRates, AreInverseToTheDevices) {
  const Reliability llama = load_reliability("llama3-16k-h100-2024");
  const FailureRates at_16k = failure_rates(llama, 16384, 2048);
  // 419 unexpected interruptions in 54 days: one in 3.1 h; 47 planned.
  EXPECT_NEAR(at_16k.mtbf() / hours(54 * 24.0 / 419), 1, 1e-12);
  EXPECT_NEAR(at_16k.planned * hours(54 * 24), 47, 1e-9);
  const FailureRates at_1k = failure_rates(llama, 1024, 128);
  EXPECT_NEAR(at_1k.mtbf() / at_16k.mtbf(), 16, 1e-9);
  // Of these, those that no repair is needed for.
  EXPECT_NEAR(at_16k.software * hours(54 * 24), 54 + 7 + 2, 1e-9);
}

TEST(FailureRates, CountUnitsAndPieces) {
  Reliability reliability;
  reliability.components = {
      {.name = "hbm", .count = 8, .mtbf = hours(100)},
      {.name = "nic", .per = FailureUnit::node, .mtbf = hours(10)},
      {.name = "bug", .per = FailureUnit::job, .failure = Failure::software, .mtbf = hours(5)}};
  const FailureRates rates = failure_rates(reliability, 32, 4);
  EXPECT_NEAR(rates.hardware * hours(1), 32 * 8 / 100.0 + 4 / 10.0, 1e-12);
  EXPECT_NEAR(rates.software * hours(1), 1 / 5.0, 1e-12);
}

TEST(Goodput, OfRareFailuresIsTheFirstOrder) {
  const BreakingJob job = job_of(hours(100));
  const Goodput result = goodput(job);
  // Checkpoints C / T, and by failure a restart and half an interval.
  const double lost = 60 / 3600.0 + (600 + (3600 + 60) / 2.0) / (100 * 3600.0);
  EXPECT_NEAR(result.fraction, 1 - lost, 0.001);
  EXPECT_NEAR(result.fraction + sum(result.lost), 1, 1e-12);
  EXPECT_NEAR(result.lost.restarts, 600 / (100 * 3600.0), 1e-4);
}

TEST(Goodput, CountsEveryLoss) {
  BreakingJob job = job_of(hours(20));
  job.lag = 120_s;
  job.rates.planned = Frequency::from_si(1 / hours(30).si());
  job.becoming_slow = Frequency::from_si(1 / hours(50).si());
  job.slowdown = 1.5;
  job.slow_detect = hours(1);
  job.spare_nodes = 0;
  job.without = WithoutSpare::shrink;
  const Goodput result = goodput(job);
  EXPECT_NEAR(result.fraction + sum(result.lost), 1, 1e-12);
  for (const double part : {result.lost.checkpoints,
                            result.lost.rework,
                            result.lost.restarts,
                            result.lost.slow_devices,
                            result.lost.too_few_nodes}) {
    EXPECT_GT(part, 0);
  }
  // Without the lag, less is done again.
  BreakingJob without = job;
  without.lag = Seconds{};
  EXPECT_LT(goodput(without).lost.rework, result.lost.rework);
}

TEST(Goodput, OfWaitingForRepairIsErlangsLoss) {
  BreakingJob job = job_of(hours(24));  // as long as a repair: a = 1
  job.spare_nodes = 2;
  // Of 1, a, a^2 / 2, a^3 / 6 the last: three in repair.
  EXPECT_NEAR(goodput(job).lost.too_few_nodes, (1 / 6.0) / (1 + 1 + 1 / 2.0 + 1 / 6.0), 1e-12);
}

TEST(Goodput, OfShrinkingLosesReplicasByTheNodesInRepair) {
  BreakingJob job = job_of(hours(24));
  job.spare_nodes = 0;
  job.without = WithoutSpare::shrink;
  job.replicas_per_node = 0.5;  // one replica for one node or two
  double left = 0;
  double share = std::exp(-1.0);
  for (int k = 0; k < 30; ++k) {
    left += share * std::max(0.0, 10 - std::ceil(k / 2.0)) / 10;
    share /= k + 1;
  }
  EXPECT_NEAR(1 - goodput(job).lost.too_few_nodes, left, 1e-9);
  // Better than standing still.
  BreakingJob waiting = job;
  waiting.without = WithoutSpare::wait;
  EXPECT_GT(goodput(job).fraction, goodput(waiting).fraction);
}

TEST(Goodput, LosesACheckpointAndARestartToEveryPlannedStop) {
  const BreakingJob unplanned = job_of(hours(100));
  BreakingJob job = unplanned;
  job.checkpoint = 400_s;
  BreakingJob planned = job;
  planned.rates.planned = Frequency::from_si(1 / hours(30).si());
  EXPECT_NEAR(
      goodput(job).fraction / goodput(planned).fraction, 1 + (400.0 + 600.0) / (30 * 3600), 1e-12);
  EXPECT_LT(goodput(job).fraction, goodput(unplanned).fraction) << "its checkpoints are longer";
}

TEST(Goodput, IsNothingWhereTheJobNeverStarts) { EXPECT_EQ(goodput(job_of(0.1_s)).fraction, 0); }

TEST(Goodput, OfLlama3IsOverNineTenths) {
  const Scenario scenario = ScenarioSource::load("llama3-405b-16384xh100").read();
  const Seconds iteration = estimate(scenario).iteration_time;
  const Reliability record = load_reliability("llama3-16k-h100-2024");
  const Goodput result = goodput(record, scenario, iteration);
  EXPECT_EQ(result.checkpoint_size, model_state(scenario).total());
  EXPECT_GT(result.fraction, 0.9);  // reported: higher than 90 %
  EXPECT_LT(result.fraction, 0.99);
  EXPECT_EQ(result.job.spare_nodes, 41);  // 2 % of 2048 nodes
  const double iterations = result.checkpoint_interval / iteration;
  EXPECT_NEAR(iterations, std::round(iterations), 1e-9);
}

TEST(Reliability, OfEveryShippedNameIsReadAndSourced) {
  for (const std::string& name : shipped_names(kReliabilityData)) {
    const Reliability reliability = load_reliability(name);
    EXPECT_EQ(reliability.name, name);
    EXPECT_GT(failure_rates(reliability, 8, 1).mtbf(), Seconds{});
    for (const Evidence& figure : reliability.evidence.figures()) {
      EXPECT_NE(figure.source, "given by the user") << name << ": " << figure.key;
    }
  }
}

/// The problems of a record with this list of components and these other keys.
std::vector<std::string> problems_of_components(const std::string& components,
                                                const std::string& rest = "") {
  const std::string text = R"({"name": "r", "date": "2025", "components": )" + components + rest +
                           R"(, "checkpoint": {"storage_bandwidth": "1 GB/s",
"node_bandwidth": "1 GB/s"}, "restart": {"detect": "1 s", "reschedule": "1 s", "start": "1 s"},
"spares": {"share": 0, "repair": "1 h", "without": "wait"}})";
  try {
    static_cast<void>(read_document(parse_json(text, "r.json"), read_reliability));
  } catch (const InputError& error) {
    return error.lines;
  }
  return {};
}

TEST(Reliability, NamesWhatIsWrongInAFile) {
  const auto component = [](const std::string& rest) {
    return R"([{"name": "a", "per": "job", )" + rest + "}]";
  };
  EXPECT_TRUE(problems_of_components(component(R"("failure": "software", "mtbf": "1 h")")).empty());
  EXPECT_EQ(problems_of_components(component(R"("failure": "software")")).front(),
            "r.json:1:46: components.0: expected either a mtbf or the interruptions that were "
            "observed");
  EXPECT_EQ(problems_of_components(component(R"("failure": "planned", "mtbf": "1 h")")).size(), 1u);
  EXPECT_EQ(problems_of_components(component(R"("failure": "software", "mtbf": "0 s")")).size(),
            1u);
  EXPECT_EQ(
      problems_of_components(component(R"("failure": "software", "interruptions": 3)")).size(), 1u);
  EXPECT_EQ(problems_of_components(
                component(R"("failure": "software", "interruptions": 3)"),
                R"(, "observed": {"devices": 8, "devices_per_node": 8, "time": "9 h"})")
                .size(),
            0u);
  EXPECT_EQ(problems_of_components(component(R"("failure": "rust", "mtbf": "1 h")")).size(), 1u);
  EXPECT_EQ(problems_of_components("[]").size(), 1u);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
