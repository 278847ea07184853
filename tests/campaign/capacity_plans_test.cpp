#include <fmt/format.h>
#include <gtest/gtest.h>

#include "temporary_folder.hpp"
#include "titer/campaign/capacity.hpp"

namespace titer {
namespace TITER_TEST_FILE {

TEST(ScaledPlan, KeepsTheBatchAndFillsNodes) {
  CapacityQuestion question = load_capacity("gpt3-175b");
  const PlannedStep planned = scaled_plan(question, 512);
  ASSERT_TRUE(planned.scenario);
  EXPECT_EQ(planned.scenario->plan.data, 8);
  EXPECT_EQ(planned.scenario->training.global_batch, 1536);
  EXPECT_TRUE(planned.step.fits());
  EXPECT_TRUE(validate(*planned.scenario).empty());
  EXPECT_EQ(scaled_plan(question, 100).problem,
            "expected a multiple of tensor x context x pipeline = 8 x 1 x 8 = 64");
  EXPECT_EQ(scaled_plan(question, 320).problem,
            "batch 1536 is not shared out evenly among 5 replicas; batch 1535 would do "
            "(--batch-slack 1%, or --set training.global_batch=1535)");
  // 64 x 7 devices: of 7 x 219 = 1533 and 7 x 220 = 1540 the nearer.
  question.scenario.training.global_batch = 1533;
  EXPECT_TRUE(scaled_plan(question, 448).scenario);
  question.scenario.training.global_batch = 1536;
  question.batch = BatchRule::scaled;
  EXPECT_EQ(scaled_plan(question, 320).scenario->training.global_batch, 1536 * 5 / 16);
}

TEST(ScaledPlan, OffersNoBatchOfLessThanHalf) {
  // Of five replicas one micro-batch of each fits, and two do not.
  CapacityQuestion question = load_capacity("gpt3-175b");
  question.scenario.plan.virtual_stages = 1;
  question.scenario.plan.recompute = Recompute::full;
  const auto peak = [&](std::int64_t batch) {
    Scenario scenario = question.scenario;
    scenario.plan.data = 5;
    scenario.training.global_batch = batch;
    return estimate(scenario).memory_peak;
  };
  ASSERT_LT(peak(5), peak(10));
  question.scenario.cluster.chip.memory.capacity = (peak(5) + peak(10)) / 2.0;
  const auto problem = [&](std::int64_t batch) {
    question.scenario.training.global_batch = batch;
    return scaled_plan(question, 320).problem;
  };
  EXPECT_EQ(problem(9),
            "batch 9 is not shared out evenly among 5 replicas; batch 5 would do "
            "(--batch-slack 45%, or --set training.global_batch=5)");
  EXPECT_EQ(problem(16), "batch 16 is not shared out evenly among 5 replicas");
}

TEST(SearchedPlan, HasABatchForItsDevices) {
  CapacityQuestion question = load_capacity("gpt3-175b");
  question.batch = BatchRule::scaled;
  question.scenario.training.global_batch = 24;
  const std::int64_t devices = question.scenario.plan.devices();
  const PlannedStep planned = searched_plans(2)(question, 2 * devices);
  ASSERT_TRUE(planned.scenario) << planned.problem;
  EXPECT_EQ(planned.scenario->training.global_batch, 48);
  EXPECT_EQ(planned.scenario->plan.devices(), 2 * devices);
  question.scenario.training.global_batch = 25;
  EXPECT_EQ(searched_plans(2)(question, devices / 2).problem,
            fmt::format("batch 25 of {} devices cannot be scaled to {}", devices, devices / 2));
}

TEST(ScaledPlan, IsTheFastestOfItsVariantsThatFit) {
  CapacityQuestion question = load_capacity("gpt3-175b");
  const PlannedStep planned = scaled_plan(question, 1024);
  // As asked, its micro-batch apart.
  Scenario one = *planned.scenario;
  one.plan.micro_batch = 1;
  EXPECT_LE(planned.step.iteration_time, estimate(one).iteration_time);
  // What does not fit as asked is recomputed.
  one.plan.recompute = Recompute::full;
  question.scenario.plan.recompute = Recompute::none;
  question.scenario.cluster.chip.memory.capacity = 1.01 * estimate(one).memory_peak;
  const PlannedStep tight = scaled_plan(question, 1024);
  ASSERT_TRUE(tight.scenario);
  EXPECT_EQ(tight.scenario->plan.recompute, Recompute::full);
  question.scenario.cluster.chip.memory.capacity = 4_GiB;
  EXPECT_TRUE(scaled_plan(question, 1024).problem.starts_with("does not fit: stage "));
}

TEST(ScaledPlan, RecomputesWhatItsSoftwareCan) {
  const auto planned = [](const char* stack) {
    const std::vector<Assignment> changes = {{"stack", Value(stack), "t"}};
    const CapacityQuestion question = load_capacity("llama3-405b", changes);
    PlannedStep found = scaled_plan(question, 16384);
    EXPECT_TRUE(missing_abilities(question.abilities, found.scenario->plan).empty()) << stack;
    return found;
  };
  EXPECT_EQ(planned("megatron-lm").scenario->plan.recompute, Recompute::full);
  EXPECT_EQ(planned("megatron-core").scenario->plan.recompute, Recompute::modules);
  // What is beyond it as it is asked is recomputed as others are.
  CapacityQuestion beyond = load_capacity("llama3-405b");
  beyond.abilities.sequence_parallel = false;
  EXPECT_EQ(scaled_plan(beyond, 16384).scenario->plan.recompute, Recompute::modules);
  beyond = load_capacity("llama3-405b");
  beyond.abilities.recompute = {Recompute::none};
  EXPECT_TRUE(scaled_plan(beyond, 16384).problem.starts_with("does not fit: stage "));
}

TEST(ScaledPlan, OfImagesHasSmallerMicroBatchesOnMoreDevices) {
  const std::vector<Assignment> changes = {{"tokens", Value("1B"), "t"}};
  const CapacityQuestion question = load_capacity("resnet-50-8xa100", changes);
  EXPECT_EQ(scaled_plan(question, 16).scenario->plan.micro_batch, 128);
  // A part of a node, although the run fixes whole ones.
  EXPECT_FALSE(scaled_plan(question, 8).scenario->cluster.nodes == std::nullopt);
  EXPECT_TRUE(scaled_plan(question, 4).scenario);
}

TEST(ScaledPlan, GivesUpVirtualStagesWhereTheyDoNotDivide) {
  // 12 micro-batches are no whole groups of 8 stages.
  const PlannedStep planned = scaled_plan(load_capacity("gpt3-175b"), 8192);
  ASSERT_TRUE(planned.scenario);
  EXPECT_EQ(planned.scenario->plan.virtual_stages, 1);
}

TEST(CapacityPlans, MayHaveAnotherBatchWithinTheSlack) {
  CapacityQuestion question;
  question.scenario = ScenarioSource::load("resnet-50-8xa100").read();
  question.scenario.cluster.nodes.reset();
  question.scenario.training.global_batch = 1000;
  const auto batch = [&](const PlannedStep& planned) {
    return planned.scenario ? planned.scenario->training.global_batch : 0;
  };
  // 24 devices: 1008 = 24 x 42 is 0.8 % more.
  EXPECT_EQ(batch(scaled_plan(question, 24)), 0);
  question.batch_slack = 0.01;
  EXPECT_EQ(batch(scaled_plan(question, 24)), 1008);
  EXPECT_EQ(batch(searched_plans()(question, 24)), 1008);
  EXPECT_EQ(batch(searched_plans()(question, 8)), 1000);
  question.batch_slack = 0.005;
  EXPECT_EQ(batch(scaled_plan(question, 24)), 0);
}

/// 151 is a prime: nothing but data-parallel replicas has so many parts, if the batch has.
TEST(CapacityPlans, OfASearchOfferTheBatchThatDevicesShareOut) {
  CapacityQuestion question;
  question.scenario = ScenarioSource::load("llama3-70b-64xh100").read();
  question.scenario.training.global_batch = 2048;
  EXPECT_EQ(searched_plans()(question, 1208).problem,
            "batch 2048 is not shared out by 1208 devices; batch 2114 would do (--batch-slack 4%, "
            "or --set training.global_batch=2114)");
  question.batch_slack = 0.04;
  const PlannedStep planned = searched_plans()(question, 1208);
  ASSERT_TRUE(planned.scenario) << planned.problem;
  EXPECT_EQ(planned.scenario->training.global_batch, 14 * 151);
}

TEST(CapacityPlans, OfferABatchByFlagsThatMayTakeIt) {
  EXPECT_EQ(offer_of_batch(100, std::nullopt), "");
  EXPECT_EQ(offer_of_batch(100, 151), "; batch 151 would do (--set training.global_batch=151)");
  EXPECT_EQ(offer_of_batch(100, 50),
            "; batch 50 would do (--batch-slack 50%, or --set training.global_batch=50)");
}

TEST(CapacityPlans, OfASearchAreNoSlowerThanTheScenariosOwn) {
  CapacityQuestion question;
  question.scenario = ScenarioSource::load("resnet-50-8xa100").read();
  for (const std::int64_t devices : {8, 16}) {
    const PlannedStep own = scaled_plan(question, devices);
    const PlannedStep best = searched_plans()(question, devices);
    ASSERT_TRUE(own.scenario && best.scenario) << own.problem << best.problem;
    EXPECT_LE(best.step.iteration_time, own.step.iteration_time);
    EXPECT_EQ(best.scenario->plan.devices(), devices);
    EXPECT_EQ(best.step.iteration_time, estimate(*best.scenario).iteration_time);
  }
}

TEST(CapacityPlans, OfASearchSayWhyThereIsNone) {
  CapacityQuestion question;
  question.scenario = ScenarioSource::load("gpt3-175b-64xa100").read();
  const std::string problem = searched_plans()(question, 1).problem;
  EXPECT_NE(problem.find("over the memory"), std::string::npos) << problem;
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
