#include "titer/report/step/step_report.hpp"

#include <gtest/gtest.h>

#include "report/results.hpp"
#include "titer/scenario/source.hpp"
#include "titer/units/text.hpp"
#include "titer/view/table.hpp"
#include "view/csv.hpp"

namespace titer::testing {
namespace TITER_TEST_FILE {

Scenario shipped_scenario() { return ScenarioSource::load("gpt3-175b-64xa100").read(); }

/// A number of the JSON by its dotted path.
double number_at(const Document& json, std::string_view path) {
  const Value* value = json.at(path);
  EXPECT_NE(value, nullptr) << path;
  EXPECT_TRUE(value == nullptr || value->kind == Value::Kind::number) << path;
  return value == nullptr ? 0.0 : value->number;
}

Document written(const Value& json) { return parse_json(to_json(json), "json"); }

TEST(ResultColumns, AreTheKeysOfTheFigures) {
  EXPECT_EQ(
      csv_of({result_figures(distinct_result())}).substr(0, csv_line(result_columns()).size()),
      csv_line(result_columns()));
}

TEST(ResultCells, StandUnderTheirColumns) {
  const StepResult result = distinct_result();
  auto cells = only_row(csv_of({result_figures(result)}));
  EXPECT_EQ(cells["iteration_time_s"], number_text(13.0 * 14.0 / 2.0 / 8.0));
  EXPECT_EQ(cells["tokens_per_s"], "1001.5");
  EXPECT_EQ(cells["tokens_per_s_per_device"], "1002.5");
  EXPECT_EQ(cells["model_tflops_per_device"], "140");
  EXPECT_EQ(cells["mfu"], "0.51");
  EXPECT_EQ(cells["mfu_causal"], "0.52");
  EXPECT_EQ(cells["hfu"], "0.53");
  EXPECT_EQ(cells["bubble_ratio"], "0.12");
  EXPECT_EQ(cells["bubble_overhead"], "0.13");
  EXPECT_EQ(cells["forward_s"], number_text(1.0 / 8.0));
  EXPECT_EQ(cells["backward_s"], number_text(2.0 / 8.0));
  EXPECT_EQ(cells["recompute_s"], number_text(3.0 / 8.0));
  EXPECT_EQ(cells["optimizer_s"], number_text(4.0 / 8.0));
  EXPECT_EQ(cells["tensor_comm_s"], number_text(5.0 / 8.0));
  EXPECT_EQ(cells["context_comm_s"], number_text(6.0 / 8.0));
  EXPECT_EQ(cells["expert_comm_s"], number_text(7.0 / 8.0));
  EXPECT_EQ(cells["pipeline_comm_s"], number_text(8.0 / 8.0));
  EXPECT_EQ(cells["data_comm_s"], number_text(9.0 / 8.0));
  EXPECT_EQ(cells["host_comm_s"], number_text(10.0 / 8.0));
  EXPECT_EQ(cells["input_s"], number_text(11.0 / 8.0));
  EXPECT_EQ(cells["bubble_s"], number_text(12.0 / 8.0));
  EXPECT_EQ(cells["other_s"], number_text(13.0 / 8.0));
  EXPECT_EQ(cells["tensor_comm_total_s"], number_text(100.0 + 14.0 / 8.0));
  EXPECT_EQ(cells["data_comm_total_s"], number_text(100.0 + 18.0 / 8.0));
  EXPECT_EQ(cells["memory_peak_bytes"],
            std::to_string((2LL * (2 + 3 + 5 + 9 + 17 + 33) + 3) << 29));
  EXPECT_EQ(cells["memory_capacity_bytes"], std::to_string(80LL << 30));
  EXPECT_EQ(cells["fits"], "true");
  EXPECT_EQ(cells["peak_stage"], "1");
  EXPECT_EQ(cells["grade"], "datasheet");
}

TEST(ResultCells, SayWhenThePlanDoesNotFit) {
  StepResult result = distinct_result();
  result.memory_capacity = result.memory_peak - 1_B;
  EXPECT_EQ(only_row(csv_of({result_figures(result)}))["fits"], "false");
}

TEST(StepCsv, PutsWhatWasAskedBeforeTheResult) {
  const Scenario scenario = shipped_scenario();
  const std::string text = step_view(scenario, distinct_result()).as_csv();
  auto cells = only_row(text);
  EXPECT_EQ(cells["model"], "gpt3-175b");
  EXPECT_EQ(cells["cluster"], "dgx-a100-80gb");
  EXPECT_EQ(cells["devices"], std::to_string(8 * 8 * 1));
  EXPECT_EQ(cells["virtual_stages"], "3");
  EXPECT_EQ(cells["micro_batches"], std::to_string(64 / (1 * 1)));
  EXPECT_EQ(cells["sequence_parallel"], "true");
  EXPECT_EQ(cells["recompute"], "selective");
  EXPECT_EQ(cells["rank_order"], "tp-dp-pp");
  EXPECT_EQ(cells["precision"], "fp16");
  EXPECT_EQ(cells["formula"], "titer");
  EXPECT_TRUE(text.starts_with("model,cluster,chip,stack,devices,pipeline,tensor,data,")) << text;
  EXPECT_EQ(
      cells.size(),
      result_columns().size() +
          written(step_view(scenario, distinct_result()).as_json()).at("scenario")->members.size());
}

TEST(StepJson, SaysEachInputUnderItsKey) {
  Scenario scenario = shipped_scenario();
  scenario.plan.micro_batch = 2;
  const Document json = written(step_view(scenario, distinct_result()).as_json());
  const auto number = [&](const std::string& key) { return number_at(json, "scenario." + key); };
  EXPECT_EQ(number("pipeline"), 8);
  EXPECT_EQ(number("tensor"), 8);
  EXPECT_EQ(number("data"), 1);
  EXPECT_EQ(number("virtual_stages"), 3);
  EXPECT_EQ(number("micro_batch"), 2);
  EXPECT_EQ(number("micro_batches"), 32);
  EXPECT_EQ(number("global_batch"), 64);
  EXPECT_EQ(number("sequence"), 2048);
  EXPECT_EQ(json.at("scenario.chip")->text, scenario.cluster.chip.name);
  EXPECT_EQ(json.at("scenario.stack")->text, scenario.stack.name);
  EXPECT_EQ(json.at("scenario.schedule")->text, "1f1b");
  EXPECT_EQ(json.at("scenario.optimizer")->text, "adam");
}

TEST(StepJson, HasEveryKeyOfTheContract) {
  const Document json = written(step_view(shipped_scenario(), distinct_result()).as_json());
  for (const char* key : {"format_version",
                          "iteration_time_s",
                          "tokens_per_s",
                          "tokens_per_s_per_device",
                          "model_tflops_per_device",
                          "mfu",
                          "hfu",
                          "bubble_ratio",
                          "breakdown_s.forward",
                          "breakdown_s.backward",
                          "breakdown_s.recompute",
                          "breakdown_s.optimizer",
                          "breakdown_s.tensor_comm",
                          "breakdown_s.context_comm",
                          "breakdown_s.expert_comm",
                          "breakdown_s.pipeline_comm",
                          "breakdown_s.data_comm",
                          "breakdown_s.bubble",
                          "breakdown_s.other",
                          "comm_total_s.tensor_comm",
                          "comm_total_s.pipeline_comm",
                          "comm_total_s.data_comm",
                          "memory.peak_bytes",
                          "memory.capacity_bytes"}) {
    EXPECT_NE(json.at(key), nullptr) << key;
    static_cast<void>(number_at(json, key));
  }
  for (const char* key : {"error_bar", "grade", "memory.fits", "memory.stages"}) {
    ASSERT_NE(json.at(key), nullptr) << key;
  }
  EXPECT_EQ(json.at("grade")->text, "datasheet");
  EXPECT_EQ(json.at("memory.fits")->kind, Value::Kind::boolean);
  EXPECT_EQ(json.at("memory.stages")->items.size(), 2u);
  EXPECT_EQ(number_at(json, "format_version"), kFormatVersion);
}

TEST(StepJson, HoldsTheNumbersOfTheResult) {
  const StepResult result = distinct_result();
  const Document json = written(step_view(shipped_scenario(), result).as_json());
  EXPECT_EQ(number_at(json, "iteration_time_s"), result.iteration_time.si());
  EXPECT_EQ(number_at(json, "model_tflops_per_device"), 140.0);
  EXPECT_EQ(number_at(json, "mfu"), 0.51);
  EXPECT_EQ(number_at(json, "hfu"), 0.53);
  EXPECT_EQ(number_at(json, "bubble_ratio"), 0.12);
  EXPECT_EQ(number_at(json, "breakdown_stage"), 1.0);
  for (const BreakdownPart& part : kBreakdownParts) {
    EXPECT_EQ(number_at(json, "breakdown_s." + std::string(part.name)),
              (result.breakdown.*part.value).si());
  }
  for (const CommunicationPart& part : kCommunicationParts) {
    EXPECT_EQ(number_at(json, "comm_total_s." + std::string(part.name)),
              (result.comm_total.*part.value).si());
  }
  EXPECT_EQ(json.at("memory.stages.1.optimizer_bytes")->integer, std::int64_t{4 + 1} << 30);
  EXPECT_EQ(json.at("memory.stages.1.total_bytes")->integer, json.at("memory.peak_bytes")->integer);
  EXPECT_EQ(json.at("memory.peak_stage")->integer, 1);
}

TEST(StepJson, HasTheColumnsOfTheCsv) {
  const Scenario scenario = shipped_scenario();
  const StepResult result = estimate(scenario);
  const auto cells = only_row(step_view(scenario, result).as_csv());
  const Document json = written(step_view(scenario, result).as_json());
  for (const BreakdownPart& part : kBreakdownParts) {
    const std::string name(part.name);
    EXPECT_EQ(std::stod(cells.at(name + "_s")), number_at(json, "breakdown_s." + name));
  }
  for (const char* key : {"iteration_time_s", "tokens_per_s", "mfu", "mfu_causal", "hfu"}) {
    EXPECT_EQ(std::stod(cells.at(key)), number_at(json, key));
  }
}

TEST(StepJson, OfAnEstimateAddsUpToTheIterationTime) {
  for (const char* set : {"plan.recompute=none", "plan.recompute=full", "plan.virtual_stages=1"}) {
    ScenarioSource source = ScenarioSource::load("gpt3-175b-64xa100");
    source.assign(parse_assignment(set));
    const Scenario scenario = source.read();
    const Document json = written(step_view(scenario, estimate(scenario)).as_json());
    double sum = 0.0;
    for (const auto& [key, part] : json.at("breakdown_s")->members) {
      sum += part.number;
    }
    EXPECT_NEAR(sum, number_at(json, "iteration_time_s"), 1e-12 * sum) << set;
  }
}

TEST(StepText, NamesTheFiguresThatPeopleAskFor) {
  const StepResult result = distinct_result();
  const std::string text = step_view(shipped_scenario(), result).as_text();
  for (const std::string& part : {std::string("GPT-3 175B on 64 x NVIDIA A100 SXM4 80 GB"),
                                  format(result.iteration_time),
                                  std::string("1002 (1002.5 per device)"),
                                  std::string("51.0 %"),
                                  std::string("52.0 %"),
                                  std::string("53.0 %"),
                                  std::string("140 TFLOP/s"),
                                  memory_sentence(result),
                                  std::string("datasheet")}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " in\n" << text;
  }
  for (const BreakdownPart& part : kBreakdownParts) {
    EXPECT_NE(text.find("  " + std::string(part.name) + " "), std::string::npos) << part.name;
  }
}

TEST(StepText, SaysHowFp8IsScaledWhereThatIsNotByTensors) {
  Scenario scenario = shipped_scenario();
  scenario.training.precision = DataType::fp8;
  const auto says = [&](std::string_view words) {
    return step_view(scenario, distinct_result()).as_text().find(words) != std::string::npos;
  };
  EXPECT_TRUE(says("tokens, fp8, gradients"));
  scenario.training.narrow_scaling = NarrowScaling::row;
  EXPECT_TRUE(says("tokens, fp8 scaled by rows, gradients"));
  scenario.training.narrow_scaling = NarrowScaling::block;
  EXPECT_TRUE(says("tokens, mxfp8, gradients"));
}

TEST(StepText, LeavesOutPartsThatTakeNoTime) {
  StepResult result = distinct_result();
  result.breakdown.expert_comm = {};
  EXPECT_EQ(step_view(shipped_scenario(), result).as_text().find("expert_comm"), std::string::npos);
}

/// Two stages with figures of their own.
StepResult simulated_result() {
  StepResult result = distinct_result();
  for (int rank = 0; rank < 2; ++rank) {
    const double r = rank;
    result.ranks.push_back({.rank = rank,
                            .start = Seconds::from_si(r + 0.125),
                            .end = Seconds::from_si(r + 7.0),
                            .compute = Seconds::from_si(r + 4.0),
                            .communication = Seconds::from_si(r + 2.0),
                            .idle = result.iteration_time - Seconds::from_si(2.0 * r + 6.0),
                            .memory = {.in_use = (60.0 + r) * 1_GiB,
                                       .at = Seconds::from_si(r + 3.5),
                                       .operation = "forward of stage 3, micro-batch 5"}});
  }
  return result;
}

TEST(StepJson, ListsTheRanksOfASimulation) {
  const StepResult result = simulated_result();
  const Document json = written(step_view(shipped_scenario(), result).as_json());
  ASSERT_NE(json.at("ranks"), nullptr);
  ASSERT_EQ(json.at("ranks")->items.size(), 2U);
  const auto rank = [&](std::string_view key) {
    return number_at(json, "ranks.1." + std::string(key));
  };
  EXPECT_EQ(rank("rank"), 1.0);
  EXPECT_EQ(rank("start_s"), 1.125);
  EXPECT_EQ(rank("end_s"), 8.0);
  EXPECT_EQ(rank("compute_s"), 5.0);
  EXPECT_EQ(rank("communication_s"), 3.0);
  EXPECT_EQ(rank("idle_s"), result.iteration_time.si() - 8.0);
  EXPECT_EQ(rank("memory_peak_bytes"), 61.0 * 1024 * 1024 * 1024);
  EXPECT_EQ(rank("memory_peak_s"), 4.5);
  EXPECT_EQ(json.at("ranks.1.memory_peak_operation")->text, "forward of stage 3, micro-batch 5");
}

TEST(StepViews, NameAStepByItsModelDevicesAndSchedule) {
  const Scenario scenario = shipped_scenario();
  EXPECT_EQ(step_title(scenario),
            scenario.model.transformer().title + " on " + std::to_string(scenario.plan.devices()) +
                " x " + scenario.cluster.chip.title + ": " +
                std::string(name(scenario.plan.schedule)));
}

TEST(StepText, ListsTheRanksOfASimulation) {
  const std::string text = step_view(shipped_scenario(), simulated_result()).as_text();
  EXPECT_NE(text.find("what each pipeline stage does, and when its memory peaks"),
            std::string::npos);
  for (const char* column : {"exposed comm", "idle share", "peak GiB", "during"}) {
    EXPECT_NE(text.find(column), std::string::npos) << column;
  }
  EXPECT_NE(text.find("61.00"), std::string::npos);
  EXPECT_NE(text.find("forward of stage 3, micro-batch 5"), std::string::npos);
}

TEST(StepViews, SayNothingOfRanksInClosedForm) {
  const StepResult result = distinct_result();
  EXPECT_EQ(written(step_view(shipped_scenario(), result).as_json()).at("ranks"), nullptr);
  EXPECT_EQ(step_view(shipped_scenario(), result).as_text().find("what each pipeline stage does"),
            std::string::npos);
  EXPECT_EQ(step_view(shipped_scenario(), result).as_csv(),
            step_view(shipped_scenario(), simulated_result()).as_csv())
      << "one row has no room for them";
}

TEST(StepReport, SaysWhatWouldFit) {
  StepResult result = distinct_result();
  result.memory_capacity = 64_GiB;
  const std::vector<FitAdvice> advice = {
      {.changes = {{"plan.recompute", Value("full")}}, .iteration_time = 13_s, .peak = 60_GiB}};
  const Scenario scenario = ScenarioSource::load("gpt3-175b-64xa100").read();
  const Value json = step_view(scenario, result, advice).as_json();
  const Value* list = json.find("memory")->find("advice");
  ASSERT_NE(list, nullptr);
  ASSERT_EQ(list->items.size(), 1U);
  EXPECT_EQ(list->items[0].find("change")->find("plan.recompute")->text, "full");
  EXPECT_EQ(list->items[0].find("iteration_time_s")->number, 13.0);
  EXPECT_EQ(list->items[0].find("peak_bytes")->integer, 60LL << 30);
  const std::string text = step_view(scenario, result, advice).as_text();
  // 70.5 GiB of 64 GiB
  EXPECT_NE(text.find("6.5 GiB too much; would fit with"), std::string::npos) << text;
  EXPECT_NE(text.find("recompute full:"), std::string::npos);
  result.memory_capacity = 80_GiB;
  EXPECT_EQ(step_view(scenario, result).as_json().find("memory")->find("advice"), nullptr);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer::testing
