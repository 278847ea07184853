#include "titer/plan/plan.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "temporary_folder.hpp"
#include "titer/input/file.hpp"
#include "titer/plan/schedule/read_schedule.hpp"
#include "titer/units/listed.hpp"

namespace titer {
namespace TITER_TEST_FILE {

using Lines = std::vector<std::string>;

struct PlanRead {
  Plan plan;
  Lines complaints;
};

/// Reads {"plan": <members>}; the first member stands in column 11 of line 1.
PlanRead read(const std::string& members) {
  const Document document = parse_json(R"({"plan": {)" + members + "}}", "run.json");
  Problems problems;
  Reader root(document, problems);
  Reader in = root.object("plan");
  PlanRead result;
  result.plan = read_plan(in);
  try {
    problems.raise();
  } catch (const InputError& error) {
    result.complaints = error.lines;
  }
  return result;
}

Plan sound(const std::string& members) {
  const PlanRead result = read(members);
  EXPECT_EQ(result.complaints, Lines());
  return result.plan;
}

void expect_complaint(const std::string& members, const std::string& line) {
  EXPECT_EQ(read(members).complaints, Lines{line});
}

TEST(ReadPlan, IsOneDeviceByDefault) {
  const Plan plan = sound("");
  EXPECT_EQ(plan.devices(), 1);
  EXPECT_EQ(plan.virtual_stages, 1);
  EXPECT_EQ(plan.micro_batch, 1);
  EXPECT_EQ(name(plan.schedule), "1f1b");
  EXPECT_EQ(plan.recompute, Recompute::none);
  EXPECT_FALSE(plan.sequence_parallel);
  EXPECT_EQ(plan.sharding, Sharding::none);
  EXPECT_EQ(rank_order_name(plan), "tp-dp-pp");
  EXPECT_EQ(plan.layers, LayerSplit(LayerRule::even));
  EXPECT_EQ(plan.attention, std::nullopt) << "the model's";
  EXPECT_EQ(plan.tensor_overlap, std::nullopt) << "the stack's";
  EXPECT_EQ(plan.pipeline_send, std::nullopt) << "likewise";
  EXPECT_EQ(plan.overlap_grad_reduce, std::nullopt);
  EXPECT_EQ(plan.overlap_param_gather, std::nullopt);
  EXPECT_EQ(plan.micro_batch_group, std::nullopt);
}

TEST(ReadPlan, TakesLayersByARuleOrAList) {
  EXPECT_EQ(sound(R"("layers": "lighter-ends")").layers, LayerSplit(LayerRule::lighter_ends));
  EXPECT_EQ(sound(R"("pipeline": 2, "layers": "Et|t|t|tL")").virtual_stages, 4 / 2);
  EXPECT_EQ(sound(R"("pipeline": 2, "layers": "Et|tL")").virtual_stages, 1);
  EXPECT_EQ(sound(R"("pipeline": 2, "layers": [3, 5])").layers,
            LayerSplit(std::vector<std::int64_t>{3, 5}));
}

TEST(ReadPlan, TakesEveryMember) {
  const Plan plan = sound(
      R"("pipeline": 8, "tensor": 4, "data": 2, "expert": 1, "context": 1, "virtual_stages": 3,
         "micro_batch": 5, "schedule": "gpipe", "recompute": "selective",
         "sequence_parallel": true, "sharding": "zero1", "rank_order": "dp-tp-pp",
         "attention": "flash", "tensor_overlap": "none", "micro_batch_group": 9,
         "pipeline_send": "overlapped", "overlap_grad_reduce": true,
         "overlap_param_gather": false)");
  EXPECT_EQ(plan.degree(Dimension::pipeline), 8);
  EXPECT_EQ(plan.degree(Dimension::tensor), 4);
  EXPECT_EQ(plan.degree(Dimension::data), 2);
  EXPECT_EQ(plan.devices(), 8 * 4 * 2);
  EXPECT_EQ(plan.virtual_stages, 3);
  EXPECT_EQ(plan.micro_batch, 5);
  EXPECT_EQ(name(plan.schedule), "gpipe");
  EXPECT_EQ(plan.recompute, Recompute::selective);
  EXPECT_TRUE(plan.sequence_parallel);
  EXPECT_EQ(plan.sharding, Sharding::zero1);
  EXPECT_EQ(rank_order_name(plan), "dp-tp-pp");
  EXPECT_EQ(plan.attention, AttentionKernel::flash);
  EXPECT_EQ(plan.tensor_overlap, TensorOverlap::none);
  EXPECT_EQ(plan.micro_batch_group, 9);
  EXPECT_EQ(plan.pipeline_send, PipelineSend::overlapped);
  EXPECT_EQ(plan.overlap_grad_reduce, true);
  EXPECT_EQ(plan.overlap_param_gather, false);
}

TEST(ReadPlan, KnowsEveryNameOfItsChoices) {
  for (const Choice<Recompute>& choice : kRecomputes) {
    if (choice.value == Recompute::modules) {
      continue;  // written as a list of them
    }
    const Plan plan = sound(R"("recompute": ")" + std::string(choice.name) + "\"");
    EXPECT_EQ(plan.recompute, choice.value);
    EXPECT_EQ(name(plan.recompute), choice.name);
  }
  for (const Choice<Sharding>& choice : kShardings) {
    const Plan plan = sound(R"("sharding": ")" + std::string(choice.name) + "\"");
    EXPECT_EQ(plan.sharding, choice.value);
    EXPECT_EQ(name(plan.sharding), choice.name);
  }
  for (const std::string schedule : {"gpipe", "1f1b"}) {
    EXPECT_EQ(name(sound(R"("schedule": ")" + schedule + "\"").schedule), schedule);
  }
}

TEST(ReadPlan, OrdersRanksWithOrWithoutTheDegreesThatAreOne) {
  EXPECT_EQ(rank_order_name(sound(R"("rank_order": "tp-cp-ep-dp-pp")")), "tp-dp-pp");
  EXPECT_EQ(rank_order_name(sound(R"("rank_order": "pp-dp-cp-tp")")), "pp-dp-tp");
  EXPECT_EQ(rank_order_name(sound(R"("rank_order": "dp-pp-tp")")), "dp-pp-tp");
}

TEST(ReadPlan, RefusesRankOrdersThatAreNone) {
  for (const std::string order :
       {"", "tp", "tp-dp", "tp-dp-dp-pp", "tp-dp-pp-xp", "tp,dp,pp", "tp--dp-pp", "TP-DP-PP"}) {
    expect_complaint(R"("rank_order": ")" + order + "\"",
                     "run.json:1:25: plan.rank_order: \"" + order +
                         "\": expected tp, dp and pp, and cp if there is one, in some order, "
                         "joined by dashes, such as \"tp-cp-dp-pp\"");
  }
}

TEST(ReadPlan, RefusesDegreesThatAreNoCounts) {
  expect_complaint(R"("tensor": 0)",
                   "run.json:1:21: plan.tensor: 0: expected an integer from 1 to 10000000");
  expect_complaint(R"("tensor": 2.5)",
                   "run.json:1:21: plan.tensor: 2.5: expected an integer from 1 to 10000000");
  expect_complaint(R"("tensor": "8")",
                   "run.json:1:21: plan.tensor: \"8\": expected an integer from 1 to 10000000; "
                   "did you mean 8?");
  expect_complaint(R"("micro_batch": -1)",
                   "run.json:1:26: plan.micro_batch: -1: expected an integer from 1 to 10000000");
}

TEST(ReadPlan, TakesAListOfModulesToRecompute) {
  const Plan plan = sound(R"("recompute": ["moe", "layer_norm"], "recompute_layers": 3)");
  EXPECT_EQ(plan.recompute, Recompute::modules);
  EXPECT_EQ(plan.recomputed_modules(), bits(Module::moe, Module::layer_norm));
  EXPECT_EQ(plan.recompute_layers, 3);
  expect_complaint(
      R"("recompute": ["moe", "norms"])",
      "run.json:1:24: plan.recompute: [\"moe\",\"norms\"]: expected some of "
      "core_attention, layer_norm, latent_up, mlp, moe, activation, shared_experts, attention, "
      "attention_result, attention_output, mlp_activation, not "
      "\"norms\"");
}

TEST(ReadPlan, TakesContextAndExpertDegrees) {
  const Plan plan = sound(
      R"("tensor": 2, "data": 8, "context": 4, "expert": 16, "expert_tensor": 1,
         "context_method": "ulysses", "context_balanced": false)");
  EXPECT_EQ(plan.devices(), 2 * 8 * 4);
  EXPECT_EQ(plan.replicas(), 8 * 4);
  EXPECT_EQ(plan.expert_replicas(), 2 * 8 * 4 / 16);
  EXPECT_EQ(plan.context_method, ContextMethod::ulysses);
  EXPECT_FALSE(plan.context_balanced);
}

TEST(ReadPlan, TakesInterleavedForTheScheduleThatRanksWithChunksHave) {
  const Plan plan = sound(R"("schedule": "interleaved", "virtual_stages": 3)");
  EXPECT_EQ(name(plan.schedule), "1f1b");
  EXPECT_EQ(plan.virtual_stages, 3);
  expect_complaint(R"("schedule": "interleaved")",
                   "run.json:1:23: plan.schedule: \"interleaved\": expected \"virtual_stages\" "
                   "too: how many chunks of layers a rank has (--set plan.virtual_stages=2)");
}

TEST(ReadPlan, SuggestsTheNameThatWasMeant) {
  expect_complaint(R"("schedule": "1f1")",
                   "run.json:1:23: plan.schedule: \"1f1\": expected one of: " +
                       listed(schedule_words(), &Choice<std::size_t>::name) +
                       "; did you mean \"1f1b\"?");
  expect_complaint(R"("recompute": "selectiv")",
                   "run.json:1:24: plan.recompute: \"selectiv\": expected one of: none, selective, "
                   "full, operations; did you mean \"selective\"?");
  expect_complaint(R"("sequence_parallel": "true")",
                   "run.json:1:32: plan.sequence_parallel: \"true\": expected true or false; did "
                   "you mean true?");
}

TEST(ReadPlan, RefusesUnknownKeysWithASuggestion) {
  expect_complaint(R"("tensr": 8)",
                   "run.json:1:11: plan.tensr: unknown key; did you mean \"tensor\"?");
  const Lines lines = read(R"("gpus": 8)").complaints;
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0].find("run.json:1:11: plan.gpus: unknown key; known keys: pipeline, tensor"),
            0U)
      << lines[0];
}

TEST(ReadPlan, ReportsEveryProblemAtOnce) {
  const Lines lines =
      read(R"("pipeline": 0, "schedule": "zb", "rank_order": "x", "color": 1)").complaints;
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_NE(lines[0].find("plan.pipeline"), std::string::npos);
  EXPECT_NE(lines[1].find("plan.schedule"), std::string::npos);
  EXPECT_NE(lines[2].find("plan.rank_order"), std::string::npos);
  EXPECT_NE(lines[3].find("plan.color"), std::string::npos);
}

TEST(ReadPlan, TakesAScheduleFromAFileBesideTheRun) {
  const testing::TemporaryFolder folder;
  const std::string list = actions_csv(named_schedule("zb-v"), {2, 4, 2});
  static_cast<void>(folder.file("own.csv", list));
  const std::string run =
      folder.file("run.json", R"({"plan": {"pipeline": 2, "schedule": "own.csv"}})");
  const Document document = load_json(run);
  Problems problems;
  Reader root(document, problems);
  Reader in = root.object("plan");
  const Plan plan = read_plan(in);
  problems.raise();
  EXPECT_EQ(name(plan.schedule), "own.csv");
  EXPECT_EQ(plan.virtual_stages, 2);
  EXPECT_EQ(placement(plan.schedule), Placement::wave);
  EXPECT_EQ(actions_csv(plan.schedule, {2, 4, 2}), list);
}

TEST(ReadPlan, NamesAScheduleFileThatIsNotThere) {
  expect_complaint(R"("schedule": "no/such.csv")",
                   "run.json:1:23: plan.schedule: \"no/such.csv\": no/such.csv: cannot be read");
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
