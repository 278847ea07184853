// Steps too long for 64 bits of picoseconds.

#include "titer/estimate/step_length.hpp"

#include <gtest/gtest.h>

#include "scenario/scenarios.hpp"
#include "titer/export/exported_step.hpp"
#include "titer/search/search.hpp"
#include "titer/simulate/evaluate.hpp"
#include "titer/sweep/sweep.hpp"

namespace titer {
namespace TITER_TEST_FILE {

Scenario llama(const std::vector<std::string>& assignments) {
  ScenarioSource source = ScenarioSource::load("llama3-70b-64xh100");
  for (const std::string& assignment : assignments) {
    source.assign(parse_assignment(assignment));
  }
  return source.read();
}

StepResult evaluated(const Scenario& scenario, Fidelity fidelity) {
  Estimator estimator;
  StepResult result;
  evaluate(scenario, fidelity, estimator, result);
  return result;
}

std::string refusal(const Scenario& scenario, Fidelity fidelity) {
  try {
    const StepResult result = evaluated(scenario, fidelity);
    return "answered: " + std::to_string(result.iteration_time.si());
  } catch (const InputError& error) {
    return error.lines.front();
  }
}

TEST(StepLength, OfMoreThan53DaysIsTheInputsMistake) {
  for (const Fidelity fidelity : {Fidelity::closed, Fidelity::event}) {
    for (const std::string change : {"training.sequence=100000000",
                                     "training.sequence=2147483648",
                                     "cluster.chip.memory.bandwidth=1e-308 TB/s",
                                     "cluster.node.nic_bandwidth=1e-300 B/s"}) {
      const std::string line = refusal(llama({change}), fidelity);
      EXPECT_NE(line.find("expected at most 53 days"), std::string::npos) << change << ": " << line;
      EXPECT_NE(line.find("2^62"), std::string::npos) << line;
    }
  }
}

TEST(StepLength, IsRefusedFromTheLimitOn) {
  const auto at = [](double slower) {
    Scenario scenario = scenarios::shipped_run();
    scenario.plan.overlap_grad_reduce = false;
    scenario.stack.dispatch = slower * Seconds::from_si(1);  // far above all kernels
    return scenario;
  };
  const Seconds one = estimate(at(1)).iteration_time;
  const double longest = kLongestStep / one;
  for (const Fidelity fidelity : {Fidelity::closed, Fidelity::event}) {
    const StepResult result = evaluated(at(0.99 * longest), fidelity);
    EXPECT_NEAR(result.iteration_time / kLongestStep, 0.99, 1e-3);
    EXPECT_THROW(evaluated(at(1.01 * longest), fidelity), InputError);
  }
}

TEST(StepLength, CountsRanksThatWorkAtTheSameTimeOnce) {
  // Sixteen ranks with some days of work each, one beside the other.
  Scenario scenario =
      scenarios::shipped_run({"plan.pipeline=16", "plan.virtual_stages=1", "cluster.nodes=16"});
  const Seconds one = estimate(scenario).iteration_time;
  scenario.stack.dispatch = scenario.stack.dispatch * 1e6;
  const Seconds slow = estimate(scenario).iteration_time;
  EXPECT_GT(slow, one);
  EXPECT_LT(slow, kLongestStep);
  EXPECT_GT(16.0 * slow, kLongestStep) << "all ranks, one after the other";
}

TEST(StepLength, LeavesTheNextEstimateRight) {
  Scenario scenario = llama({});
  const StepResult alone = estimate(scenario);
  Estimator estimator;
  StepResult result;
  estimator.estimate(scenario, result);
  Scenario slow = llama({"training.sequence=100000000"});
  EXPECT_THROW(estimator.estimate(slow, result), InputError);
  estimator.estimate(scenario, Changed::plan, result);
  EXPECT_EQ(result.iteration_time, alone.iteration_time);
}

TEST(StepLength, IsAskedOfExportsToo) {
  EXPECT_THROW(ExportedStep(llama({"training.sequence=100000000"}), ExportDetail::pass),
               InputError);
}

TEST(StepLength, OfNoiseIsRefusedAsWell) {
  Scenario scenario = llama({"training.sequence=8388608"});
  ASSERT_LT(estimate(scenario).iteration_time, kLongestStep);
  scenario.conditions.stragglers = {
      .probability = 1, .slowdown = 1e6, .per = Stragglers::Per::step};
  EXPECT_NE(refusal(scenario, Fidelity::event).find("53 days"), std::string::npos);
}

TEST(StepLength, OfTheFormulaE7HasTheSameLimit) {
  Scenario scenario = scenarios::shipped_run({"training.sequence=2048"});
  scenario.formula = Formula::e7;
  scenario.e7.utilization = 1e-6;
  scenario.training.global_batch *= 4096;
  EXPECT_NE(refusal(scenario, Fidelity::closed).find("53 days"), std::string::npos);
}

TEST(StepLength, MakesARowOfASweepInvalid) {
  const Document document = parse_json(
      R"({"scenario": "llama3-70b-64xh100",
          "axes": [{"training.sequence": [8192, 100000000]}]})",
      "sweep.json");
  const Sweep sweep = read_sweep(document);
  SweepWorker worker(sweep, Fidelity::closed);
  SweepPoint point;
  ASSERT_TRUE(worker.compute(1, point));
  EXPECT_EQ(point.status, PointStatus::invalid);
  EXPECT_NE(point.reason.find("53 days"), std::string::npos) << point.reason;
  ASSERT_TRUE(worker.compute(0, point));
  EXPECT_NE(point.status, PointStatus::invalid);
}

TEST(StepLength, LeavesPlansOutOfASearch) {
  const Search search = read_search(parse_json(R"({
    "scenario": {"model": "llama3-8b", "cluster": "dgx-h100",
                 "training": {"global_batch": 30000000, "sequence": 16384}},
    "devices": 8, "space": {"tensor": 8, "pipeline": 1, "schedule": "1f1b", "micro_batch": 1,
                            "recompute": "full", "sharding": "zero3"}})",
                                               "search.json"),
                                    {});
  const SearchAnswer answer = run_search(search);
  EXPECT_TRUE(answer.plans.empty());
  EXPECT_GT(answer.counts.plans, 0U);
  EXPECT_EQ(answer.counts.refused, answer.counts.plans);
  EXPECT_NE(answer.counts.refusal.find("53 days"), std::string::npos) << answer.counts.refusal;
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
