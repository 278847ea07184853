#include "titer/scenario/source.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "paths.hpp"
#include "scenario/scenarios.hpp"
#include "scenario/source_texts.hpp"
#include "titer/plan/schedule/read_schedule.hpp"
#include "titer/units/listed.hpp"

namespace titer {
namespace TITER_TEST_FILE {

using namespace source_texts;

/// What reading a scenario written as JSON complains about.
Lines complaints_of(const std::string& json, const std::vector<std::string>& assignments = {}) {
  return complaints([&] {
    ScenarioSource source(parse_json(json, "run.json"));
    for (const std::string& assignment : assignments) {
      source.assign(parse_assignment(assignment));
    }
    (void)source.read();
  });
}

Scenario read_text(const std::string& json) {
  return ScenarioSource(parse_json(json, "run.json")).read();
}

/// A scenario around one line, line 2, that is put first.
std::string run_with(const std::string& line) {
  return "{\n" + line + R"(
"plan": {"tensor": 8}, "training": {"global_batch": 8, "sequence": 1024}})";
}

// --- finding data ------------------------------------------------------------------------------

TEST(DataRoot, HoldsEveryKindOfShippedData) {
  for (const DataKind& kind :
       {kModelData, kChipData, kClusterData, kStackData, kTopologyData, kRunData}) {
    const auto names = shipped_names(kind);
    EXPECT_FALSE(names.empty()) << kind.name;
    EXPECT_TRUE(std::is_sorted(names.begin(), names.end())) << kind.name;
    for (const std::string& name : names) {
      const Document document = load_data(kind, name);
      const bool is_pod =
          kind.name == kClusterData.name && document.root.find("network") == nullptr;
      if (document.root.find("blocks") != nullptr || document.root.find("tables") != nullptr) {
        continue;  // no transformer
      }
      for (const std::string_view key : kind.essential) {
        EXPECT_TRUE(document.root.find(key) != nullptr || (is_pod && key == "network"))
            << name << " has the keys of a complete " << kind.name << ": " << key;
      }
    }
  }
}

TEST(DataRoot, IsChosenByTheEnvironment) {
  ASSERT_EQ(setenv("TITER_DATA", "/no/such/folder", 1), 0);
  const Lines lines = complaints([] { (void)data_root(); });
  ASSERT_EQ(setenv("TITER_DATA", testing::root().c_str(), 1), 0);
  EXPECT_EQ(data_root(), testing::root());
  unsetenv("TITER_DATA");
  EXPECT_EQ(lines,
            Lines{"TITER_DATA: /no/such/folder: expected a folder that holds models and "
                  "configs"});
}

TEST(UsualStack, IsSoftwareThatThereIsForTheChips) {
  const auto on = [](const std::string& cluster) {
    return std::string(usual_stack(parse_json("{\"cluster\": \"" + cluster + "\"}", "run.json")));
  };
  EXPECT_EQ(on("dgx-h100"), "megatron-core");
  EXPECT_EQ(on("tpu-v5p-pod"), "maxtext");
  EXPECT_EQ(on("trainium2-16"), "neuronx");
  EXPECT_EQ(on("gaudi3-8"), "deepspeed");
  EXPECT_EQ(usual_stack(parse_json("{}", "run.json")), "megatron-core") << "nobody knows for what";
  EXPECT_THROW(static_cast<void>(on("tpu-v9")), InputError);
}

TEST(LoadData, SuggestsTheNameThatWasMeant) {
  EXPECT_EQ(complaints([] { (void)load_data(kModelData, "gpt3-175"); }),
            Lines{"gpt3-175: no shipped model has this name; did you mean \"gpt3-175b\"? (a file "
                  "is given by a path with a slash or ending in .json)"});
}

TEST(LoadData, NamesTheListWhereNothingIsClose) {
  EXPECT_EQ(complaints([] { (void)load_data(kClusterData, "my-own-machine-room"); }),
            Lines{"my-own-machine-room: no shipped cluster has this name; `titer list clusters` "
                  "shows them (a file is given by a path with a slash or ending in .json)"});
}

TEST(LoadData, NamesWhatHasTheNameInItsOwn) {
  EXPECT_EQ(complaints([] { (void)load_data(kClusterData, "V100-4"); }),
            Lines{"V100-4: no shipped cluster has this name; names with it: v100-4-16gb, "
                  "v100-4-32gb (a file is given by a path with a slash or ending in .json)"});
}

TEST(LoadData, TakesAPathForAFile) {
  const std::string path = testing::root().string() + "/models/llama2-7b.json";
  EXPECT_EQ(load_data(kModelData, path).root.find("name")->text, "llama2-7b");
  EXPECT_EQ(complaints([] { (void)load_data(kModelData, "nothing.json"); }),
            Lines{"nothing.json: there is no such file"});
}

// --- expansion ---------------------------------------------------------------------------------

TEST(ScenarioSource, ExpandsNamesIntoObjects) {
  const ScenarioSource source = shipped_source();
  for (const std::string path : {"model.layers",
                                 "cluster.chip.memory.bandwidth.value",
                                 "cluster.node.nics",
                                 "cluster.network.protocols.0.latency",
                                 "stack.dispatch"}) {
    EXPECT_NE(source.document().at(path), nullptr) << path;
  }
}

TEST(ScenarioSource, ExpandsTheTopologyOfANode) {
  const ScenarioSource source = shipped_source({"cluster=dgx1-v100", "cluster.nodes=8"});
  EXPECT_EQ(source.document().at("cluster.node.fabric.topology.devices")->integer, 8);
}

TEST(ScenarioSource, TakesTheStackByDefault) {
  EXPECT_EQ(shipped_run().stack.name, kDefaultStack);
  EXPECT_EQ(read_text(run_with(R"("model": "llama2-7b", "cluster": "dgx-a100-80gb",)")).stack.name,
            kDefaultStack);
}

TEST(ScenarioSource, ReadsWhatTheRunSays) {
  const Scenario scenario = shipped_run();
  EXPECT_EQ(scenario.model.transformer().name, "gpt3-175b");
  EXPECT_EQ(scenario.cluster.name, "dgx-a100-80gb");
  EXPECT_EQ(scenario.cluster.chip.name, "a100-sxm4-80gb");
  EXPECT_EQ(scenario.cluster.nodes, 8);
  EXPECT_EQ(scenario.plan.devices(), 8 * 8);
  EXPECT_EQ(scenario.training.global_batch, 64);
  EXPECT_EQ(scenario.training.precision, DataType::fp16);
  EXPECT_EQ(scenario.formula, Formula::titer);
}

TEST(ScenarioSource, OverridesMembersOfANamedObject) {
  const Scenario scenario = read_text(run_with(
      R"("model": {"name": "llama2-7b", "layers": 16}, "cluster": {"name": "dgx-a100-80gb",
         "nodes": 1, "node": {"nics": 4}, "chip": "a100-sxm4-40gb"},)"));
  EXPECT_EQ(scenario.model.transformer().layers, 16);
  EXPECT_EQ(scenario.model.transformer().hidden, 4096) << "the rest is the named model's";
  EXPECT_EQ(scenario.cluster.nodes, 1);
  EXPECT_EQ(scenario.cluster.nics, 4);
  EXPECT_EQ(scenario.cluster.devices_per_node, 8);
  EXPECT_EQ(scenario.cluster.chip.memory.capacity, 40_GiB);
}

TEST(ScenarioSource, OverridesFiguresOfTheChipOfANamedCluster) {
  const Scenario scenario = read_text(run_with(
      R"("model": "llama2-7b",
         "cluster": {"name": "dgx-a100-80gb", "chip": {"memory": {"capacity": "96 GiB"}}},)"));
  EXPECT_EQ(scenario.cluster.chip.name, "a100-sxm4-80gb");
  EXPECT_EQ(scenario.cluster.chip.memory.capacity, 96_GiB);
  EXPECT_EQ(scenario.cluster.chip.memory.bandwidth, 2039_GBps);
}

TEST(ScenarioSource, TakesCompleteObjectsAsTheyAre) {
  const Scenario scenario = read_text(run_with(
      R"("model": {"name": "tiny", "layers": 2, "hidden": 1024, "heads": 8, "ffn": 4096,
                   "norm": "rmsnorm", "positions": "rotary", "vocabulary": 1000,
                   "max_sequence": 2048, "attention": "flash"}, "cluster": "dgx-a100-80gb",)"));
  EXPECT_EQ(scenario.model.transformer().name, "tiny");
  EXPECT_EQ(scenario.model.transformer().kv_heads, 8);
}

TEST(ScenarioSource, TakesAFileForAModel) {
  const std::string path = testing::root().string() + "/models/llama3-8b.json";
  const Scenario scenario =
      read_text(run_with("\"model\": \"" + path + R"(", "cluster": "dgx-a100-80gb",)"));
  EXPECT_EQ(scenario.model.transformer().name, "llama3-8b");
}

TEST(ScenarioSource, TrainsOnTheModelsOwnSequenceByDefault) {
  EXPECT_EQ(read_text(R"({"model": "gpt3-175b", "cluster": "dgx-a100-80gb", "plan": {},
                          "training": {"global_batch": 1}})")
                .training.sequence,
            2048);
}

// --- errors of a file --------------------------------------------------------------------------

TEST(ScenarioErrors, ListEveryPartThatIsMissing) {
  EXPECT_EQ(complaints_of("{}"),
            (Lines{"run.json:1:1: model: missing; expected an object",
                   "run.json:1:1: cluster: missing; expected an object",
                   "run.json:1:1: training: missing; expected an object"}));
}

TEST(ScenarioErrors, DemandAnObject) {
  EXPECT_EQ(complaints_of("[1]"), Lines{"run.json:1:1: [1]: expected an object"});
  EXPECT_EQ(complaints_of("[1]", {"plan.tensor=8"}),
            Lines{"--set plan.tensor=8: plan.tensor: expected a path of object keys, such as "
                  "plan.tensor"});
}

TEST(ScenarioErrors, PointAtAnUnknownName) {
  EXPECT_EQ(complaints_of(run_with(R"("model": "lama2-7b", "cluster": "dgx-a100-80gb",)")),
            Lines{"run.json:2:10: model: lama2-7b: no shipped model has this name; did you mean "
                  "\"llama2-7b\"? (a file is given by a path with a slash or ending in .json)"});
  EXPECT_EQ(
      complaints_of(run_with(
          R"("model": "llama2-7b", "cluster": {"name": "dgx-a100-80gb", "chip": "abacus"},)")),
      Lines{"run.json:2:68: chip: abacus: no shipped chip has this name; `titer list chips` shows "
            "them (a file is given by a path with a slash or ending in .json)"});
}

TEST(ScenarioErrors, PointAtAMissingFile) {
  EXPECT_EQ(complaints_of(run_with(R"("model": "no/such.json", "cluster": "dgx-a100-80gb",)")),
            Lines{"run.json:2:10: model: no/such.json: there is no such file"});
}

TEST(ScenarioErrors, OfReadingComeBeforeThoseOfValidation) {
  const Lines lines =
      complaints_of(run_with(R"("model": "llama2-7b", "cluster": "dgx-a100-80gb", "colour": 1,)"),
                    {"plan.tensor=7", "plan.schedule=zb"});
  EXPECT_EQ(lines,
            (Lines{"--set plan.schedule=zb: plan.schedule: \"zb\": expected one of: " +
                       listed(schedule_words(), &Choice<std::size_t>::name),
                   "run.json:2:51: colour: unknown key; known keys: name, title, model, cluster, "
                   "stack, plan, training, formula, conditions"}));
}

TEST(ScenarioErrors, ListEveryViolation) {
  const Lines lines =
      complaints_of(run_with(R"("model": "gpt3-175b", "cluster": "dgx1-v100",)"),
                    {"plan.tensor=7", "training.sequence=4096", "training.precision=bf16"});
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_EQ(lines[0],
            "--set plan.tensor=7: plan.tensor: 7: expected a divisor of the 96 attention heads");
  EXPECT_EQ(lines[1],
            "--set plan.tensor=7: plan.tensor: 7: expected a divisor of the MLP width 49152");
  EXPECT_EQ(lines[2].find("--set training.precision=bf16: training.precision: bf16"), 0U);
  EXPECT_EQ(lines[3].find("--set training.sequence=4096: training.sequence: 4096"), 0U);
}

TEST(ScenarioErrors, OfAMissingValuePointAtItsObject) {
  const Lines lines = complaints_of(
      run_with(R"("model": "gpt3-175b", "cluster": "dgx1-v100", "formula": {"name": "e7"},)"),
      {"training.precision=fp16"});
  EXPECT_EQ(lines,
            Lines{"run.json:2:58: formula.utilization: missing: expected the GPU "
                  "utilization u that the formula e7 takes as given, such as 0.4"});
}

TEST(Formula, IsNamedOrHeldAsAnObject) {
  EXPECT_EQ(shipped_run({"formula=titer"}).formula, Formula::titer);
  const Scenario scenario =
      shipped_run({R"(formula={"name": "e7", "utilization": 0.4, "tensor_bandwidth": "200 GB/s",
                   "pipeline_bandwidth": "25 GB/s", "data_bandwidth": "20 GB/s"})"});
  EXPECT_EQ(scenario.formula, Formula::e7);
  EXPECT_EQ(scenario.e7.utilization, 0.4);
  EXPECT_EQ(scenario.e7.tensor_bandwidth, 200_GBps);
  EXPECT_EQ(scenario.e7.pipeline_bandwidth, 25_GBps);
  EXPECT_EQ(scenario.e7.data_bandwidth, 20_GBps);
  EXPECT_EQ(
      complaints_about("formula=e8"),
      Lines{"--set formula=e8: formula.name: \"e8\": expected one of: titer, e7; did you mean "
            "\"e7\"?"});
}

TEST(Formula, WrittenAsANameTakesItsOptionsLater) {
  const Scenario scenario = shipped_run({"formula=e7", "formula.utilization=0.4"});
  EXPECT_EQ(scenario.formula, Formula::e7);
  EXPECT_EQ(scenario.e7.utilization, 0.4);
}

// --- reading one part again --------------------------------------------------------------------

TEST(ReadPart, GivesWhatReadingEverythingGives) {
  ScenarioSource source = shipped_source();
  Scenario scenario = source.read();
  source.assign(parse_assignment("plan.virtual_stages=1"));
  source.read_part(ScenarioPart::plan, scenario);
  EXPECT_EQ(scenario.plan.virtual_stages, 1);
  source.assign(parse_assignment("cluster.node.nics=4"));
  source.read_part(ScenarioPart::cluster, scenario);
  EXPECT_EQ(scenario.cluster.nics, 4);
  source.assign(parse_assignment("model.layers=48"));
  source.read_part(ScenarioPart::model, scenario);
  EXPECT_EQ(scenario.model.transformer().layers, 48);
  source.assign(parse_assignment("training.global_batch=8"));
  source.read_part(ScenarioPart::training, scenario);
  EXPECT_EQ(scenario.training.global_batch, 8);
  source.assign(parse_assignment("stack.dispatch=1 us"));
  source.read_part(ScenarioPart::stack, scenario);
  EXPECT_EQ(scenario.stack.dispatch, 1_us);
  source.assign(parse_assignment(R"(formula={"name": "e7", "utilization": 0.5})"));
  source.read_part(ScenarioPart::formula, scenario);
  EXPECT_EQ(scenario.formula, Formula::e7);
  source.assign(parse_assignment("formula=titer"));
  source.read_part(ScenarioPart::formula, scenario);
  EXPECT_EQ(scenario.formula, Formula::titer);
}

TEST(ReadPart, ReportsItsOwnProblemsOnly) {
  ScenarioSource source = shipped_source();
  Scenario scenario = source.read();
  source.assign(parse_assignment("plan.tensor=0"));
  source.assign(parse_assignment("training.global_batch=0"));
  const Lines lines = complaints([&] { source.read_part(ScenarioPart::plan, scenario); });
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0].find("--set plan.tensor=0"), 0U);
}

TEST(Located, LeavesThePlaceOutWhereNoneIsKnown) {
  Document document;
  document.root = Value::make_object();
  EXPECT_EQ(located({{"plan.tensor", "5", "expected 4"}}, document),
            Lines{"plan.tensor: 5: expected 4"});
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
