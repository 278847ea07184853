#include <gtest/gtest.h>

#include "temporary_folder.hpp"
#include "titer/sweep/sweep.hpp"

namespace titer {
namespace TITER_TEST_FILE {

using Lines = std::vector<std::string>;

constexpr std::string_view kRun =
    R"({"model": "megatron-1.7b", "cluster": "dgx-a100-80gb", "plan": {},
        "training": {"global_batch": 32, "sequence": 2048}})";

std::string with_axes(std::string_view axes) {
  return R"({"scenario": )" + std::string(kRun) + R"(, "axes": )" + std::string(axes) + "}";
}

/// The lines of the error that a sweep file raises, its folder left out.
Lines problems_of(std::string_view text) {
  const testing::TemporaryFolder folder;
  const std::string path = folder.file("sweep.json", text);
  const std::string prefix = folder.path().string() + "/";
  try {
    static_cast<void>(load_sweep(path));
  } catch (const InputError& error) {
    Lines lines = error.lines;
    for (std::string& line : lines) {
      if (line.starts_with(prefix)) {
        line.erase(0, prefix.size());
      }
    }
    return lines;
  }
  return {};
}

/// The same for one axis; all is on one line, so that places are columns after this one.
Lines problems_of_axis(std::string_view path, std::string_view values) {
  return problems_of("{\"scenario\": \"gpt3-175b-64xa100\",\n\"axes\": {\n\"" + std::string(path) +
                     "\": " + std::string(values) + "}}");
}

/// The values of one axis as JSON texts.
Lines values_of(std::string_view values) {
  const testing::TemporaryFolder folder;
  const Sweep sweep = load_sweep(
      folder.file("sweep.json", with_axes(R"({"plan.tensor": )" + std::string(values) + "}")));
  Lines texts;
  for (const Value& value : sweep.axes.at(0).values) {
    texts.push_back(to_json(value, 0));
  }
  return texts;
}

TEST(SweepFile, HoldsItsScenarioAndAxesInOrder) {
  const testing::TemporaryFolder folder;
  const Sweep sweep = load_sweep(folder.file(
      "sweep.json",
      with_axes(R"({"plan.tensor": [1, 2], "cluster": ["dgx-h100"], "plan.data": [4]})")));
  ASSERT_EQ(sweep.axes.size(), 3u);
  EXPECT_EQ(sweep.axes[0].path, "plan.tensor");
  EXPECT_EQ(sweep.axes[1].path, "cluster");
  EXPECT_EQ(sweep.axes[2].path, "plan.data");
  EXPECT_EQ(sweep.base.read().training.global_batch, 32);
}

TEST(SweepFile, FindsAScenarioByNameAndBesideItself) {
  const testing::TemporaryFolder folder;
  static_cast<void>(folder.file("my-run.json", kRun));
  const Sweep beside =
      load_sweep(folder.file("a.json", R"({"scenario": "my-run.json", "axes": {}})"));
  EXPECT_EQ(beside.base.read().model.name(), "megatron-1.7b");
  const Sweep shipped =
      load_sweep(folder.file("b.json", R"({"scenario": "gpt3-175b-64xa100", "axes": {}})"));
  EXPECT_EQ(shipped.base.read().plan.devices(), 8 * 8 * 1);
}

TEST(SweepFile, OfEveryShippedNameLoads) {
  const std::vector<std::string> names = shipped_names(kSweepData);
  EXPECT_FALSE(names.empty());
  for (const std::string& name : names) {
    const Sweep sweep = load_sweep(name);
    EXPECT_GT(sweep.points(), 1u) << name;
  }
}

TEST(SweepList, KeepsItsValuesAsWritten) {
  EXPECT_EQ(values_of(R"([1, "a", 0.5, null, {"name": "x"}, true])"),
            (Lines{"1", "\"a\"", "0.5", "null", R"({"name":"x"})", "true"}));
}

TEST(SweepRange, GoesByStepsAndIncludesItsEnd) {
  EXPECT_EQ(values_of(R"({"from": 64, "to": 256, "step": 64})"),
            (Lines{"64", "128", "192", "256"}));
  EXPECT_EQ(values_of(R"({"from": 1, "to": 10, "step": 4})"), (Lines{"1", "5", "9"}));
  EXPECT_EQ(values_of(R"({"from": -4, "to": 4, "step": 4})"), (Lines{"-4", "0", "4"}));
  EXPECT_EQ(values_of(R"({"from": 3, "to": 3, "step": 1})"), Lines{"3"});
  EXPECT_EQ(values_of(R"({"from": 0, "to": 0, "step": 1})"), Lines{"0"});
}

TEST(SweepRange, GoesByFactorsAndIncludesItsEnd) {
  EXPECT_EQ(values_of(R"({"from": 1, "to": 16, "factor": 2})"), (Lines{"1", "2", "4", "8", "16"}));
  EXPECT_EQ(values_of(R"({"from": 1, "to": 100, "factor": 3})"),
            (Lines{"1", "3", "9", "27", "81"}));
  EXPECT_EQ(values_of(R"({"from": 0.25, "to": 1, "factor": 2})"), (Lines{"0.25", "0.5", "1"}));
}

TEST(SweepRange, WritesItsUnit) {
  EXPECT_EQ(values_of(R"({"from": 50, "to": 200, "factor": 2, "unit": "Gbps"})"),
            (Lines{"\"50 Gbps\"", "\"100 Gbps\"", "\"200 Gbps\""}));
  EXPECT_EQ(values_of(R"({"from": 0.5, "to": 1.5, "step": 0.5, "unit": "us"})"),
            (Lines{"\"0.5 us\"", "\"1 us\"", "\"1.5 us\""}));
}

TEST(SweepRange, KeepsIntegersWholeAndFractionsFractions) {
  // 0.1 + 9 x 0.1 is 1 up to rounding; an integer is what plan.tensor would take.
  const Lines tenths = values_of(R"({"from": 0.1, "to": 1, "step": 0.1})");
  ASSERT_EQ(tenths.size(), 10u);
  EXPECT_EQ(tenths.back(), "1");
  EXPECT_NEAR(std::stod(tenths[2]), 0.3, 1e-15);
  EXPECT_EQ(values_of(R"({"from": 1000000000, "to": 1000000001, "step": 0.5})"),
            (Lines{"1000000000", "1000000000.5", "1000000001"}));
}

constexpr const char* kNoRange = "expected a range with either a \"step\" or a \"factor\"";

TEST(SweepRangeError, WithoutStepOrWithBoth) {
  EXPECT_EQ(problems_of_axis("plan.data", R"({"from": 1, "to": 8})"),
            Lines{std::string("sweep.json:3:23: axes.plan.data.from: 1: ") + kNoRange});
  EXPECT_EQ(problems_of_axis("plan.data", R"({"from": 1, "to": 8, "step": 1, "factor": 2})"),
            Lines{std::string("sweep.json:3:23: axes.plan.data.from: 1: ") + kNoRange});
}

TEST(SweepRangeError, WithoutAnyValue) {
  const std::string expected =
      "expected a start no greater than \"to\", and above zero with a \"factor\"";
  EXPECT_EQ(problems_of_axis("plan.data", R"({"from": 9, "to": 8, "step": 1})"),
            Lines{"sweep.json:3:23: axes.plan.data.from: 9: " + expected});
  EXPECT_EQ(problems_of_axis("plan.data", R"({"from": 0, "to": 8, "factor": 2})"),
            Lines{"sweep.json:3:23: axes.plan.data.from: 0: " + expected});
}

TEST(SweepRangeError, WithoutAnEndOrWithAnUnknownKey) {
  EXPECT_EQ(problems_of_axis("plan.data", R"({"from": 1, "step": 1, "too": 8})"),
            (Lines{"sweep.json:3:14: axes.plan.data.to: missing; expected a number from "
                   "-1000000000000000 to 1000000000000000",
                   "sweep.json:3:37: axes.plan.data.too: unknown key; did you mean \"to\"?"}));
}

TEST(SweepRangeError, WithAStepThatGoesNowhere) {
  const Lines lines = problems_of_axis("plan.data", R"({"from": 1, "to": 8, "step": 0})");
  ASSERT_FALSE(lines.empty());
  EXPECT_TRUE(lines[0].starts_with("sweep.json:3:43: axes.plan.data.step: 0: expected a number"))
      << lines[0];
  EXPECT_FALSE(problems_of_axis("plan.data", R"({"from": 1, "to": 8, "factor": 1})").empty());
}

// Never cut short in silence.
TEST(SweepRangeError, WithMoreThanAMillionValues) {
  EXPECT_EQ(
      problems_of_axis("plan.data", R"({"from": 1, "to": 2000000, "step": 1})"),
      Lines{"sweep.json:3:32: axes.plan.data.to: 2000000: expected a range of at most 1000000 "
            "values"});
  EXPECT_EQ(values_of(R"({"from": 1, "to": 1000000, "step": 1})").size(), 1'000'000u);
}

TEST(SweepFileError, OfAPathOutsideTheScenarioIsOneLine) {
  EXPECT_EQ(
      problems_of_axis("plans.data", "[1]"),
      Lines{"sweep.json:3:15: axes.plans.data: [1]: expected a path into model, cluster, "
            "stack, plan, training, formula or conditions, such as \"plan.tensor\"; did you mean "
            "\"plan.data\"?"});
}

TEST(SweepFileError, OfAnAxisWithoutValues) {
  const std::string expected =
      "expected a list of values, a range with from, to and step or factor, "
      "{\"powers_of_two\"} or {\"divisors_of\"}";
  EXPECT_EQ(problems_of_axis("plan.data", "[]"),
            Lines{"sweep.json:3:14: axes.plan.data: []: " + expected});
  EXPECT_EQ(problems_of_axis("plan.data", "8"),
            Lines{"sweep.json:3:14: axes.plan.data: 8: " + expected});
  EXPECT_EQ(problems_of_axis("plan.data", "null"),
            Lines{"sweep.json:3:14: axes.plan.data: null: " + expected});
}

TEST(SweepFileError, OfMissingAndUnknownKeysComesAllAtOnce) {
  EXPECT_EQ(problems_of(R"({"scenarios": "gpt3-175b-64xa100"})"),
            (Lines{"sweep.json:1:1: scenario: expected a scenario: a name, a file or an object",
                   "sweep.json:1:1: axes: missing; expected an object",
                   "sweep.json:1:2: scenarios: unknown key; did you mean \"scenario\"?"}));
  EXPECT_EQ(
      problems_of(R"({"scenario": 5, "axes": {}})"),
      Lines{"sweep.json:1:14: scenario: 5: expected a scenario: a name, a file or an object"});
  EXPECT_EQ(problems_of(R"({"scenario": "gpt3-175b-64xa100", "axes": [1]})"),
            Lines{"sweep.json:1:44: axes.0: 1: expected an object"});
}

TEST(SweepFileError, OfTooManyPoints) {
  const Lines lines = problems_of(with_axes(
      R"({"plan.data": {"from": 1, "to": 100000, "step": 1},
          "plan.tensor": {"from": 1, "to": 100000, "step": 1}})"));
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_TRUE(
      lines[0].ends_with("10000000000 points in all: expected at most 100000000; to compute "
                         "them all, give --limit 10000000000"))
      << lines[0];
}

TEST(SweepFileError, OfAScenarioThatDoesNotExist) {
  const Lines lines = problems_of(R"({"scenario": "gpt3-175b-64xa10", "axes": {}})");
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_NE(lines[0].find("did you mean \"gpt3-175b-64xa100\"?"), std::string::npos) << lines[0];
  EXPECT_FALSE(problems_of(R"({"scenario": "nowhere.json", "axes": {}})").empty());
}

TEST(SweepFileError, OfAnUnknownSweepSuggestsOne) {
  try {
    static_cast<void>(load_sweep("gpt3-175b-plan"));
    FAIL() << "there is no such sweep";
  } catch (const InputError& error) {
    ASSERT_EQ(error.lines.size(), 1u);
    EXPECT_NE(error.lines[0].find("did you mean \"gpt3-175b-plans\"?"), std::string::npos);
  }
}

TEST(SweepFile, IsRefusedForAMistakeThatEveryPointWouldRepeat) {
  EXPECT_EQ(problems_of("{\"axes\": {\"plan.tensor\": [1]}, \"scenario\": {\"model\": "
                        "\"megatron-1.7b\", \"cluster\": \"dgx-a100-80gb\",\n\"plan\": {}, "
                        "\"training\": {\"global_batch\": -1}}}"),
            Lines{"sweep.json:2:42: training.global_batch: -1: expected an integer from 1 to "
                  "1000000000000"});
}

TEST(SweepFile, RefusesToTakeEachModelsLongestSequence) {
  const std::string_view text = R"({"scenario": {"cluster": "dgx-a100-80gb", "plan": {},
"training": {"global_batch": 32}}, "axes": {"model": ["llama3-8b", "gpt3-175b"]}})";
  EXPECT_EQ(
      problems_of(text),
      (Lines{"sweep.json:2:13: training.sequence: missing; expected it in the scenario, or as "
             "an axis, for example 8192; the model's longest is 131072"}));
  const std::string given =
      std::string(text).replace(text.find("\"model\": ["), 0, "\"training.sequence\": [4096], ");
  EXPECT_EQ(problems_of(given), Lines{});
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
