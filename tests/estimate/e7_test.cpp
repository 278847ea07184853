// The seeds' equations E6 to E9 for GPT-3 175B, term by term.

#include "titer/estimate/e7.hpp"

#include <gtest/gtest.h>

#include "titer/scenario/source.hpp"
#include "titer/simulate/evaluate.hpp"

namespace titer {
namespace TITER_TEST_FILE {

// GPT-3 175B [Brown 2020, table 2.1] and the set-up of every test here unless it says otherwise.
// NOLINTBEGIN(readability-identifier-naming): the equations' own letters
constexpr double l = 96;
constexpr double h = 12288;
constexpr double kVocabulary = 50257;
constexpr double s = 2048;
constexpr double b = 1;
constexpr double p = 8;
constexpr double t = 8;
constexpr double m = 64;
constexpr double u = 0.4;
constexpr double kPeak = 312e12;       // A100, FLOP/s
constexpr double kNode = 0.7 * 300e9;  // bytes/s
constexpr double kNetwork = 0.8 * 25e9;
/// 12 l h^2 and biases and norms (13 l h), tokens and positions, the final norm (2 h).
constexpr double N = l * (12 * h * h + 13 * h) + (kVocabulary + s) * h + 2 * h;
constexpr double kActivation = 2 * b * s * h;
// NOLINTEND(readability-identifier-naming)

/// A relative tolerance: the same few products in another order.
void expect_same(double value, double expected) { EXPECT_NEAR(value, expected, 1e-13 * expected); }

/// Links with round figures, so that the tests stay when measured ones change.
ScenarioSource e7_source(const std::vector<std::string>& sets = {}) {
  ScenarioSource source(parse_json(R"({
    "model": "gpt3-175b", "cluster": "dgx-a100-80gb",
    "plan": {"pipeline": 8, "tensor": 8, "data": 1, "micro_batch": 1, "recompute": "full"},
    "training": {"global_batch": 64, "sequence": 2048, "precision": "fp16"},
    "formula": {"name": "e7", "utilization": 0.4}})",
                                   "run.json"));
  std::vector<std::string> all = {
      R"(cluster.node.fabric.bandwidth="300 GB/s")",
      R"(cluster.node.protocols=[{"name": "simple", "latency": "10 us", "efficiency": 0.7}])",
      R"(cluster.node.nic_bandwidth="200 Gbps")",
      R"(cluster.network.protocols=[{"name": "simple", "latency": "9 us", "efficiency": 0.8},
                                    {"name": "low", "latency": "2 us", "efficiency": 0.2}])"};
  all.insert(all.end(), sets.begin(), sets.end());
  for (const std::string& set : all) {
    source.assign(parse_assignment(set));
  }
  return source;
}

E7Terms terms(const std::vector<std::string>& sets = {}) {
  return e7_terms(e7_source(sets).read());
}

// Four replicas of the same 64 micro-batches.
const std::vector<std::string> kFourReplicas = {"plan.data=4", "training.global_batch=256"};

TEST(E7Compute, E7a_IsEightFlopsPerParameterAndToken) {
  const E7Terms e7 = terms();
  EXPECT_EQ(e7.micro_batches, m);
  EXPECT_EQ(e7.parameters, N);
  expect_same(e7.micro_batch_flops.si(), 8 * N / (p * t) * b * s);
  expect_same(e7.compute.si(), m * 8 * N / (p * t) * b * s / (u * kPeak));
}

// T8: 8 N b s is full recomputation (96 l h^2 per token in Narayanan's count) without attention's
// own s^2 term and the logits.
TEST(E7Compute, T8_IsTheHardwareFlopsLessAttentionAndLogits) {
  const double layers_only = 96 * s * l * h * h / (p * t);  // eq. 3's factor, B = 1
  const double flops = terms().micro_batch_flops.si();
  // What N counts beyond 12 l h^2: biases, norms and the token table.
  expect_same(flops - layers_only, 8 * s * (N - 12 * l * h * h) / (p * t));
}

TEST(E7Tensor, T1_IsSixAllReducesPerLayerAndMicroBatch) {
  const E7Terms e7 = terms();
  expect_same(e7.tensor_bandwidth.si(), kNode);
  const double all_reduce = 2 * (t - 1) / t * kActivation / kNode;
  expect_same(e7.tensor.si(), m * (l / p) * (4 * 1.5) * all_reduce);
}

TEST(E7Pipeline, E7b_IsTwoActivationsPerMicroBatch) {
  const E7Terms e7 = terms();
  expect_same(e7.pipeline_bandwidth.si(), kNetwork);
  expect_same(e7.pipeline.si(), m * (2 * kActivation) / kNetwork);
}

TEST(E7Data, E6_IsTwoBytesPerParameterTimesTwoDMinusOneOverD) {
  const E7Terms e7 = terms(kFourReplicas);
  constexpr double d = 4;
  EXPECT_EQ(e7.micro_batches, m);
  expect_same(e7.data_bandwidth.si(), kNetwork);
  expect_same(e7.data.si(), 2 * N / (p * t) * 2 * (d - 1) / d / kNetwork);
}

TEST(E7Data, LeavesTheOtherTermsAlone) {
  const E7Terms one = terms();
  const E7Terms four = terms(kFourReplicas);
  EXPECT_EQ(one.data, Seconds{});
  EXPECT_EQ(one.compute, four.compute);
  EXPECT_EQ(one.tensor, four.tensor);
  EXPECT_EQ(one.pipeline, four.pipeline);
  EXPECT_EQ(one.bubble, four.bubble);
}

TEST(E7Bubble, E8_IsStagesLessOneTimesOneMicroBatch) {
  const E7Terms e7 = terms();
  const double micro_batch = (e7.compute.si() + e7.tensor.si() + e7.pipeline.si()) / m;
  expect_same(e7.bubble.si(), (p - 1) * micro_batch);
}

TEST(E7Bubble, E8_RatioIsExactWithoutDataParallelism) {
  expect_same(terms().bubble_ratio(), (p - 1) / (m + p - 1));
  // And with it an upper bound, since T_DP lengthens T_iter only.
  EXPECT_LT(terms(kFourReplicas).bubble_ratio(), (p - 1) / (m + p - 1));
}

TEST(E7Bubble, T15_OverheadIsAgainstTheIdealTime) {
  const StepResult result = [] {
    StepResult into;
    e7_estimate(e7_source().read(), into);
    return into;
  }();
  expect_same(result.bubble_ratio, (p - 1) / (m + p - 1));
  expect_same(result.bubble_overhead, (p - 1) / m);
}

TEST(E7Communication, E9_IsTheSumAndItsShare) {
  const E7Terms e7 = terms(kFourReplicas);
  expect_same(e7.communication().si(), e7.tensor.si() + e7.pipeline.si() + e7.data.si());
  expect_same(e7.communication_ratio(), e7.communication().si() / e7.iteration().si());
}

TEST(E7Iteration, E7_IsTheSumOfFiveTerms) {
  const E7Terms e7 = terms(kFourReplicas);
  expect_same(e7.iteration().si(),
              e7.compute.si() + e7.tensor.si() + e7.pipeline.si() + e7.data.si() + e7.bubble.si());
}

TEST(E7Iteration, HasOnlyComputeOnOneDevice) {
  const E7Terms e7 = terms({"plan.pipeline=1", "plan.tensor=1", "training.global_batch=2"});
  EXPECT_EQ(e7.tensor, Seconds{});
  EXPECT_EQ(e7.pipeline, Seconds{});
  EXPECT_EQ(e7.data, Seconds{});
  EXPECT_EQ(e7.bubble, Seconds{});
  expect_same(e7.iteration().si(), 2 * 8 * N * b * s / (u * kPeak));
}

TEST(E7Bandwidth, IsTheUsersWhereGiven) {
  std::vector<std::string> sets = {"formula.tensor_bandwidth=100 GB/s",
                                   "formula.pipeline_bandwidth=10 GB/s",
                                   "formula.data_bandwidth=5 GB/s"};
  sets.insert(sets.end(), kFourReplicas.begin(), kFourReplicas.end());
  const E7Terms given = terms(sets);
  const E7Terms own = terms(kFourReplicas);
  expect_same(given.tensor.si(), own.tensor.si() * kNode / 100e9);
  expect_same(given.pipeline.si(), own.pipeline.si() * kNetwork / 10e9);
  expect_same(given.data.si(), own.data.si() * kNetwork / 5e9);
  EXPECT_EQ(given.compute, own.compute);
}

// p=2 with t=2 lies in one node of 8, so that both use the node's links.
TEST(E7Bandwidth, IsTheNodesForGroupsInsideIt) {
  const E7Terms e7 = terms({"plan.pipeline=2", "plan.tensor=2", "plan.data=2"});
  expect_same(e7.pipeline_bandwidth.si(), kNode);
  expect_same(e7.data_bandwidth.si(), kNode);
}

TEST(E7Scaling, HalvesComputeWithTwiceTheUtilization) {
  const E7Terms slow = terms();
  const E7Terms fast = terms({"formula.utilization=0.8"});
  expect_same(slow.compute.si(), 2 * fast.compute.si());
  EXPECT_EQ(slow.tensor, fast.tensor);
}

TEST(E7Estimate, PutsEveryTermIntoTheBreakdown) {
  const Scenario scenario = e7_source(kFourReplicas).read();
  const E7Terms e7 = e7_terms(scenario);
  StepResult result;
  result.breakdown.other = Seconds::from_si(99);  // of a result used before
  e7_estimate(scenario, result);
  EXPECT_EQ(result.iteration_time, e7.iteration());
  expect_same(result.breakdown.forward.si(), e7.compute.si() * 2 / 8);
  expect_same(result.breakdown.backward.si(), e7.compute.si() * 4 / 8);
  expect_same(result.breakdown.recompute.si(), e7.compute.si() * 2 / 8);
  EXPECT_EQ(result.breakdown.tensor_comm, e7.tensor);
  EXPECT_EQ(result.breakdown.pipeline_comm, e7.pipeline);
  EXPECT_EQ(result.breakdown.data_comm, e7.data);
  EXPECT_EQ(result.breakdown.bubble, e7.bubble);
  expect_same(result.breakdown.total().si(), result.iteration_time.si());
  EXPECT_EQ(result.devices, 8 * 8 * 4);
  expect_same(result.tokens_per_s, 256 * s / e7.iteration().si());
  EXPECT_EQ(result.grade, Grade::given) << "u is the user's";
  EXPECT_EQ(result.memory.size(), 8u);
}

TEST(E7Estimate, IsWhatTheFormulaE7Evaluates) {
  const Scenario scenario = e7_source().read();
  Estimator estimator;
  StepResult result;
  evaluate(scenario, Fidelity::closed, estimator, result);
  EXPECT_EQ(result.iteration_time, e7_terms(scenario).iteration());
}

/// The lines of the InputError that `act` throws.
template <class Act>
std::vector<std::string> refusal(Act act) {
  try {
    act();
  } catch (const InputError& error) {
    return error.lines;
  }
  return {};
}

TEST(E7Input, RefusesAMissingUtilization) {
  EXPECT_EQ(refusal([] { static_cast<void>(e7_source({"formula=e7"}).read()); }),
            std::vector<std::string>{
                "--set formula=e7: formula.utilization: missing: expected the GPU utilization u "
                "that the formula e7 takes as given, such as 0.4"});
}

TEST(E7Input, RefusesAUtilizationBeyondOne) {
  const auto lines =
      refusal([] { static_cast<void>(e7_source({"formula.utilization=1.5"}).read()); });
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_TRUE(
      lines[0].starts_with("--set formula.utilization=1.5: formula.utilization: 1.5: "
                           "expected a number from "))
      << lines[0];
}

TEST(E7Input, RefusesTheEventEngine) {
  const Scenario scenario = e7_source().read();
  Estimator estimator;
  StepResult result;
  EXPECT_EQ(refusal([&] { evaluate(scenario, Fidelity::event, estimator, result); }).size(), 1u);
}

// One scenario read after another into the same place, as a sweep does.
TEST(E7Input, DoesNotKeepTheUtilizationOfTheScenarioBefore) {
  Scenario scenario = e7_source({"formula.tensor_bandwidth=1 GB/s"}).read();
  e7_source({"formula=titer"}).read_part(ScenarioPart::formula, scenario);
  EXPECT_FALSE(scenario.e7.utilization.has_value());
  EXPECT_FALSE(scenario.e7.tensor_bandwidth.has_value());
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
