// What software can do, as its stack says.

#include "titer/plan/abilities.hpp"

#include <gtest/gtest.h>

#include "titer/scenario/notes.hpp"

namespace titer {
namespace TITER_TEST_FILE {

Abilities read(const std::string& text) {
  const Document document = parse_json(R"({"abilities": )" + text + "}", "stack.json");
  Problems problems;
  Reader in(document, problems);
  Abilities abilities = read_abilities(in);
  problems.raise();
  return abilities;
}

std::string refusal_of(const std::string& text) {
  try {
    static_cast<void>(read(text));
  } catch (const InputError& error) {
    return error.lines.front();
  }
  return "";
}

TEST(Abilities, HaveNoLimitWhereNothingIsSaid) {
  Plan plan;
  plan.pipeline = plan.tensor = plan.context = 4;
  plan.data = 2;
  plan.schedule = named_schedule("dualpipe");
  plan.sharding = Sharding::zero3;
  EXPECT_TRUE(missing_abilities(Abilities(), plan).empty());
  EXPECT_TRUE(missing_abilities(read(R"({"source": "documents"})"), plan).empty());
}

TEST(Abilities, NameAllThatIsMissing) {
  const Abilities abilities = read(R"({
    "source": "documents", "context": 1, "virtual_stages": 1, "schedule": ["1f1b"],
    "recompute": ["none"], "sharding": ["none", "zero1", "zero3"],
    "sharding_with_pipeline": ["none", "zero1"], "offload": ["optimizer"],
    "tensor_overlap": ["none", "bulk"], "sequence_parallel": false,
    "overlap_grad_reduce": false})");
  Plan plan;
  plan.pipeline = 4;
  plan.tensor = 2;
  plan.data = 2;
  plan.sharding = Sharding::zero1;
  plan.offload.optimizer = HostPlace::host;
  EXPECT_TRUE(missing_abilities(abilities, plan).empty());
  plan.context = 2;
  plan.virtual_stages = 3;
  plan.recompute = Recompute::full;
  plan.sharding = Sharding::zero3;
  plan.offload.weights = HostPlace::host;
  plan.tensor_overlap = TensorOverlap::ring;
  plan.sequence_parallel = true;
  plan.overlap_grad_reduce = true;
  EXPECT_EQ(missing_abilities(abilities, plan),
            (std::vector<std::string>{"context 2",
                                      "sequence_parallel",
                                      "recompute full",
                                      "tensor_overlap ring",
                                      "virtual_stages 3",
                                      "sharding zero3 with pipeline 4",
                                      "offload weights+optimizer",
                                      "overlap_grad_reduce"}));
  // What does nothing needs nothing: one stage, one rank of a tensor group, no replicas.
  Plan one;
  one.schedule = named_schedule("dualpipe");
  one.sharding = Sharding::zero2;
  one.sequence_parallel = true;
  EXPECT_TRUE(missing_abilities(abilities, one).empty());
}

/// Experts' exchanges beside another micro-batch need virtual stages, and no full recomputation.
TEST(Abilities, TellBesideWhatExpertsExchange) {
  const Abilities abilities = read(R"({
    "source": "documents", "expert_dispatch": ["all-to-all"],
    "expert_overlap_recompute": ["none", "selective"],
    "expert_overlap_schedule": ["interleaved"]})");
  Plan plan;
  plan.expert = 8;
  plan.expert_overlap = true;
  EXPECT_TRUE(missing_abilities(abilities, plan).empty());
  plan.pipeline = 4;
  plan.recompute = Recompute::full;
  plan.expert_dispatch = ExpertDispatch::deduplicated;
  EXPECT_EQ(missing_abilities(abilities, plan),
            (std::vector<std::string>{"expert_dispatch deduplicated",
                                      "expert_overlap with recompute full",
                                      "expert_overlap with schedule 1f1b"}));
  plan.virtual_stages = 2;
  plan.recompute = Recompute::selective;
  plan.expert_dispatch = ExpertDispatch::all_to_all;
  EXPECT_TRUE(missing_abilities(abilities, plan).empty());
  plan.schedule = named_schedule("dualpipe");
  EXPECT_EQ(missing_abilities(abilities, plan).size(), 1u);
  plan.expert_overlap = false;
  EXPECT_TRUE(missing_abilities(abilities, plan).empty());
  EXPECT_NE(refusal_of(R"({"source": "documents", "expert_overlap_schedule": ["dual"]})")
                .find("expected a list of some of "),
            std::string::npos);
}

TEST(Abilities, AreReadStrictly) {
  EXPECT_EQ(refusal_of(R"({"source": "documents", "schedules": ["1f1b"]})"),
            "stack.json:1:39: abilities.schedules: unknown key; did you mean \"schedule\"?");
  const std::string wrong = refusal_of(R"({"source": "documents", "sharding": ["zero4"]})");
  EXPECT_NE(wrong.find("zero4: expected a list of some of none, zero1, "), std::string::npos)
      << wrong;
  EXPECT_NE(refusal_of("{}").find("abilities.source: missing"), std::string::npos);
}

/// Every shipped stack says what it can do and where that is written, and its own habits are
/// within it.
TEST(Abilities, OfShippedStacksHaveTheirSources) {
  for (const std::string& stack : shipped_names(kStackData)) {
    SCOPED_TRACE(stack);
    ScenarioSource source = ScenarioSource::load("gpt3-175b-64xa100");
    source.assign({"stack", Value(stack), "test"});
    const Value* named = source.document().at("stack.abilities.source");
    ASSERT_NE(named, nullptr);
    EXPECT_NE(source.document().at("stack.sources." + named->text), nullptr);
    const Scenario scenario = source.read();
    Plan plan = scenario.plan;
    plan.tensor_overlap = scenario.tensor_overlap();
    plan.pipeline_send = scenario.pipeline_send();
    for (const std::string& missing : missing_abilities(software_abilities(source), plan)) {
      EXPECT_FALSE(missing.starts_with("tensor_overlap") || missing.starts_with("pipeline_send"))
          << missing;
    }
  }
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
