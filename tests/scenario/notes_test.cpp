#include "titer/scenario/notes.hpp"

#include <gtest/gtest.h>

#include "scenario/scenarios.hpp"

namespace titer::testing {
namespace TITER_TEST_FILE {

using Lines = std::vector<std::string>;

TEST(AnswerNotes, SayTheSequenceThenWhatTheSoftwareLacks) {
  EXPECT_EQ(notes_of("4096 tokens", "neox", {"context 2", "fp8"}),
            (Lines{"4096 tokens", "beyond what neox can do: context 2, fp8"}));
  EXPECT_EQ(notes_of(std::nullopt, "neox", {"fp8"}), Lines{"beyond what neox can do: fp8"});
  EXPECT_EQ(notes_of("4096 tokens", "neox", {}), Lines{"4096 tokens"});
  EXPECT_TRUE(notes_of(std::nullopt, "neox", {}).empty());
}

/// A configuration of another program's is taken as far as it is known, which is said.
TEST(AnswerNotes, SayWhatIsNotReadOfAConfiguration) {
  const auto notes = [](std::string_view key) {
    const Document document = parse_json(
        R"({"model": {"model_type": "llama", "num_hidden_layers": 2, "hidden_size": 256,
"intermediate_size": 512, "num_attention_heads": 4, "vocab_size": 512,
"max_position_embeddings": 128, )" +
            std::string(key) +
            R"(}, "cluster": "dgx-h100", "training": {"global_batch": 1, "sequence": 128}})",
        "run.json");
    const ScenarioSource source(document);
    return answer_notes(source, source.read());
  };
  using Notes = std::vector<std::string>;
  EXPECT_EQ(notes(R"("attention_of_ours": true, "also_ours": 3)"),
            Notes{"not read of the model's configuration, and may change the result: "
                  "attention_of_ours, also_ours"});
  EXPECT_EQ(notes(R"("attention_of_ours": false)"), Notes{});
  EXPECT_EQ(notes(R"("torch_dtype": "bfloat16")"), Notes{});
}

TEST(PlanNotes, SayWhatStagesHaveWhereSomeLayersAreLeftOver) {
  Scenario scenario = scenarios::shipped_run({"plan.virtual_stages=1"});
  EXPECT_EQ(plan_notes(scenario), Lines{});
  scenario.plan.pipeline = 7;
  EXPECT_EQ(
      plan_notes(scenario),
      Lines{"plan.layers=even does not share out 96 layers evenly over 7 stages: 5 x 14, 2 x 13"});
  scenario.plan.layers = std::vector<std::int64_t>{12, 14, 14, 14, 14, 14, 14};
  EXPECT_EQ(plan_notes(scenario), Lines{});
}

TEST(PlanNotes, SayHowManyDevicesOfARackKeepGroupsWhole) {
  const auto notes = [](std::vector<std::string> changes) {
    changes.insert(changes.begin(),
                   {"cluster=gb200-nvl72",
                    "plan.pipeline=1",
                    "plan.virtual_stages=1",
                    "training.global_batch=1152"});
    return plan_notes(scenarios::shipped_run(changes));
  };
  EXPECT_EQ(notes({"plan.tensor=8", "plan.data=8"}), Lines{});   // in one rack
  EXPECT_EQ(notes({"plan.tensor=8", "plan.data=18"}), Lines{});  // fill two
  EXPECT_EQ(notes({"plan.tensor=8", "plan.data=16"}),
            Lines{"64 of the 72 devices of each node are used"});
  EXPECT_EQ(notes({"plan.tensor=8", "plan.data=17", "training.global_batch=1156"}),
            (Lines{"68 of the 72 devices of each node are used",
                   "groups of 8 ranks are cut by nodes of 68 devices"}));
  EXPECT_EQ(notes({"plan.tensor=16", "plan.data=36"}),
            Lines{"groups of 16 ranks are cut by nodes of 72 devices: "
                  "cluster.node.fabric.devices=64 and cluster.node.nics=64 use as many of each"});
  EXPECT_EQ(notes({"plan.tensor=16", "plan.data=36", "cluster.node.fabric.devices=64"}), Lines{});
}

TEST(BeyondSoftware, NamesTensorRanksWithoutAHeadOfTheirOwn) {
  Abilities abilities;
  abilities.tensor_beyond_kv_heads = false;
  Scenario scenario = scenarios::shipped_run();
  scenario.model.transformer().kv_heads = 4;
  scenario.plan.tensor = 8;
  EXPECT_EQ(beyond_software(abilities, scenario), Lines{"tensor 8 of 4 key-value heads"});
  EXPECT_TRUE(beyond_software(Abilities(), scenario).empty());
  scenario.plan.tensor = 4;
  EXPECT_TRUE(beyond_software(abilities, scenario).empty());
}

TEST(ScenarioNotes, HasEachLineOnceWithThoseThatItIsOf) {
  ScenarioNotes notes;
  notes.add("a", {"all", "some"});
  notes.add("b", {"all"});
  notes.add("c", {"all", "last", "some"});
  EXPECT_EQ(notes.lines(), (Lines{"all", "some (in a, c)", "last (in c)"}));
  EXPECT_TRUE(ScenarioNotes().lines().empty());
}

}  // namespace TITER_TEST_FILE
}  // namespace titer::testing
