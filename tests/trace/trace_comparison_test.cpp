// A measured step or log beside a prediction.

#include <gtest/gtest.h>

#include "paths.hpp"
#include "temporary_folder.hpp"
#include "titer/input/reader.hpp"
#include "titer/report/file/chakra_export.hpp"
#include "titer/scenario/source.hpp"
#include "titer/trace/trace_comparison.hpp"

namespace titer::testing {
namespace TITER_TEST_FILE {

constexpr auto index(TraceCategory category) { return static_cast<std::size_t>(category); }

Scenario scenario(const std::vector<std::string>& sets = {}) {
  ScenarioSource source = ScenarioSource::load("gpt3-175b-64xa100");
  for (const std::string& set : sets) {
    source.assign(parse_assignment(set));
  }
  return source.read();
}

const TraceTerm& term(const TraceComparison& comparison, std::string_view name) {
  for (const TraceTerm& each : comparison.terms) {
    if (each.name == name) {
      return each;
    }
  }
  throw std::runtime_error("no term " + std::string(name));
}

double sum(const TraceComparison& comparison, bool predicted) {
  double seconds = 0;
  for (const TraceTerm& each : comparison.terms) {
    seconds += (predicted ? *each.predicted : each.measured).counted.si();
  }
  return seconds;
}

/// A step in which everything is as predicted.
StepBreakdown as_predicted(const PredictedStep& predicted) {
  StepBreakdown step;
  step.time = predicted.result.iteration_time;
  step.idle = predicted.idle;
  const auto set = [&](TraceCategory category, const TermTime& time) {
    step.categories[index(category)] = {.communication_first = time.counted,
                                        .compute_first = time.exposed,
                                        .busy = time.busy,
                                        .calls = time.calls.value_or(0)};
    if (time.calls) {
      step.collectives.push_back({.kind = {.name = std::string(name(category)),
                                           .category = category,
                                           .ranks = time.ranks,
                                           .bytes = time.bytes},
                                  .calls = *time.calls,
                                  .time = time.busy,
                                  .fastest = time.busy / *time.calls});
    }
  };
  for (std::size_t i = 0; i < kTraceCategories; ++i) {
    set(static_cast<TraceCategory>(i), predicted.communication[i]);
  }
  set(TraceCategory::matrix, {.counted = predicted.compute, .exposed = {}, .busy = {}});
  set(TraceCategory::optimizer, {.counted = predicted.optimizer, .exposed = {}, .busy = {}});
  return step;
}

TEST(PredictedStep, TermsAddUpToTheIteration) {
  const std::vector<std::vector<std::string>> cases = {
      {},
      {"plan.sequence_parallel=false"},
      {"plan.sharding=zero1"},
      {"plan.sharding=zero3", "plan.pipeline=1", "plan.virtual_stages=1", "plan.data=8"},
      {"plan.tensor_overlap=ring"},
  };
  for (const auto& sets : cases) {
    const PredictedStep predicted = predict_step(scenario(sets), std::nullopt);
    Seconds terms = predicted.compute + predicted.optimizer + predicted.idle;
    Seconds busy;
    for (const TermTime& time : predicted.communication) {
      terms += time.counted;
      busy += time.busy;
      EXPECT_GE(time.busy, time.exposed);
    }
    const std::string what = sets.empty() ? "as shipped" : sets.front();
    EXPECT_NEAR(terms / predicted.result.iteration_time, 1, 1e-9) << what;
    Seconds totals;
    for (const CommunicationPart& part : kCommunicationParts) {
      totals += predicted.result.comm_total.*part.value;
    }
    EXPECT_NEAR(busy / totals, 1, 1e-9) << what;
  }
}

TEST(PredictedStep, CollectivesAreThoseOfThePlan) {
  const PredictedStep sequence = predict_step(scenario({"plan.sequence_parallel=true"}), 0);
  EXPECT_GT(sequence.communication[index(TraceCategory::all_gather)].busy, Seconds{});
  EXPECT_GT(sequence.communication[index(TraceCategory::reduce_scatter)].busy, Seconds{});
  EXPECT_GT(sequence.communication[index(TraceCategory::all_gather)].calls, 0);
  const PredictedStep whole = predict_step(scenario({"plan.sequence_parallel=false"}), 0);
  EXPECT_EQ(whole.communication[index(TraceCategory::reduce_scatter)].busy, Seconds{});
  EXPECT_GT(whole.communication[index(TraceCategory::all_reduce)].busy,
            0.999 * whole.result.comm_total.tensor);
}

/// A plan that gathers parameters and reduces gradients with every pass.
PredictedStep predicted_with_zero3(const std::string& collective) {
  return predict_step(scenario({"plan.sharding=zero3",
                                "plan.gradient_collective=" + collective,
                                "plan.pipeline=1",
                                "plan.virtual_stages=1",
                                "plan.data=8",
                                "plan.tensor=8"}),
                      0);
}

TEST(PredictedStep, WithZero3FollowsWhatPassesMove) {
  const PredictedStep step = predicted_with_zero3("reduce-scatter");
  EXPECT_TRUE(step.remarks.empty());
  EXPECT_GT(step.communication[index(TraceCategory::reduce_scatter)].calls, 0);
  EXPECT_GT(step.communication[index(TraceCategory::all_gather)].calls, 0);
}

TEST(PredictedStep, WithChainsOfReducesHasOneToEachRank) {
  const auto calls = [](const std::string& collective, TraceCategory category) {
    const PredictedStep step = predicted_with_zero3(collective);
    EXPECT_TRUE(step.remarks.empty());
    return step.communication[index(category)].calls.value_or(0);
  };
  const double scattered = calls("reduce-scatter", TraceCategory::reduce_scatter) -
                           calls("reduce", TraceCategory::reduce_scatter);  // tensor groups'
  const double reduced = calls("reduce", TraceCategory::other_comm);
  EXPECT_GT(scattered, 0);
  EXPECT_EQ(reduced, 8 * scattered);
}

TEST(TraceComparison, WhatIsMeasuredAsPredictedHasNoReadings) {
  const PredictedStep predicted = predict_step(scenario(), std::nullopt);
  const TraceComparison comparison = compare(as_predicted(predicted), &predicted);
  for (const TraceTerm& each : comparison.terms) {
    EXPECT_EQ(each.difference(), Seconds{}) << each.name;
  }
  EXPECT_TRUE(comparison.readings.empty());
  EXPECT_NEAR(sum(comparison, true), predicted.result.iteration_time.si(), 1e-9);
  EXPECT_NEAR(sum(comparison, false), predicted.result.iteration_time.si(), 1e-9);
}

TEST(TraceComparison, ASlowerCollectiveIsReadAsSlowerOrWaiting) {
  const PredictedStep predicted = predict_step(scenario(), std::nullopt);
  StepBreakdown step = as_predicted(predicted);
  CategoryTime& gather = step.categories[index(TraceCategory::all_gather)];
  const Seconds more = gather.busy;
  gather.communication_first += more;
  gather.busy += more;
  step.time += more;
  const auto use =
      std::find_if(step.collectives.begin(), step.collectives.end(), [](const auto& u) {
        return u.kind.category == TraceCategory::all_gather;
      });
  ASSERT_NE(use, step.collectives.end());
  use->time += more;
  use->fastest = 2 * use->fastest;
  TraceComparison comparison = compare(step, &predicted);
  ASSERT_EQ(comparison.readings.size(), 1U);
  EXPECT_TRUE(comparison.readings[0].starts_with("all-gather: measured "));
  EXPECT_NE(comparison.readings[0].find(", 2x the predicted "), std::string::npos);
  EXPECT_TRUE(comparison.readings[0].ends_with(
      "the links or the algorithm are slower than assumed, or every call waits"));
  use->fastest = 0.5 * use->fastest;
  comparison = compare(step, &predicted);
  EXPECT_TRUE(comparison.readings.at(0).ends_with(
      "its fastest calls are much faster: most of it is waiting for ranks that come late"));
  use->calls *= 2;
  gather.calls *= 2;
  comparison = compare(step, &predicted);
  EXPECT_TRUE(comparison.readings.at(0).ends_with(
      "2x the bytes: the run's plan, model or number formats differ"));
}

TEST(TraceComparison, ATermIsReadWhereItIsAnotherBothInTheStepAndByItself) {
  const PredictedStep predicted = predict_step(scenario(), std::nullopt);
  const auto readings_with = [&](double factor) {
    StepBreakdown step = as_predicted(predicted);
    CategoryTime& compute = step.categories[index(TraceCategory::matrix)];
    const Seconds more = (factor - 1) * compute.communication_first;
    compute.communication_first += more;
    step.time += more;
    return compare(step, &predicted).readings.size();
  };
  ASSERT_GT(0.1 * predicted.compute, 0.04 * predicted.result.iteration_time);
  EXPECT_EQ(readings_with(1.1), 0U) << "a tenth more, of however much";
  EXPECT_EQ(readings_with(1.2), 1U);
  EXPECT_EQ(readings_with(0.9), 0U);
  EXPECT_EQ(readings_with(0.8), 1U);
}

TEST(TraceComparison, SharesAreSharesOfThePredictedStep) {
  const PredictedStep predicted = predict_step(scenario(), std::nullopt);
  StepBreakdown step = as_predicted(predicted);
  step.only_shares = true;
  const double factor = 1e-3;
  step.time = factor * step.time;
  step.idle = factor * step.idle;
  for (CategoryTime& time : step.categories) {
    time.communication_first = factor * time.communication_first;
  }
  const TraceComparison comparison = compare(step, &predicted);
  EXPECT_NEAR(term(comparison, "compute").measured.counted / predicted.compute, 1, 1e-9);
  EXPECT_EQ(comparison.remarks.back(), "measured times are shares of the predicted step");
}

// An exported step has the predicted durations of its collectives, in whole microseconds.
TEST(TraceComparison, AnExportedStepIsReadBackAsPredicted) {
  if (!can_write_chakra()) {
    GTEST_SKIP() << "built without protobuf";
  }
  const Scenario run = scenario();
  const PredictedStep predicted = predict_step(run, 8);
  const TemporaryFolder folder;
  const std::string path =
      folder.file("rank.8.et", chakra_trace(ExportedStep(run, ExportDetail::layer), 8));
  const StepBreakdown step = break_down(load_chakra_trace(path));
  for (const TraceCategory category : {TraceCategory::all_gather, TraceCategory::reduce_scatter}) {
    const TermTime& expected = predicted.communication[index(category)];
    EXPECT_EQ(step[category].calls, expected.calls) << name(category);
    EXPECT_NEAR(step[category].busy / expected.busy, 1, 0.02) << name(category);
  }
}

TEST(TrainingLog, MegatronsLinesAfterTheWarmUpCount) {
  const TrainingLog log = load_training_log(root() / "tests/data/traces/megatron.log");
  EXPECT_EQ(log.program, "Megatron-LM");
  ASSERT_EQ(log.steps.size(), 5U);
  EXPECT_EQ(log.warm_up, 2);
  EXPECT_EQ(log.used(), 3);
  EXPECT_NEAR(log.time->mean, (2.0 + 2.04 + 2.01) / 3, 1e-12);
  EXPECT_NEAR(log.time->median, 2.01, 1e-12);
  EXPECT_NEAR(log.time->least, 2.0, 1e-12);
  EXPECT_NEAR(log.flops->median, 159e12, 1);
  EXPECT_EQ(log.steps[0].line, 2);
}

/// Of steps that take so many seconds each.
std::string log_of(const std::vector<int>& seconds) {
  std::string text;
  for (const int time : seconds) {
    text += "elapsed time per iteration (ms): " + std::to_string(1000 * time) + "\n";
  }
  return text;
}

TEST(TrainingLog, ATenthOfItsStepsWarmsUpRoundedUp) {
  const std::vector<std::pair<std::size_t, int>> cases = {
      {1, 0}, {2, 0}, {3, 1}, {4, 1}, {5, 2}, {10, 2}, {20, 2}, {21, 3}, {30, 3}, {31, 4}};
  for (const auto& [steps, warm_up] : cases) {
    const TrainingLog log = parse_training_log(log_of(std::vector<int>(steps, 2)), "a.log");
    EXPECT_EQ(log.warm_up, warm_up) << steps;
  }
}

TEST(TrainingLog, TheMiddleOfAnEvenNumberIsBetweenTwo) {
  const TrainingLog even = parse_training_log(log_of({9, 1, 4, 2}), "a.log", 0);
  EXPECT_EQ(even.time->median, 3.0);
  EXPECT_EQ(even.time->mean, 4.0);
  EXPECT_EQ(even.time->least, 1.0);
  EXPECT_EQ(even.time->most, 9.0);
  EXPECT_EQ(parse_training_log(log_of({9, 1, 4}), "a.log", 0).time->median, 4.0);
}

TEST(TrainingLog, LinesOfOtherProgramsAreUnderstood) {
  struct Case {
    std::string_view text;
    std::string_view program;
    std::optional<double> time;
    std::optional<double> tokens;
    std::optional<double> memory;
  };
  const std::vector<Case> cases = {
      {"[rank0]:[titan] \x1B[31mstep: 20  \x1B[32mloss: 11.8  memory: 48.5GiB(51.4%)  "
       "\x1B[34mtps: 4,376  \x1B[36mtflops: 253.41  mfu: 25.62%\x1B[39m\r",
       "torchtitan",
       std::nullopt,
       4376,
       48.5 * 1024 * 1024 * 1024},
      {"completed step: 4, seconds: 11.645, TFLOP/s/device: 194.526, Tokens/s/device: 4221.032, "
       "total_weights: 1572864, loss: 9.610",
       "MaxText",
       11.645,
       4221.032,
       std::nullopt},
      {"steps: 10 loss: 2.6 iter time (s): 1.250 samples/sec: 51.9", "DeepSpeed", 1.25, {}, {}},
      {"Training epoch 0, iteration 7/99 | train_step_timing in s: 3.456", "NeMo", 3.456, {}, {}},
      {"0: Step 19 train_step_timing 1.9324 timestamp: 1713522620986.02", "NeMo", 1.9324, {}, {}},
      // 768 sequences in 30 s, in batches of 64.
      {":::MLLOG {\"time_ms\": 500, \"key\": \"global_batch_size\", \"value\": 64}\n"
       "0: :::MLLOG {\"time_ms\": 1000, \"key\": \"block_start\", \"value\": null, "
       "\"metadata\": {\"first_epoch_num\": 0, \"epoch_count\": 768}}\n"
       "0: :::MLLOG {\"time_ms\": 31000, \"key\": \"block_stop\", \"value\": null, "
       "\"metadata\": {\"first_epoch_num\": 0, \"epoch_count\": 768}}\n",
       "MLPerf",
       2.5,
       {},
       {}},
  };
  for (const Case& each : cases) {
    const TrainingLog log = parse_training_log(each.text, "a.log");
    EXPECT_EQ(log.program, each.program);
    EXPECT_EQ(log.time ? std::optional(log.time->median) : std::nullopt, each.time) << each.program;
    EXPECT_EQ(log.tokens_per_s ? std::optional(log.tokens_per_s->median) : std::nullopt,
              each.tokens)
        << each.program;
    EXPECT_EQ(log.memory ? std::optional(log.memory->si()) : std::nullopt, each.memory)
        << each.program;
  }
}

TEST(TrainingLog, AnIterationThatTwoProgramsPrintIsCountedOnce) {
  const std::string_view text =
      "steps: 1 loss: 12.4 iter time (s): 150.471 samples/sec: 6.8\n"
      " iteration 1/ 100 | elapsed time per iteration (ms): 150471.3 | lm loss: 12.4 |\n"
      "steps: 2 loss: 12.4 iter time (s): 145.200 samples/sec: 7.0\n"
      " iteration 2/ 100 | elapsed time per iteration (ms): 145200.0 | lm loss: 12.4 |\n";
  const TrainingLog log = parse_training_log(text, "a.log", 1);
  EXPECT_EQ(log.steps.size(), 2u);
  EXPECT_EQ(log.program, "Megatron-LM");
  EXPECT_DOUBLE_EQ(log.time->mean, 145.2);
}

TEST(TrainingLog, WhatHasNoTimesAndTooMuchWarmUpAreRefused) {
  for (const std::string_view text :
       {"", "see https: 12", "memory: 3GiB step: 4", "compile seconds: 4", "step: 1 tps: -"}) {
    EXPECT_THROW((void)parse_training_log(text, "a.log"), InputError) << text;
  }
  const std::string_view two =
      "elapsed time per iteration (ms): 1\n"
      "elapsed time per iteration (ms): 2\n";
  EXPECT_EQ(parse_training_log(two, "a.log").warm_up, 0);
  EXPECT_EQ(parse_training_log(two, "a.log", 1).time->mean, 2e-3);
  EXPECT_THROW((void)parse_training_log(two, "a.log", 2), InputError);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer::testing
