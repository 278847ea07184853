// titer sensitivity and titer diff, from the outside.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "app/program.hpp"
#include "titer/input/document.hpp"
#include "view/csv.hpp"

namespace titer::testing {
namespace TITER_TEST_FILE {

std::vector<std::string> sensitivity_of(std::vector<std::string> more) {
  more.insert(more.begin(), {"sensitivity", "gpt3-175b-64xa100"});
  return more;
}

std::vector<std::string> diff_of(std::vector<std::string> more) {
  more.insert(more.begin(), {"diff", "gpt3-175b-64xa100", "gpt3-175b-64xa100"});
  return more;
}

/// What meets a target of 9500 tokens per second before what does not, the least change first.
void expect_in_order(const Document& json) {
  EXPECT_FALSE(json.at("reach.met")->boolean);
  bool meets = true;
  double factor = 1;
  for (const Value& one : json.at("reach.figures")->items) {
    const Value* needs = one.find("needs");
    const bool found = needs->kind == Value::Kind::number;
    EXPECT_TRUE(meets || !found);
    meets = found;
    EXPECT_EQ(found, one.find("outcome")->number >= 9500) << one.find("path")->text;
    if (found) {
      const double ratio = needs->number / one.find("value")->number;
      EXPECT_GE(std::max(ratio, 1 / ratio), factor);
      factor = std::max(ratio, 1 / ratio);
    }
  }
  EXPECT_GT(factor, 1);
  EXPECT_FALSE(meets);
}

TEST(AppSensitivity, ShowsWhatBindsWhatMattersAndWhatATargetTakes) {
  const std::string text = data_of(
      titer(sensitivity_of({"--reach", "13s", "--cost", "cluster.chip.memory.bandwidth=$200"})));
  for (const char* part : {"what binds",
                           "  arithmetic ",
                           "cluster.chip.matrix.fp16.peak",
                           "exact",
                           "whole number",
                           "plan.tensor",
                           "where the next dollar goes",
                           "break-even points, from 1/16 to 16 times each rate",
                           "more of it gains nothing",
                           "iteration_time_s 13 s: what it needs of each by itself",
                           "cannot be reached by these alone",
                           "figures make no difference here"}) {
    EXPECT_TRUE(contains(text, part));
  }
}

/// Quick to evaluate, by events too.
std::vector<std::string> small(std::vector<std::string> more) {
  more.insert(more.begin(),
              {"sensitivity",
               "llama3-70b-64xh100",
               "--set",
               "model=llama3.2-1b",
               "--set",
               "cluster.nodes=null",
               "--set",
               "plan={}",
               "--set",
               "training.global_batch=1"});
  return more;
}

TEST(AppSensitivity, WritesTheSameFiguresAsTables) {
  const std::vector<std::string> asked = {"--of", "mfu", "--reach", "tokens_per_s=9500"};
  const auto as = [&](const char* format) {
    std::vector<std::string> more = asked;
    more.insert(more.end(), {"--format", format});
    return data_of(titer(sensitivity_of(more)));
  };
  const auto rows = parse_answer(as("csv"), "section");
  const Document json = parse_json(as("json"), "out");
  std::size_t row = 1;
  double last = 1e9;
  for (const Value& figure : json.at("figures")->items) {
    ASSERT_LT(row, rows.size());
    EXPECT_EQ(rows[row].size(), rows[0].size());
    EXPECT_EQ(rows[row][0], "figure");
    EXPECT_EQ(rows[row][1], figure.find("path")->text);
    const double elasticity = figure.find("elasticity")->number;
    EXPECT_EQ(std::strtod(rows[row][3].c_str(), nullptr), elasticity);
    EXPECT_LE(std::abs(elasticity), last) << "the largest first";
    last = std::abs(elasticity);
    ++row;
  }
  EXPECT_GT(row, 20u);
  EXPECT_TRUE(json.at("shares")->members.empty()) << "of the iteration time only";
  EXPECT_EQ(json.at("of")->text, "mfu");
  expect_in_order(json);
}

TEST(AppSensitivity, FollowsEventsWithoutLookingForBreakEvenPoints) {
  const std::string text = data_of(titer(small({"--fidelity", "event"})));
  EXPECT_TRUE(contains(text, "break-even points are looked for in closed form only"));
  EXPECT_TRUE(contains(text, "cluster.chip.memory.bandwidth"));
}

TEST(AppSensitivity, RefusesWhatItDoesNotUnderstand) {
  const auto refused = [](std::vector<std::string> more) {
    return refusal_of(titer(sensitivity_of(std::move(more))));
  };
  EXPECT_EQ(refused({"--of", "iteration_time"}),
            "--of: iteration_time: no figure of a result; did you mean \"iteration_time_s\"?");
  EXPECT_TRUE(contains(refused({"--of", "context_comm_s"}), "it is 0 here"));
  EXPECT_TRUE(contains(refused({"--reach", "soon"}), "such as 12s or mfu=0.5"));
  EXPECT_TRUE(contains(refused({"--reach", "mfv=0.5"}), "did you mean \"mfu\"?"));
  EXPECT_TRUE(contains(refused({"--by", "0"}), "--by: 0: expected a step from 0.01% to 50%"));
  EXPECT_TRUE(contains(refused({"--cost", "stack.dispatch"}), "expected PATH=DOLLARS"));
  EXPECT_TRUE(contains(refused({"--cost", "stack.dispach=1"}), "did you mean \"stack.dispatch\"?"));
  EXPECT_TRUE(contains(refused({"--cost", "model.name=1"}), "expected the path of a number"));
  EXPECT_TRUE(contains(refused({"--fidelity", "evnt"}), "did you mean \"event\"?"));
}

TEST(AppDiff, ShowsWhereTheTimeDiffersAndByWhichInputs) {
  const std::string text = data_of(
      titer(diff_of({"--set-a", "plan.recompute=full", "--set", "training.global_batch=128"})));
  for (const char* part : {"times as fast",
                           "  recompute ",
                           "which inputs make the difference (in one step)",
                           "plan.recompute",
                           "memory per device at its peak",
                           "inputs that differ"}) {
    EXPECT_TRUE(contains(text, part));
  }
  EXPECT_FALSE(contains(text, "training.global_batch")) << "it is the same in both";
}

TEST(AppDiff, WritesTheSameFiguresAsTables) {
  const std::vector<std::string> sets = {
      "--set-b", "plan.recompute=full", "--set-b", "cluster.node.nic_bandwidth=50 GB/s"};
  const auto as = [&](const char* format) {
    std::vector<std::string> more = sets;
    more.insert(more.end(), {"--format", format});
    return data_of(titer(diff_of(more)));
  };
  const auto rows = parse_answer(as("csv"), "section");
  const Document json = parse_json(as("json"), "out");
  double parts = 0;
  double contributions = 0;
  double whole = 0;
  for (const auto& row : rows) {
    ASSERT_EQ(row.size(), 5u);
    const double difference = std::strtod(row[4].c_str(), nullptr);
    parts += row[0] == "breakdown_s" ? difference : 0;
    contributions += row[0] == "contribution_s" ? difference : 0;
    whole += row[1] == "iteration_time_s" ? difference : 0;
  }
  EXPECT_NE(whole, 0);
  EXPECT_NEAR(parts, whole, 1e-12 * 20);
  EXPECT_NEAR(contributions, whole, 1e-12 * 20);
  EXPECT_EQ(json.at("iteration_time_s.difference")->number, whole);
  EXPECT_EQ(json.at("inputs")->items.size(), 2u);
  EXPECT_EQ(json.at("contributions")->items.size(), 2u);
}

/// The line that begins with these words.
std::string line_with(const std::string& text, const std::string& begin) {
  const std::size_t at = text.find("\n" + begin);
  return at == std::string::npos ? "" : text.substr(at + 1, text.find('\n', at + 1) - at - 1);
}

std::string diff_text(std::vector<std::string> more) {
  more.insert(more.begin(), {"diff", "llama3-70b-64xh100", "llama3-70b-64xh100"});
  return data_of(titer(more));
}

TEST(AppDiff, SaysHowManyDevicesTakeAsLong) {
  // On as many devices there is nothing to say of them: another cluster keeps their number.
  const std::string same = line_with(diff_text({"--set-b", "cluster=dgx-b200"}), "B takes ");
  EXPECT_TRUE(contains(same, " times as fast")) << same;
  EXPECT_FALSE(contains(same, "device")) << same;
  const std::vector<std::string> half = {
      "--set-b", "cluster=dgx-b200", "--set-b", "cluster.nodes=4"};
  const std::string text = diff_text(half);
  const std::string headline = line_with(text, "B takes ");
  EXPECT_TRUE(contains(headline, " on 32 devices where A takes ")) << headline;
  EXPECT_TRUE(contains(headline, " on 64: ")) << headline;
  EXPECT_TRUE(contains(headline, " times the device-seconds")) << headline;
  EXPECT_FALSE(contains(text, "not the same work"));
  std::vector<std::string> as_json = half;
  as_json.insert(as_json.end(), {"--format", "json"});
  const Document json = parse_json(diff_text(as_json), "out");
  EXPECT_EQ(json.at("question.devices.a")->integer, 64);
  EXPECT_EQ(json.at("question.devices.b")->integer, 32);
  EXPECT_TRUE(json.at("question.devices.differs")->boolean);
  EXPECT_FALSE(json.at("question.same")->boolean);
  const double ratio =
      json.at("iteration_time_s.b")->number / json.at("iteration_time_s.a")->number;
  EXPECT_DOUBLE_EQ(json.at("ratios.iteration_time")->number, ratio);
  EXPECT_DOUBLE_EQ(json.at("ratios.device_seconds")->number, ratio / 2);
  std::vector<std::string> as_csv = half;
  as_csv.insert(as_csv.end(), {"--format", "csv"});
  EXPECT_TRUE(contains(diff_text(as_csv), ",question,devices,64,32,-32,"));
  EXPECT_TRUE(contains(diff_text(as_csv), ",ratio,device_seconds,1,"));
}

TEST(AppDiff, HasTheRatiosOfItsFigures) {
  const Document json = parse_json(data_of(titer(diff_of({"--set-b",
                                                          "cluster.nodes=16",
                                                          "--set-b",
                                                          "plan.data=2",
                                                          "--set-b",
                                                          "training.global_batch=192",
                                                          "--format",
                                                          "json"}))),
                                   "out");
  const auto ratio = [&](const std::string& figure) {
    return json.at(figure + ".b")->number / json.at(figure + ".a")->number;
  };
  const double devices = ratio("question.devices");
  const double tokens = ratio("question.tokens_per_step");
  const double time = ratio("iteration_time_s");
  EXPECT_EQ(devices, 2);
  EXPECT_GT(tokens, 1);
  EXPECT_NEAR(json.at("ratios.iteration_time")->number, time, 1e-12);
  EXPECT_NEAR(json.at("ratios.device_seconds")->number, time * devices, 1e-12);
  EXPECT_NEAR(json.at("ratios.iteration_time_per_token")->number, time / tokens, 1e-12);
  EXPECT_NEAR(json.at("ratios.device_seconds_per_token")->number, time * devices / tokens, 1e-12);
}

TEST(AppDiff, NamesWhatElseOfTheQuestionDiffers) {
  const std::string text = diff_text({"--set-b",
                                      "training.sequence=4096",
                                      "--set-b",
                                      "training.precision=fp8",
                                      "--set-b",
                                      "model=llama2-70b"});
  EXPECT_EQ(line_with(text, "not the same work: "),
            "not the same work: model Llama 3 70B in A, Llama 2 70B in B; tokens per step 1048576 "
            "in A, 524288 in B; sequence 8192 in A, 4096 in B; precision bf16 in A, fp8 in B");
  EXPECT_TRUE(contains(line_with(text, "per token B takes "), " times as ")) << text;
  // The same name for another model.
  EXPECT_EQ(line_with(diff_text({"--set-b", "model.layers=40"}), "not the same work: "),
            "not the same work: model Llama 3 70B in both, 1 of its inputs not the same");
  const std::string batch = diff_text({"--set-b", "training.global_batch=256"});
  EXPECT_TRUE(
      contains(line_with(batch, "not the same work: "), "tokens per step 1048576 in A, 20"));
}

TEST(AppDiff, SuggestsTheWholeInPlaceOfItsLabel) {
  EXPECT_TRUE(contains(refusal_of(titer({"diff",
                                         "llama3-70b-64xh100",
                                         "llama3-70b-64xh100",
                                         "--set-b",
                                         "cluster.name=dgx-b200"})),
                       "; to take another, --set-b cluster=dgx-b200"));
}

TEST(AppDiff, SaysSoWhereNothingDiffers) {
  EXPECT_TRUE(contains(data_of(titer(diff_of({}))), "the same scenario: no input differs"));
}

TEST(AppDiff, RefusesAScenarioThatIsNotSound) {
  EXPECT_TRUE(
      contains(refusal_of(titer(diff_of({"--set-b", "plan.recompute=some"}))), "plan.recompute"));
  EXPECT_TRUE(contains(refusal_of(titer({"diff", "gpt3-175b-64xa100", "gpt3-175b"})), "gpt3-175b"));
}

}  // namespace TITER_TEST_FILE
}  // namespace titer::testing
