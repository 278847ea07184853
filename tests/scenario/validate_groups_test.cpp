// What a plan with context and expert groups demands of model, sequence and devices.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "scenario/moe.hpp"
#include "scenario/violations.hpp"
#include "titer/plan/place/placement.hpp"

namespace titer {
namespace TITER_TEST_FILE {

/// t = 2, cp = 4, d = 4, ep = 4, etp = 2; 8 experts, 1024 tokens, 24 heads.
Scenario sound() {
  return moe::scenario({.tensor = 2, .context = 4, .data = 4, .expert = 4, .expert_tensor = 2});
}

struct Case {
  std::string_view about;
  std::function<void(Scenario&)> change;
  Lines lines;
};

TEST(ValidateGroups, FindsNothingWrongWithGroupsThatDivide) {
  EXPECT_EQ(texts(sound()), Lines());
  for (const moe::Degrees& degrees : moe::kDegrees) {
    EXPECT_EQ(texts(moe::scenario(degrees)), Lines()) << moe::text_of(degrees);
  }
}

TEST(ValidateGroups, SaysWhatDoesNotDivide) {
  const std::vector<Case> cases = {
      {"halves of a part",
       [](Scenario& s) { s.training.sequence = 1020; },
       {"plan.sequence_parallel: true: expected a tensor degree that divides the part of a "
        "sequence "
        "of 255 tokens, not 2",
        "plan.context: 4: expected the sequence of 1020 tokens to be a multiple of 8: every rank "
        "has an early and a late part of it"}},
      {"parts",
       [](Scenario& s) {
         s.plan.context_balanced = false;
         s.plan.sequence_parallel = false;
         s.training.sequence = 1022;
       },
       {"plan.context: 4: expected the sequence of 1022 tokens to be a multiple of 4"}},
      {"heads by all-to-all",
       [](Scenario& s) {
         s.plan.context_method = ContextMethod::ulysses;
         s.model.transformer().heads = s.model.transformer().kv_heads = 12;
       },
       {"plan.context: 4: expected 12 attention heads to be a multiple of tensor x this = 2 x 4: "
        "the method ulysses gives every rank some of them"}},
      {"key-value heads by all-to-all",
       [](Scenario& s) {
         s.plan.context_method = ContextMethod::ulysses;
         s.model.transformer().kv_heads = 6;
       },
       {"plan.context: 4: expected a divisor or a multiple of the 3 key-value heads of a "
        "tensor-parallel rank"}},
      {"gathered tokens beside another micro-batch",
       [](Scenario& s) {
         s.plan.expert_dispatch = ExpertDispatch::all_gather;
         s.plan.expert_overlap = true;
       },
       {"plan.expert_overlap: true: expected another plan.expert_dispatch than all-gather, whose "
        "tokens no software takes on their way beside another micro-batch"}},
      {"neighbours",
       [](Scenario& s) {
         s.plan.context_method = ContextMethod::hierarchical;
         s.plan.context_inner = 3;
       },
       {"plan.context_inner: 3: expected a divisor of the context degree 4"}},
      {"neighbours of another method",
       [](Scenario& s) { s.plan.context_inner = 2; },
       {"plan.context_inner: 2: expected the context_method hierarchical, whose all-to-all it is "
        "of"}},
      {"experts",
       [](Scenario& s) { s.model.transformer().experts->count = 6; },
       {"plan.expert: 4: expected a divisor of the 6 experts"}},
      {"parts of experts",
       [](Scenario& s) { s.model.transformer().experts->ffn = 1001; },
       {"plan.expert_tensor: 2: expected a divisor of the experts' width 1001"}},
      {"shared experts",
       [](Scenario& s) { s.model.transformer().experts->shared_ffn = 1001; },
       {"plan.tensor: 2: expected a divisor of the shared experts' width 1001"}},
      {"devices",
       [](Scenario& s) {
         s.plan.data = 5;
         s.plan.context = 1;
         s.training.global_batch = 40;
       },
       {"plan.expert: 4: expected expert x expert_tensor = 8 to divide the 10 devices of a "
        "pipeline "
        "rank: experts are on ranks of tensor, context and data"}},
      {"shards",
       [](Scenario& s) {
         s.plan.sharding = Sharding::zero1;
         s.plan.shard = 3;
       },
       {"plan.shard: 3: expected a divisor of the 16 ranks that have the same parameters"}},
      {"a model without experts",
       [](Scenario& s) {
         s.model = shipped::model("megatron-1.7b");
         s.plan.expert_tensor = 1;
         s.plan.expert_overlap = true;
         s.plan.fused_experts = true;
       },
       {"plan.expert: 4: expected a model with experts, which megatron-1.7b has not",
        "plan.expert_tensor: 1: expected a model with experts, which megatron-1.7b has not",
        "plan.expert_overlap: true: expected a model with experts, which megatron-1.7b has not",
        "plan.fused_experts: true: expected a model with experts, which megatron-1.7b has not"}},
      {"an order that tears experts apart",
       [](Scenario& s) {
         s.plan.pipeline = 2;
         s.plan.rank_order = {
             Dimension::pipeline, Dimension::tensor, Dimension::context, Dimension::data};
       },
       {"plan.rank_order: pp-tp-cp-ep-dp: expected tp first and pp last where experts have groups "
        "of their own"}},
  };
  for (const Case& one : cases) {
    Scenario scenario = sound();
    one.change(scenario);
    EXPECT_EQ(texts(scenario), one.lines) << one.about;
  }
}

TEST(ValidateGroups, HidesNoTablesBehindOtherMicroBatches) {
  for (const std::string name : {"dlrm-criteo-kaggle", "resnet-50"}) {
    Scenario scenario = sound();
    scenario.model = shipped::any_model(name);
    const std::string line =
        "plan.expert_overlap: true: expected false: " + name + " is no transformer";
    const auto count = [&] {
      const Lines lines = texts(scenario);
      return std::count(lines.begin(), lines.end(), line);
    };
    EXPECT_EQ(count(), 0) << name;
    scenario.plan.expert_overlap = true;
    EXPECT_EQ(count(), 1) << name;
  }
}

TEST(ValidateGroups, SaysWhatOfAModelCannotBeRecomputed) {
  Scenario scenario = sound();
  const std::string name = scenario.model.name();
  scenario.plan.recompute = Recompute::modules;
  scenario.plan.recomputed =
      static_cast<Modules>(bit(Module::latent_up) | bit(Module::mlp) | bit(Module::shared_experts));
  EXPECT_EQ(texts(scenario),
            (Lines{"plan.recompute: latent_up: expected a model with latent attention, which " +
                       name + " has not",
                   "plan.recompute: shared_experts: expected a model with shared experts, which " +
                       name + " has not"}));
  scenario.plan.recompute = Recompute::selective;
  scenario.plan.recomputed = 0;
  scenario.plan.recompute_every = 2;
  scenario.plan.recompute_layers = 1;
  scenario.plan.sequence_parallel = false;
  scenario.plan.distribute_saved_activations = true;
  EXPECT_EQ(
      texts(scenario),
      (Lines{"plan.recompute_every: 2: expected the recompute full: it keeps the input of one "
             "layer in so many",
             "plan.recompute_layers: 1: expected the recompute full: it is of so many layers "
             "of a stage",
             "plan.distribute_saved_activations: true: expected the recompute full: it is of what "
             "is kept of whole layers"}));
  scenario.plan.recompute = Recompute::full;
  EXPECT_EQ(texts(scenario), Lines());
  scenario.plan.sequence_parallel = true;
  EXPECT_EQ(texts(scenario),
            (Lines{"plan.distribute_saved_activations: true: expected false with "
                   "sequence_parallel, which splits what is kept of layers"}));
}

TEST(ValidateGroups, SaysWhatOfAModelCannotBeLaunchedAsOne) {
  Scenario scenario = sound();
  const std::string name = scenario.model.name();
  scenario.plan.cuda_graph =
      static_cast<LayerPartSet>(bit(LayerPart::attention) | bit(LayerPart::mixer));
  EXPECT_EQ(texts(scenario),
            (Lines{"plan.cuda_graph: mixer: expected a model with a mixer of tokens, which " +
                   name + " has not"}));
  scenario.plan.cuda_graph = bit(LayerPart::experts);
  EXPECT_EQ(texts(scenario), Lines()) << "it has experts";
  scenario.plan.cuda_graph = kWholeIteration;
  scenario.model = shipped::any_model("resnet-50");
  const auto line = [&] {
    const Lines lines = texts(scenario);
    return std::count(lines.begin(),
                      lines.end(),
                      "plan.cuda_graph: attention: expected none or iteration: resnet-50 is no "
                      "transformer");
  };
  EXPECT_EQ(line(), 0);
  scenario.plan.cuda_graph = bit(LayerPart::attention);
  EXPECT_EQ(line(), 1);
}

TEST(ValidateGroups, LeavesNumbersThatNobodyCanCountToOthers) {
  Scenario scenario = sound();
  scenario.plan.tensor = scenario.plan.context = scenario.plan.data = 10'000'000;
  for (const std::string& line : texts(scenario)) {
    EXPECT_EQ(line.find("plan.expert: "), std::string::npos) << line;
  }
}

TEST(RankOrder, HasExpertsBetweenTensorAndDataRanks) {
  const auto read = [](std::string_view order, int expert) {
    const Document document = parse_json("{\"data\": 4, \"expert\": " + std::to_string(expert) +
                                             ", \"rank_order\": \"" + std::string(order) + "\"}",
                                         "plan.json");
    Problems problems;
    Reader in(document, problems);
    const Plan plan = read_plan(in);
    problems.raise();
    return rank_order_name(plan);
  };
  EXPECT_EQ(read("tp-cp-ep-dp-pp", 2), "tp-ep-dp-pp");
  EXPECT_EQ(read("tp-ep-cp-dp-pp", 2), "tp-ep-dp-pp") << "experts take no notice of cp";
  EXPECT_EQ(read("tp-cp-dp-ep-pp", 1), "tp-dp-pp") << "nothing is inside of nothing";
  EXPECT_THROW(static_cast<void>(read("tp-cp-dp-ep-pp", 2)), InputError);
  EXPECT_THROW(static_cast<void>(read("ep-tp-dp-pp", 2)), InputError);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
