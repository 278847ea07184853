// Axes that follow a rule, zipped axes, derived fields and constraints.

#include <gtest/gtest.h>

#include <algorithm>

#include "sweep/sweep_texts.hpp"
#include "sweeps.hpp"
#include "titer/estimate/estimate.hpp"
#include "titer/sweep/sweep_point.hpp"

namespace titer::testing {
namespace TITER_TEST_FILE {

using namespace sweep_texts;

/// The values of the last axis, as JSON.
Lines values_of(std::string_view axes) {
  const Sweep sweep = read_small_sweep(R"("axes": )" + std::string(axes));
  Lines texts;
  for (const Value& value : sweep.axes.back().values) {
    texts.push_back(to_json(value, 0));
  }
  return texts;
}

TEST(SweepPowers, AreThoseFromOneToTheOther) {
  EXPECT_EQ(values_of(R"({"plan.tensor": {"powers_of_two": {"from": 1, "to": 16}}})"),
            (Lines{"1", "2", "4", "8", "16"}));
  EXPECT_EQ(values_of(R"({"plan.tensor": {"powers_of_two": {"from": 3, "to": 17}}})"),
            (Lines{"4", "8", "16"}));
  EXPECT_EQ(values_of(R"({"cluster.node.nic_bandwidth":
                          {"powers_of_two": {"from": 64, "to": 128, "unit": "Gbps"}}})"),
            (Lines{"\"64 Gbps\"", "\"128 Gbps\""}));
  EXPECT_EQ(problems_of(R"("axes": {"plan.tensor": {"powers_of_two": {"from": 5, "to": 7}}})"),
            Lines{"axes.plan.tensor.powers_of_two.to: 7: expected a power of two between \"from\" "
                  "and this"});
}

TEST(SweepDivisors, AreAllOfANumber) {
  EXPECT_EQ(values_of(R"({"plan.tensor": {"divisors_of": 12}})"),
            (Lines{"1", "2", "3", "4", "6", "12"}));
  EXPECT_EQ(values_of(R"({"plan.tensor": {"divisors_of": 49, "from": 2}})"), (Lines{"7", "49"}));
  EXPECT_EQ(values_of(R"({"plan.tensor": {"divisors_of": 1000000007, "to": 8}})"), Lines{"1"})
      << "a prime";
}

TEST(SweepDivisors, AreOfWhatTheBaseSays) {
  // megatron-1.7b has 24 layers.
  EXPECT_EQ(values_of(R"({"plan.pipeline": {"divisors_of": "model.layers / 2"}})"),
            (Lines{"1", "2", "3", "4", "6", "12"}));
}

TEST(SweepDivisors, FollowAnAxisBeforeThem) {
  const Sweep sweep = read_small_sweep(
      R"("axes": {"plan.pipeline": [2, 3, 7],
                  "plan.virtual_stages": {"divisors_of": "model.layers / plan.pipeline"}})");
  // Of 12 and 8; 24 / 7 is not whole.
  EXPECT_EQ(sweep.axes[1].values.size(), 7u) << "1, 2, 3, 4, 6, 8, 12";
  SweepWorker worker(sweep, Fidelity::closed);
  std::vector<std::pair<double, double>> kept;
  for (std::size_t i = 0; i < sweep.points(); ++i) {
    if (worker.next_kept(i, i + 1) == i) {
      const std::vector<std::size_t> at = sweep.indices(i);
      kept.emplace_back(sweep.axes[0].values[at[0]].number, sweep.axes[1].values[at[1]].number);
    }
  }
  std::vector<std::pair<double, double>> expected;
  for (const double d : {1, 2, 3, 4, 6, 12}) {
    expected.emplace_back(2, d);
  }
  for (const double d : {1, 2, 4, 8}) {
    expected.emplace_back(3, d);
  }
  EXPECT_EQ(kept, expected);
}

TEST(SweepDivisors, OfNoWholeNumberAreRefused) {
  for (const char* of : {"4.5", "0", "-6", "1e13", "\"model.layers / 7\""}) {
    const Lines lines =
        problems_of(R"("axes": {"plan.tensor": {"divisors_of": )" + std::string(of) + "}}");
    ASSERT_EQ(lines.size(), 1u) << of;
    EXPECT_TRUE(lines[0].starts_with("axes.plan.tensor.divisors_of: ")) << lines[0];
    EXPECT_NE(lines[0].find("expected a whole number from 1 to 1000000000000"), std::string::npos);
  }
  EXPECT_EQ(problems_of(R"("axes": {"plan.tensor": {"divisors_of": "model.layer"}})"),
            Lines{"axes.plan.tensor.divisors_of: model.layer: expected names of numbers, found "
                  "model.layer; did you mean \"model.layers\"?"});
  EXPECT_EQ(problems_of(R"("axes": {"plan.tensor": {"divisors_of": "plan.pipeline"},
                                     "plan.pipeline": [2, 4]})"),
            Lines{})
      << "one that comes later is 1 until then";
}

TEST(SweepZip, GoesAlongAllOfItsAxesAtOnce) {
  const Sweep sweep = read_small_sweep(
      R"("axes": [{"training.global_batch": [32, 64]},
                  {"zip": {"plan.tensor": [1, 2, 4], "plan.micro_batch": [4, 2, 1]}},
                  {"plan.sequence_parallel": [false, true]}])");
  ASSERT_EQ(sweep.points(), 2u * 3u * 2u);
  for (std::size_t i = 0; i < sweep.points(); ++i) {
    const std::vector<std::size_t> at = sweep.indices(i);
    EXPECT_EQ(at[1], at[2]);
    EXPECT_EQ((at[0] * 3 + at[1]) * 2 + at[3], i);
    EXPECT_EQ(sweep.axes[1].values[at[1]].number * sweep.axes[2].values[at[2]].number, 4.0);
  }
}

TEST(SweepZip, NeedsAsManyValuesOfEach) {
  EXPECT_EQ(problems_of(R"("axes": {"zip": {"plan.tensor": [1, 2], "plan.data": [1, 2, 4]}})"),
            Lines{"axes.zip.plan.data: [1,2,4]: expected 2 values, as many as plan.tensor has, not "
                  "3"});
  EXPECT_EQ(problems_of(R"("axes": [{"plan.tensor": [1]}, {"plan.tensor": [2]}])"),
            Lines{"axes.1.plan.tensor: [2]: expected each path to be one axis"});
}

TEST(SweepDerived, IsPutInAtItsPath) {
  const Sweep sweep = read_small_sweep(
      R"("axes": {"plan.tensor": [1, 2, 4], "plan.pipeline": [1, 2]},
         "derived": {"world": "8", "plan.data": "world / (plan.tensor * plan.pipeline) * 1",
                     "per_gb": "cluster.chip.memory.capacity / 1e9 / world"})");
  const Sweep written = read_small_sweep(
      R"("axes": {"zip": {"plan.tensor": [1, 1, 2, 2, 4, 4], "plan.pipeline": [1, 2, 1, 2, 1, 2],
                          "plan.data": [8, 4, 4, 2, 2, 1]}})");
  SweepWorker worker(sweep, Fidelity::closed);
  SweepWorker plain(written, Fidelity::closed);
  SweepPoint derived;
  SweepPoint expected;
  for (std::size_t i = 0; i < sweep.points(); ++i) {
    ASSERT_TRUE(worker.compute(i, derived));
    ASSERT_TRUE(plain.compute(i, expected));
    EXPECT_EQ(row_of(derived), row_of(expected)) << i;
    EXPECT_EQ(derived.status, PointStatus::ok) << derived.reason;
    EXPECT_EQ(derived.derived,
              (std::vector{8.0, written.axes[2].values[i].number, 80 * 1.073741824 / 8}));
  }
}

TEST(SweepDerived, IsAQuantityWithAUnit) {
  const Sweep sweep = read_small_sweep(
      R"("axes": {"plan.tensor": [1, 2], "plan.data": [16]},
         "derived": {"cluster.node.nic_bandwidth":
                       {"expression": "100 * plan.tensor", "unit": "Gbps"}})");
  const Sweep written = read_small_sweep(
      R"("axes": {"zip": {"plan.tensor": [1, 2], "cluster.node.nic_bandwidth":
                          ["100 Gbps", "200 Gbps"]}, "plan.data": [16]})");
  SweepWorker worker(sweep, Fidelity::closed);
  SweepWorker plain(written, Fidelity::closed);
  SweepPoint derived;
  SweepPoint expected;
  for (std::size_t i = 0; i < 2; ++i) {
    ASSERT_TRUE(worker.compute(i, derived));
    ASSERT_TRUE(plain.compute(i, expected));
    EXPECT_EQ(row_of(derived), row_of(expected));
  }
}

TEST(SweepDerived, ThatCannotBeReadMakesARowInvalid) {
  const Sweep sweep = read_small_sweep(
      R"("axes": {"plan.tensor": [3, 1, 0.5]},
         "derived": {"plan.data": "4 / plan.tensor", "plan.pipeline": "1 / (plan.tensor - 1) + 0"})");
  SweepWorker worker(sweep, Fidelity::closed);
  SweepPoint point;
  ASSERT_TRUE(worker.compute(0, point));
  EXPECT_EQ(point.status, PointStatus::invalid);
  EXPECT_NE(point.reason.find("plan.data: 1.3333333333333333: expected an integer from 1"),
            std::string::npos)
      << point.reason;
  ASSERT_TRUE(worker.compute(1, point));
  EXPECT_EQ(point.reason,
            "derived plan.pipeline: 1 / (plan.tensor - 1) + 0: expected a finite value");
}

// Also where it is a column only: an empty cell says nothing.
TEST(SweepDerived, ThatIsNoNumberMakesARowInvalid) {
  const Sweep sweep = read_small_sweep(
      R"("axes": {"plan.tensor": [1, 2]},
         "derived": {"x": "1 / (plan.tensor - 1) + 0", "y": "sqrt(plan.tensor - 2) + 0"})");
  SweepWorker worker(sweep, Fidelity::closed);
  SweepPoint point;
  ASSERT_TRUE(worker.compute(0, point));
  EXPECT_EQ(point.status, PointStatus::invalid);
  EXPECT_EQ(point.reason,
            "derived x: 1 / (plan.tensor - 1) + 0: expected a finite value; derived y: "
            "sqrt(plan.tensor - 2) + 0: expected a finite value");
  ASSERT_TRUE(worker.compute(1, point));
  EXPECT_EQ(point.status, PointStatus::ok) << point.reason;
  EXPECT_EQ(point.derived, (std::vector{1.0, 0.0}));
  EXPECT_EQ(problems_of(R"("axes": {"plan.tensor": [1, 2]},
                           "derived": {"x": "1 / 0", "y": "model.layers / (plan.pipeline - 1) + 0"
  })"),
            (Lines{"derived.x: 1 / 0: expected a finite value",
                   "derived.y: model.layers / (plan.pipeline - 1) + 0: expected a finite value"}));
}

TEST(SweepDerivedError, OfAnAssignmentOrAList) {
  EXPECT_EQ(
      problems_of(R"("axes": {"plan.micro_batch": [1, 2]},
                           "derived": {"a": "plan.micro_batch = 7", "y": "plan.micro_batch, 9",
                                       "z": "_pi"})"),
      (Lines{"derived.a: plan.micro_batch = 7: expected an expression, not an assignment; did "
             "you mean \"==\"?",
             "derived.y: plan.micro_batch, 9: expected one expression; a \",\" stands between "
             "the arguments of a function only",
             "derived.z: _pi: expected names of numbers, found _pi"}));
}

TEST(SweepDerivedError, SaysWhatIsWrongOfAllOfThem) {
  const std::string axes = R"("axes": {"plan.tensor": [1, 2]}, )";
  EXPECT_EQ(
      problems_of(axes + R"("derived": {"plan.tensor": "1", "mfu": "1", "plan": "1",
                                              "a b": "1", "x": 5})"),
      (Lines{"derived.plan.tensor: \"1\": expected another path than that of an axis",
             "derived.mfu: \"1\": expected another name than that of a result's column",
             "derived.plan: \"1\": expected a path to a number of the scenario, such as "
             "\"plan.data\", or a name of letters, digits and \"_\"",
             "derived.a b: \"1\": expected a path to a number of the scenario, such as "
             "\"plan.data\", or a name of letters, digits and \"_\"",
             "derived.x: 5: expected an expression in quotes, such as \"64 / plan.tensor\""}));
  EXPECT_EQ(problems_of(axes + R"("derived": {"x": "y + 1", "z": "1 +", "w": "mfu"})").size(), 3u);
  EXPECT_EQ(problems_of(axes + R"("derived": {"x": "plan.context", "plan.context": "2"})"),
            Lines{"derived.plan.context: expected it before the fields that mention it"});
  EXPECT_EQ(problems_of(axes + R"("derived": {"x": "plan.data"})"),
            Lines{"derived.x: plan.data: expected plan.data to be written in the scenario, as an "
                  "axis or as a derived field; where it is left open it has no number here"});
}

TEST(SweepPath, ThatNoScenarioHasIsTheFilesMistake) {
  EXPECT_EQ(problems_of(R"("axes": {"plan.tenser": [1, 2], "cluster.node.nic_bandwith": ["1 GB/s"]},
                           "derived": {"training.global_bach": "8"})"),
            (Lines{"plan.tenser: unknown key; did you mean \"tensor\"?",
                   "cluster.node.nic_bandwith: unknown key; did you mean \"nic_bandwidth\"?",
                   "derived.training.global_bach: training.global_bach: unknown key; did you mean "
                   "\"global_batch\"?"}));
  EXPECT_EQ(problems_of(R"("axes": {"plan.tensor.degree": [1]})"),
            Lines{"plan.tensor.degree: expected a path of object keys, such as plan.tensor"});
  EXPECT_EQ(problems_of(R"("axes": {"cluster.name": ["dgx-h100"]})"),
            Lines{"cluster.name: a name is only a label here; to take another, set cluster"});
}

// A row would show a value that it is not computed with.
TEST(SweepPath, MustNotReplaceWhatAnotherPutIn) {
  EXPECT_EQ(problems_of(R"("axes": [{"plan.tensor": [4, 8]},
                                    {"plan": [{"tensor": 8, "pipeline": 4}]}])"),
            Lines{"plan: expected it before plan.tensor, which it would replace"});
  EXPECT_EQ(problems_of(R"("axes": [{"plan": [{"pipeline": 2}, {"tensor": 8, "pipeline": 4}]},
                                    {"plan.tensor": [4, 8]}])"),
            Lines{R"(plan: {"tensor":8,"pipeline":4}: expected a value without plan.tensor, which )"
                  "varies by itself"});
  EXPECT_EQ(problems_of(R"("axes": {"zip": {"cluster.chip.memory.bandwidth": ["1 TB/s"],
                                            "cluster.chip": ["h100-sxm5-80gb"]},
                                    "cluster": ["dgx-h100"]})"),
            (Lines{"cluster.chip: expected it before cluster.chip.memory.bandwidth, which it would "
                   "replace",
                   "cluster: expected it before cluster.chip.memory.bandwidth, which it would "
                   "replace",
                   "cluster: expected it before cluster.chip, which it would replace"}));
  EXPECT_EQ(
      problems_of(R"("axes": {"plan": [{"tensor": 2, "data": 2}]},
                           "derived": {"plan.data": "4"})"),
      Lines{R"(plan: {"tensor":2,"data":2}: expected a value without plan.data, which varies )"
            "by itself"});
  EXPECT_EQ(problems_of(R"("axes": {"cluster.node.nic_bandwidth.value": ["100 Gbps"]},
                           "derived": {"cluster.node.nic_bandwidth":
                                         {"expression": "1", "unit": "GB/s"}})"),
            Lines{"derived.cluster.node.nic_bandwidth: expected it before "
                  "cluster.node.nic_bandwidth.value, which it would replace"});
}

TEST(SweepPath, MayLeadIntoWhatAnAxisBeforeItNames) {
  const Sweep sweep = read_small_sweep(
      R"("axes": {"cluster": ["dgx-a100-80gb", {"name": "dgx-h100", "nodes": 2}],
                  "cluster.node.nic_bandwidth": ["100 Gbps", "400 Gbps"],
                  "plan": [{"tensor": 1}, {"tensor": 2}], "plan.micro_batch": [1, 2]},
         "derived": {"plan.data": "16 / 2"})");
  SweepWorker worker(sweep, Fidelity::closed);
  SweepPoint point;
  for (std::size_t i = 0; i < sweep.points(); ++i) {
    ASSERT_TRUE(worker.compute(i, point));
    ScenarioSource source = sweep.base;
    for (const Assignment& assignment : point_assignments(sweep, i)) {
      source.assign(assignment);
    }
    Scenario scenario;
    source.read_unchecked(scenario);
    EXPECT_EQ(point.status == PointStatus::invalid, !validate(scenario).empty()) << point.reason;
    if (has_result(point.status)) {
      EXPECT_EQ(point.result.iteration_time, estimate(scenario).iteration_time) << i;
    }
  }
}

TEST(SweepPath, MayBeOneThatAnotherAxisBringsAlong) {
  EXPECT_EQ(problems_of(R"("axes": {"formula": ["titer", {"name": "e7"}],
                                    "formula.utilization": [0.3, 0.5]})"),
            Lines{});
}

TEST(SweepPoints, MayBeAsManyAsTheCallerAllows) {
  const Document document =
      parse_json(R"({"scenario": )" + std::string(testing::kSmallScenario) +
                     R"(, "axes": {"plan.tensor": {"from": 1, "to": 1000, "step": 1}}})",
                 "sweep.json");
  EXPECT_EQ(read_sweep(document, 1000).points(), 1000u);
  EXPECT_THROW(static_cast<void>(read_sweep(document, 999)), InputError);
  const Lines lines = problems_of(
      R"("axes": {"plan.tensor": {"from": 1, "to": 10000, "step": 1},
                  "plan.data": {"from": 1, "to": 10000, "step": 1},
                  "plan.pipeline": {"from": 1, "to": 10000, "step": 1},
                  "plan.micro_batch": {"from": 1, "to": 10000, "step": 1},
                  "plan.context": {"from": 1, "to": 10000, "step": 1}})");
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_TRUE(lines[0].ends_with("1.0e+20 points in all: expected fewer than can be numbered"))
      << lines[0];
}

TEST(SweepFingerprint, IsOfAllThatRowsFollowFrom) {
  const std::string axes = R"("axes": {"plan.tensor": [1, 2], "plan.pipeline": [1, 2]})";
  const std::vector<std::string> others = {
      axes,
      R"("axes": {"plan.tensor": [1, 2], "plan.pipeline": [1, 4]})",
      R"("axes": {"plan.pipeline": [1, 2], "plan.tensor": [1, 2]})",
      R"("axes": {"zip": {"plan.tensor": [1, 2], "plan.pipeline": [1, 2]}})",
      R"("axes": {"plan.tensor": [1, 2], "plan.pipeline": ["1", "2"]})",
      axes + R"(, "derived": {"x": "1"})",
      axes + R"(, "derived": {"y": "1"})",
      axes + R"(, "where": "plan.tensor > 0")"};
  std::vector<std::uint64_t> prints;
  for (const std::string& text : others) {
    prints.push_back(read_small_sweep(text).fingerprint());
    EXPECT_EQ(read_small_sweep(text).fingerprint(), prints.back());
  }
  std::sort(prints.begin(), prints.end());
  EXPECT_EQ(std::unique(prints.begin(), prints.end()), prints.end()) << "all differ";
}

}  // namespace TITER_TEST_FILE
}  // namespace titer::testing
