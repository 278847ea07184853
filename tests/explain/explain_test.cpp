// The derivation shows the estimate's own numbers.

#include "titer/explain/explain.hpp"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <set>

#include "titer/cost/cost.hpp"
#include "titer/estimate/e7.hpp"
#include "titer/estimate/estimate.hpp"
#include "titer/scenario/source.hpp"

namespace titer {
namespace TITER_TEST_FILE {

Scenario scenario_with(const std::vector<std::string>& sets) {
  ScenarioSource source = ScenarioSource::load("gpt3-175b-64xa100");
  for (const std::string& set : sets) {
    source.assign(parse_assignment(set));
  }
  return source.read();
}

/// 16 nodes, 2 replicas, sharded optimizer: every part but context and expert takes time.
Scenario two_replicas() {
  return scenario_with(
      {"cluster.nodes=16", "plan.data=2", "training.global_batch=128", "plan.sharding=zero1"});
}

/// The section whose title starts so.
const Section& section_of(const std::vector<Section>& sections, std::string_view title) {
  for (const Section& section : sections) {
    if (section.title.starts_with(title)) {
      return section;
    }
  }
  ADD_FAILURE() << "no section " << title;
  static const Section none;
  return none;
}

const Term& term_of(const Section& section, std::string_view name) {
  for (const Term& term : section.terms) {
    if (term.name == name) {
      return term;
    }
  }
  ADD_FAILURE() << section.title << " has no term " << name;
  static const Term none;
  return none;
}

bool has_term(const Section& section, std::string_view name) {
  for (const Term& term : section.terms) {
    if (term.name == name) {
      return true;
    }
  }
  return false;
}

std::string pass_text(const PassCost& cost) { return format(cost.compute + cost.comm()); }

TEST(ExplainShape, IsThePlansArithmetic) {
  const Scenario scenario = two_replicas();
  const std::vector<Section> sections = explain(scenario);
  const Section& shape = section_of(sections, "shape");
  EXPECT_EQ(term_of(shape, "devices").value, std::to_string(8 * 8 * 2));
  EXPECT_EQ(term_of(shape, "devices").numbers, "8 x 8 x 2");
  EXPECT_EQ(term_of(shape, "micro-batches m").value, std::to_string(128 / (1 * 2)));
  EXPECT_EQ(term_of(shape, "layers per chunk").value, std::to_string(96 / (8 * 3)));
  EXPECT_EQ(term_of(shape, "parameters N").value, std::to_string(parameters(scenario.model)));
}

TEST(ExplainBlocks, EndInTheCostsThatTheEstimateUses) {
  const Scenario scenario = two_replicas();
  const std::vector<Section> sections = explain(scenario);
  StepCosts costs;
  step_costs(scenario, costs);
  const Section& layer = section_of(sections, "one layer, one micro-batch");
  EXPECT_EQ(term_of(layer, "= forward").value, pass_text(costs.kinds.front().forward));
  EXPECT_EQ(term_of(layer, "= backward").value, pass_text(costs.kinds.front().backward));
  EXPECT_EQ(term_of(layer, "= recompute").value, pass_text(costs.kinds.front().recompute));
  const Section& embedding = section_of(sections, "embedding");
  EXPECT_EQ(term_of(embedding, "= forward").value, pass_text(costs.embedding.forward));
  EXPECT_FALSE(has_term(embedding, "= recompute")) << "only layers are recomputed";
  const Section& head = section_of(sections, "output head");
  EXPECT_EQ(term_of(head, "= backward").value, pass_text(costs.head.backward));
}

TEST(ExplainPasses, SumLayersAndEnds) {
  const Scenario scenario = two_replicas();
  const std::vector<Section> sections = explain(scenario);
  StepCosts costs;
  step_costs(scenario, costs);
  const Section& passes = section_of(sections, "passes of one micro-batch");
  const int last = 8 * 3 - 1;
  EXPECT_EQ(term_of(passes, "first chunk: forward").value, pass_text(costs.chunk(0).forward));
  EXPECT_EQ(term_of(passes, "chunk between: recompute").value, pass_text(costs.chunk(1).recompute));
  EXPECT_EQ(term_of(passes, "last chunk: backward").value, pass_text(costs.chunk(last).backward));
}

TEST(ExplainPasses, OfOneChunkHaveBothEnds) {
  const Scenario scenario = scenario_with(
      {"plan.pipeline=1", "plan.virtual_stages=1", "plan.data=8", "training.global_batch=64"});
  const std::vector<Section> sections = explain(scenario);
  StepCosts costs;
  step_costs(scenario, costs);
  const Section& passes = section_of(sections, "passes of one micro-batch");
  EXPECT_EQ(term_of(passes, "only chunk: forward").value, pass_text(costs.chunk(0).forward));
  EXPECT_FALSE(has_term(section_of(sections, "pipeline"), "send from stage 0 to 1"));
}

TEST(ExplainPasses, AreThoseOfEveryNumberOfLayers) {
  const Scenario scenario = scenario_with({"plan.pipeline=4",
                                           "plan.virtual_stages=1",
                                           "plan.layers=[20, 30, 30, 16]",
                                           "cluster.nodes=4"});
  const std::vector<Section> sections = explain(scenario);
  StepCosts costs;
  step_costs(scenario, costs);
  const Term& layers = term_of(section_of(sections, "shape"), "layers of each stage of the model");
  EXPECT_EQ(layers.value, "[20, 30, 30, 16]");
  EXPECT_EQ(layers.numbers, "96 over 4 stages");
  const Section& passes = section_of(sections, "passes of one micro-batch");
  EXPECT_EQ(term_of(passes, "first chunk: forward").value, pass_text(costs.chunk(0).forward));
  EXPECT_EQ(term_of(passes, "chunk between: forward").value, pass_text(costs.chunk(1).forward));
  EXPECT_EQ(term_of(passes, "last chunk: forward").value, pass_text(costs.chunk(3).forward));
  EXPECT_FALSE(has_term(passes, "first chunk: input gradient")) << "1F1B does not split them";
  const Scenario other = scenario_with({"plan.pipeline=4",
                                        "plan.virtual_stages=1",
                                        "plan.layers=[20, 31, 29, 16]",
                                        "cluster.nodes=4"});
  const std::vector<Section> others = explain(other);
  const Section& each = section_of(others, "passes of one micro-batch");
  EXPECT_TRUE(has_term(each, "chunk of 29 layers: backward"));
  EXPECT_TRUE(has_term(each, "chunk of 31 layers: backward"));
}

TEST(ExplainPipeline, ShowsSendsAndBothBubbleRatios) {
  const Scenario scenario = two_replicas();
  const std::vector<Section> sections = explain(scenario);
  StepCosts costs;
  step_costs(scenario, costs);
  const Section& pipeline = section_of(sections, "pipeline");
  EXPECT_EQ(term_of(pipeline, "send from stage 0 to 1").value, format(costs.send[0]));
  constexpr double p = 8;
  constexpr double m = 64;
  constexpr double v = 3;
  EXPECT_EQ(term_of(pipeline, "its bubble ratio (idle / total)").value,
            fmt::format("{:.4f}", (p - 1) / (v * m + p - 1)));
  EXPECT_EQ(term_of(pipeline, "its bubble overhead (idle / ideal)").value,
            fmt::format("{:.4f}", (p - 1) / (v * m)));
}

TEST(ExplainPipeline, SaysWhereNoFormulaOfTheBubbleHolds) {
  const std::string bubble = "bubble if all stages were alike and sending free";
  const auto pipeline_of = [](const std::string& schedule) {
    return section_of(
        explain(scenario_with({"plan.virtual_stages=1", "plan.schedule=" + schedule})), "pipeline");
  };
  const Section zero_bubble = pipeline_of("zb-h1");  // W <= B, since B repeats the attention
  EXPECT_EQ(term_of(zero_bubble, bubble).value.find("not known"), std::string::npos);
  EXPECT_EQ(term_of(zero_bubble, "its bubble ratio (idle / total)").formula,
            "I / (I + m (F + B + W))");
  // Chimera's holds where a backward pass takes as long as a forward pass, which none does.
  const Section chimera = pipeline_of("chimera");
  EXPECT_EQ(
      term_of(chimera, bubble)
          .value.find("not known: no formula holds here; followed pass by pass, the bubble is "),
      0U);
  EXPECT_FALSE(has_term(chimera, "its bubble ratio (idle / total)"));
}

TEST(Explain, RefusesConditionsUnderWhichDevicesDiffer) {
  Scenario scenario = scenario_with({});
  scenario.conditions.devices.push_back({.first = 0, .last = 0, .compute = 0.5});
  ASSERT_FALSE(scenario.conditions.uniform());
  try {
    static_cast<void>(explain(scenario));
    FAIL() << "the closed form has no devices that differ";
  } catch (const InputError& error) {
    ASSERT_EQ(error.lines.size(), 1U);
    EXPECT_EQ(error.lines[0].find("conditions: expected none to explain"), 0U);
  }
}

TEST(ExplainTail, ShowsTheSynchronisationOfTheLastStage) {
  const Scenario scenario = two_replicas();
  const std::vector<Section> sections = explain(scenario);
  StepCosts costs;
  step_costs(scenario, costs);
  const StageTail& tail = costs.tails[static_cast<std::size_t>(estimate(scenario).reference_stage)];
  // The section after the pipeline's, whatever its title.
  std::string values;
  for (const Section& section : sections) {
    if (has_term(section, "optimizer") && has_term(section, "gradients") &&
        has_term(section, "updated parameters")) {
      EXPECT_EQ(term_of(section, "gradients").value, format(tail.gradient_sync));
      EXPECT_EQ(term_of(section, "updated parameters").value, format(tail.parameter_sync));
      EXPECT_EQ(term_of(section, "optimizer").value, format(tail.optimizer));
      EXPECT_EQ(term_of(section, "token table's gradient, first with last stage").value,
                format(costs.embedding_sync));
      values = "found";
    }
  }
  EXPECT_EQ(values, "found");
}

TEST(ExplainSum, ShowsEveryPartThatTakesTime) {
  const Scenario scenario = two_replicas();
  const StepResult result = estimate(scenario);
  const std::vector<Section> sections = explain(scenario);
  const Section& sum = section_of(
      sections, fmt::format("the iteration, seen from stage {}", result.reference_stage));
  std::size_t shown = 0;
  for (const BreakdownPart& part : kBreakdownParts) {
    const Seconds time = result.breakdown.*part.value;
    EXPECT_EQ(has_term(sum, part.name), time > Seconds{}) << part.name;
    if (time > Seconds{}) {
      EXPECT_EQ(term_of(sum, part.name).value, format(time)) << part.name;
      ++shown;
    }
  }
  EXPECT_EQ(shown, 8u) << "all but context_comm, expert_comm and other";
  EXPECT_EQ(term_of(sum, "iteration time").value, format(result.iteration_time));
}

TEST(ExplainSum, SaysWhyAStepWaitsForItsInput) {
  Scenario scenario = two_replicas();
  const Seconds alone = estimate(scenario).iteration_time;
  scenario.training.input_rate = 0.5;
  const StepResult result = estimate(scenario);
  const Term input =
      term_of(section_of(explain(scenario),
                         fmt::format("the iteration, seen from stage {}", result.reference_stage)),
              "input");
  EXPECT_EQ(input.value, format(result.iteration_time - alone));
  EXPECT_NE(input.numbers.find("gb = 128, rate = 0.5/s"), std::string::npos) << input.numbers;
}

TEST(ExplainUtilisation, IsThatOfTheResult) {
  const Scenario scenario = two_replicas();
  const StepResult result = estimate(scenario);
  const std::vector<Section> sections = explain(scenario);
  const Section& utilisation = section_of(sections, "utilisation");
  EXPECT_EQ(term_of(utilisation, "MFU").value, fmt::format("{:.4f}", result.mfu));
  EXPECT_EQ(term_of(utilisation, "HFU").value, fmt::format("{:.4f}", result.hfu));
  const ForwardFlops forward = forward_flops(scenario.model, 128, 2048, AttentionCount::full);
  EXPECT_EQ(term_of(utilisation, "forward FLOPs").value, format(forward.total()));
}

TEST(ExplainMemory, IsThatOfTheFullestStage) {
  const Scenario scenario = two_replicas();
  const StepResult result = estimate(scenario);
  const std::vector<Section> sections = explain(scenario);
  const Section& memory = section_of(
      sections, fmt::format("memory of stage {}, the fullest", result.peak_stage().stage));
  for (const MemoryPart& part : kMemoryParts) {
    EXPECT_EQ(term_of(memory, part.name).value, format(result.peak_stage().*part.value));
  }
  EXPECT_EQ(term_of(memory, "total").value, format(result.memory_peak));
}

/// "8.03e+09 / 8 x 4 B", "(1.541e+09 / 8 + 3.624e+09) x 8 B".
Bytes product_of(const std::string& numbers) {
  const auto held = [](const std::string& part) {
    const std::size_t by = part.find(" / ");
    return by == std::string::npos ? std::stod(part)
                                   : std::stod(part) / std::stod(part.substr(by + 3));
  };
  const std::size_t times = numbers.find(" x ");
  std::string count = numbers.substr(0, times);
  std::erase_if(count, [](char c) { return c == '(' || c == ')'; });
  double sum = 0;
  for (std::size_t begin = 0; begin != std::string::npos;) {
    const std::size_t plus = count.find(" + ", begin);
    sum += held(count.substr(begin, plus - begin));
    begin = plus == std::string::npos ? plus : plus + 3;
  }
  return sum * Bytes::from_si(std::stod(numbers.substr(times + 3)));
}

TEST(ExplainMemory, OfStatesIsTheProductThatIsShown) {
  for (const char* model : {"llama3-8b", "qwen3-30b-a3b"}) {
    for (const char* sharding : {"none", "zero1", "zero2", "zero3"}) {
      const Scenario scenario = scenario_with({fmt::format("model={}", model),
                                               "cluster=dgx-h100",
                                               "cluster.nodes=2",
                                               "plan.pipeline=1",
                                               "plan.virtual_stages=1",
                                               "plan.tensor=2",
                                               "plan.data=8",
                                               fmt::format("plan.sharding={}", sharding),
                                               "training.precision=bf16",
                                               "training.sequence=4096",
                                               "training.adapters.rank=8",
                                               R"(training.adapters.targets=["query"])",
                                               "stack=torchtitan"});
      for (const bool adapters : {false, true}) {
        Scenario own = scenario;
        if (!adapters) {
          own.training.adapters.reset();
        }
        const StageMemory stage = estimate(own).peak_stage();
        const std::vector<Section> sections = explain(own);
        const Section& memory = section_of(sections, "memory of stage 0, the fullest");
        const auto expect = [&](const char* name, Bytes held) {
          EXPECT_NEAR(product_of(term_of(memory, name).numbers) / held, 1.0, 1e-3)
              << model << ", " << sharding << ", adapters " << adapters << ": " << name << ", "
              << term_of(memory, name).numbers;
        };
        expect("weights", stage.weights);
        expect("gradients", stage.gradients);
        expect("optimizer", stage.optimizer);
      }
    }
  }
}

TEST(ExplainMemory, OutsideTheTensorsAddsUp) {
  const Scenario scenario = two_replicas();
  const StepResult result = estimate(scenario);
  const std::vector<Section> sections = explain(scenario);
  const Section& memory = section_of(sections, "memory of stage ");
  Bytes sum;
  for (const std::string_view name :
       {"device context", "communicators", "workspaces", "allocator's reserve"}) {
    const auto bytes = parse<Bytes>(term_of(memory, name).value);
    ASSERT_TRUE(bytes) << name;
    sum += *bytes;
  }
  EXPECT_NEAR(sum / result.peak_stage().runtime, 1, 1e-3);
}

TEST(ExplainMemory, ShowsWhatEachStageOfTheDeviceKeeps) {
  const Scenario scenario = scenario_with({"plan.pipeline=2",
                                           "plan.virtual_stages=2",
                                           "plan.layers=[4, 10, 60, 22]",
                                           "cluster.nodes=2"});
  ModelBlocks blocks;
  list_blocks(scenario.model, scenario.slice(), blocks);
  const auto stages = stage_activations(scenario.plan, memory_needs(scenario, blocks));
  const std::vector<Section> sections = explain(scenario);
  const Section& memory = section_of(sections, "memory of stage 0, the fullest");
  EXPECT_EQ(term_of(memory, "kept by a micro-batch in stage 0 of the model").value,
            format(stages[0].kept));
  const Term& other = term_of(memory, "kept by a micro-batch in stage 2 of the model");
  EXPECT_EQ(other.value, format(stages[2].kept));
  EXPECT_TRUE(other.numbers.starts_with("60 layers"));
  EXPECT_FALSE(has_term(memory, "after its input gradient in stage 0"));
}

TEST(ExplainFigures, ListEveryFigureWithItsSource) {
  const Scenario scenario = two_replicas();
  const std::vector<Section> sections = explain(scenario);
  const Section& figures = section_of(sections, "figures");
  std::size_t expected = 0;
  const auto expect_all = [&](const EvidenceList& evidence, const std::string& file) {
    EXPECT_FALSE(evidence.figures().empty()) << file;
    expected += evidence.figures().size();
    for (const Evidence& figure : evidence.figures()) {
      const Term& term = term_of(figures, file + ": " + figure.key);
      EXPECT_EQ(term.value, figure.value);
      EXPECT_FALSE(figure.source.empty()) << figure.key;
      EXPECT_EQ(term.source, fmt::format("[{}] {}", name(figure.grade), figure.source));
    }
  };
  expect_all(scenario.cluster.chip.evidence, "a100-sxm4-80gb");
  expect_all(scenario.cluster.evidence, "dgx-a100-80gb");
  expect_all(scenario.stack.evidence, "megatron-lm");
  EXPECT_EQ(figures.terms.size(), expected);
}

TEST(ExplainFigures, OfTheUserSaySo) {
  const Scenario scenario = scenario_with({"cluster.chip.memory.bandwidth=3 TB/s"});
  const std::vector<Section> sections = explain(scenario);
  const Term& term = term_of(section_of(sections, "figures"), "a100-sxm4-80gb: memory.bandwidth");
  EXPECT_EQ(term.value, "3 TB/s");
  EXPECT_EQ(term.source, "[given] given by the user");
}

TEST(ExplainTerms, AllHaveAValueAndADifferentNameWithinTheirSection) {
  for (const Section& section : explain(two_replicas())) {
    std::set<std::string> names;
    EXPECT_FALSE(section.terms.empty()) << section.title;
    for (const Term& term : section.terms) {
      EXPECT_FALSE(term.value.empty()) << section.title << ": " << term.name;
      EXPECT_TRUE(names.insert(term.name).second) << section.title << ": " << term.name << " twice";
    }
  }
}

TEST(ExplainE7, ShowsTheSeedsTerms) {
  const Scenario scenario = scenario_with({R"(formula={"name": "e7", "utilization": 0.4})",
                                           "cluster.nodes=16",
                                           "plan.data=2",
                                           "training.global_batch=128"});
  const E7Terms e7 = e7_terms(scenario);
  const std::vector<Section> sections = explain(scenario);
  const Section& section = section_of(sections, "seeds E7");
  EXPECT_EQ(term_of(section, "FLOP_mb").value, format(e7.micro_batch_flops));
  EXPECT_EQ(term_of(section, "T_comp").value, format(e7.compute));
  EXPECT_EQ(term_of(section, "T_TP").value, format(e7.tensor));
  EXPECT_EQ(term_of(section, "T_PP").value, format(e7.pipeline));
  EXPECT_EQ(term_of(section, "T_DP").value, format(e7.data));
  EXPECT_EQ(term_of(section, "T_bubble").value, format(e7.bubble));
  EXPECT_EQ(term_of(section, "T_iter").value, format(e7.iteration()));
  EXPECT_EQ(term_of(section, "R_bubble").value, fmt::format("{:.4f}", e7.bubble_ratio()));
  EXPECT_EQ(term_of(section, "R_comm").value, fmt::format("{:.4f}", e7.communication_ratio()));
}

TEST(Explanation, SaysByHowMuchLanesBesidePassesSlowThemDown) {
  const auto forward_of = [](const std::vector<std::string>& more) {
    std::vector<std::string> sets = {"cluster.nodes=16",
                                     "plan.data=2",
                                     "training.global_batch=128",
                                     "plan.sharding=zero1",
                                     "stack=nemo"};
    sets.insert(sets.end(), more.begin(), more.end());
    const Scenario scenario = scenario_with(sets);
    const StepResult result = estimate(scenario);
    const std::vector<Section> sections = explain(scenario);
    return std::pair(result.forward_slowed,
                     term_of(section_of(sections, "the iteration, seen from"), "forward").numbers);
  };
  const auto [slowed, numbers] = forward_of({});
  EXPECT_GT(slowed, Seconds{});
  EXPECT_NE(numbers.find(", + " + format(slowed)), std::string::npos) << numbers;
  const auto [nothing, plain] = forward_of({"stack.overlap_slowdown=1"});
  EXPECT_EQ(nothing, Seconds{});
  EXPECT_EQ(plain.find('+'), std::string::npos) << plain;
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
