#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "paths.hpp"
#include "scenario/scenarios.hpp"
#include "scenario/source_texts.hpp"
#include "titer/scenario/source.hpp"

namespace titer {
namespace TITER_TEST_FILE {

using namespace source_texts;

// --- parse_assignment --------------------------------------------------------------------------

TEST(ParseAssignment, SplitsAtTheFirstEqualsSign) {
  const Assignment assignment = parse_assignment("plan.tensor=8");
  EXPECT_EQ(assignment.path, "plan.tensor");
  EXPECT_EQ(assignment.value.integer, 8);
  EXPECT_EQ(assignment.source, "--set plan.tensor=8");
  EXPECT_EQ(parse_assignment("title=a=b").value.text, "a=b");
}

TEST(ParseAssignment, TakesJsonForJsonAndAllElseForText) {
  EXPECT_EQ(parse_assignment("a=true").value.kind, Value::Kind::boolean);
  EXPECT_EQ(parse_assignment("a=1e3").value.number, 1000.0);
  EXPECT_EQ(parse_assignment("a=null").value.kind, Value::Kind::null);
  EXPECT_EQ(parse_assignment(R"(a={"b": [1, 2]})").value.find("b")->items.size(), 2U);
  EXPECT_EQ(parse_assignment(R"(a="8")").value.text, "8");
  for (const std::string text : {"25 GB/s", "llama2-7b", "", "1f1b", "NaN"}) {
    const Value value = parse_assignment("a=" + text).value;
    EXPECT_EQ(value.kind, Value::Kind::text) << text;
    EXPECT_EQ(value.text, text);
  }
}

TEST(ParseAssignment, TakesWhatBeginsAsAnObjectOrListForNothingElse) {
  EXPECT_EQ(
      complaints([] { (void)parse_assignment(R"(plan={"tensor": 8, "tensor": 4})"); }),
      Lines{R"(--set plan={"tensor": 8, "tensor": 4}:1:15: tensor: this key is given twice)"});
  EXPECT_EQ(complaints([] { (void)parse_assignment("plan.layers=[1, 2"); }),
            Lines{"--set plan.layers=[1, 2:1:6: not valid JSON: expected a comma or ']' here, but "
                  "the text ends"});
}

TEST(ParseAssignment, RefusesWhatHasNoPath) {
  for (const std::string text : {"plan.tensor", "=8", ""}) {
    EXPECT_EQ(complaints([&] { (void)parse_assignment(text); }),
              Lines{"--set " + text + ": expected path=value, such as plan.tensor=8"});
  }
}

// --- assign ------------------------------------------------------------------------------------

TEST(Assign, SetsOneValue) {
  const Scenario scenario = shipped_run({"plan.virtual_stages=1", "plan.recompute=full"});
  EXPECT_EQ(scenario.plan.virtual_stages, 1);
  EXPECT_EQ(scenario.plan.recompute, Recompute::full);
}

TEST(Assign, ReachesThroughNames) {
  const Scenario scenario = shipped_run({"cluster.chip.memory.bandwidth=3 TB/s",
                                         "model.hidden=6144",
                                         "model.head_dim=64",
                                         "stack.dispatch=0 s"});
  EXPECT_EQ(scenario.cluster.chip.memory.bandwidth, 3_TBps);
  EXPECT_EQ(scenario.model.transformer().hidden, 6144);
  EXPECT_EQ(scenario.stack.dispatch, Seconds{});
}

TEST(Assign, ReplacesAWholePartByItsName) {
  const Scenario scenario =
      shipped_run({"model=llama2-70b", "plan.virtual_stages=1", "cluster.chip=h100-sxm5-80gb"});
  EXPECT_EQ(scenario.model.transformer().name, "llama2-70b");
  EXPECT_EQ(scenario.cluster.name, "dgx-a100-80gb");
  EXPECT_EQ(scenario.cluster.chip.name, "h100-sxm5-80gb");
}

TEST(Assign, TakesAnObjectWithANameAndChanges) {
  const Scenario scenario =
      shipped_run({R"(cluster={"name": "dgx-h100", "nodes": 8, "node": {"nics": 4}})"});
  EXPECT_EQ(scenario.cluster.name, "dgx-h100");
  EXPECT_EQ(scenario.cluster.nics, 4);
}

TEST(Assign, LaterOnesWin) {
  EXPECT_EQ(
      shipped_run({"training.global_batch=128", "training.global_batch=256"}).training.global_batch,
      256);
}

TEST(Assign, MarksAFigureAsGivenByTheUser) {
  const Scenario scenario = shipped_run({"cluster.chip.memory.bandwidth=3 TB/s"});
  const Evidence* figure = scenario.cluster.chip.evidence.find("memory.bandwidth");
  ASSERT_NE(figure, nullptr);
  EXPECT_EQ(figure->value, "3 TB/s");
  EXPECT_EQ(figure->source, "given by the user");
  EXPECT_EQ(figure->grade, Grade::given);
}

TEST(Assign, TakesNullForAbsent) {
  EXPECT_EQ(shipped_run({"cluster.nodes=null"}).cluster.nodes, std::nullopt);
}

TEST(Assign, SaysWhereAWrongValueWasGiven) {
  EXPECT_EQ(complaints_about("plan.tensor=5.5"),
            Lines{"--set plan.tensor=5.5: plan.tensor: 5.5: expected an integer from 1 to "
                  "10000000"});
  EXPECT_EQ(complaints_about("plan.tensr=8"),
            Lines{"--set plan.tensr=8: plan.tensr: unknown key; did you mean \"tensor\"?"});
  EXPECT_EQ(complaints_about("cluster.chip.memory.bandwidth=3000"),
            Lines{"--set cluster.chip.memory.bandwidth=3000: cluster.chip.memory.bandwidth: 3000: "
                  "expected a bandwidth with its unit, such as \"25 GB/s\"; did you mean \"3000 "
                  "GB/s\" or \"3000 Gbps\"?"});
}

TEST(Assign, SaysWhereAnUnknownNameWasGiven) {
  EXPECT_EQ(complaints_about("model=gpt3-175"),
            Lines{"--set model=gpt3-175: model: gpt3-175: no shipped model has this name; did you "
                  "mean \"gpt3-175b\"? (a file is given by a path with a slash or ending in "
                  ".json)"});
}

TEST(Assign, SaysWhichValueDoesNotGoWithTheOthers) {
  EXPECT_EQ(complaints_about("training.global_batch=60"),
            Lines{testing::root().string() +
                  "/configs/runs/gpt3-175b-64xa100.json:10:23: plan.virtual_stages: 3: expected "
                  "the 60 micro-batches to be a multiple of the 8 stages, as interleaving needs"});
  EXPECT_EQ(complaints_about("cluster.nodes=9")
                .front()
                .find("--set cluster.nodes=9: cluster.nodes: 9: expected pipeline x tensor x data"),
            0U);
}

TEST(Assign, RefusesPathsThatLeadNowhere) {
  for (const std::string assignment :
       {"plan.tensor.x=1", "plan..tensor=1", ".plan=1", "plan.=1", "model.name.x=1"}) {
    const std::string path = assignment.substr(0, assignment.find('='));
    EXPECT_EQ(complaints_about(assignment),
              Lines{"--set " + assignment + ": " + path +
                    ": expected a path of object keys, such as plan.tensor"});
  }
}

TEST(Assign, NamesTheUnknownPartOfAPathAsAKey) {
  EXPECT_EQ(complaints_about("plans.tensor=8"),
            Lines{"--set plans.tensor=8: plans: unknown key; did you mean \"plan\"?"});
}

TEST(Assign, ReachesElementsOfArraysByTheirNumber) {
  const Scenario scenario = shipped_run({"cluster.node.protocols.1.efficiency=0.5"});
  EXPECT_EQ(scenario.cluster.node_protocols[1].efficiency, 0.5);
  EXPECT_EQ(scenario.cluster.node_protocols[1].grade, Grade::given) << "the user's figure";
  for (const std::string path : {"3", "-1", "x", ""}) {
    ScenarioSource source = shipped_source();
    EXPECT_THROW(source.assign({"cluster.node.protocols." + path + ".efficiency", 0.5, "test"}),
                 InputError)
        << "element '" << path << "' of three";
  }
}

TEST(Assign, RefusesToRelabelWhatItWouldNotReplace) {
  ScenarioSource source = shipped_source();
  try {
    source.assign(parse_assignment("cluster.name=dgx-h100"));
    FAIL() << "a new label on the old cluster";
  } catch (const InputError& error) {
    EXPECT_EQ(error.lines,
              Lines{"--set cluster.name=dgx-h100: cluster.name: a name is only a label here; to "
                    "take another, --set cluster=dgx-h100"});
  }
  EXPECT_EQ(
      complaints([&] { source.assign(parse_assignment("cluster.chip.name=b200-sxm", "--set-b")); }),
      Lines{"--set-b cluster.chip.name=b200-sxm: cluster.chip.name: a name is only a label "
            "here; to take another, --set-b cluster.chip=b200-sxm"});
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
