#include "titer/simulate/simulate.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "simulate/simulations.hpp"
#include "titer/simulate/evaluate.hpp"

namespace titer {
namespace TITER_TEST_FILE {

constexpr int kRandomScenarios = 600;
/// Up to here seconds are rounded, to and fro, by less than half a picosecond.
constexpr Seconds kWholeTicks = 4096_s;

/// Half a picosecond for every stretch of time that a step rounds: no more than ten for every pass
/// of every chunk.
double rounding(const Scenario& scenario) {
  const PipelineShape shape = scenario.shape();
  return 0.5e-12 * 20.0 * (1.0 + shape.micro_batches) * shape.virtual_stages;
}

/// Where transfers run beside compute, tensor ones too, parts of communication may be beside one
/// another: then only their sum is compared.
bool is_compute(const BreakdownPart& part) {
  return part.name == "forward" || part.name == "backward" || part.name == "recompute" ||
         part.name == "optimizer";
}

void expect_agreement(const Scenario& scenario, bool every_part = true) {
  const StepResult closed = estimate(scenario);
  const StepResult events = simulate(scenario).result;
  const double tolerance = rounding(scenario);
  const std::string text = scenarios::text_of(scenario);
  EXPECT_EQ(to_ticks(closed.iteration_time), to_ticks(events.iteration_time)) << text;
  EXPECT_EQ(closed.reference_stage, events.reference_stage) << text;
  for (const BreakdownPart& part : kBreakdownParts) {
    if (!every_part && !is_compute(part)) {
      continue;
    }
    EXPECT_NEAR((closed.breakdown.*part.value).si(), (events.breakdown.*part.value).si(), tolerance)
        << text << ": " << part.name;
  }
  for (const CommunicationPart& part : kCommunicationParts) {
    if (!every_part && part.name == "tensor_comm") {
      continue;
    }
    EXPECT_NEAR(
        (closed.comm_total.*part.value).si(), (events.comm_total.*part.value).si(), tolerance)
        << text << ": " << part.name;
  }
  EXPECT_NEAR(closed.mfu, events.mfu, 1e-12 * closed.mfu) << text;
  EXPECT_EQ(closed.memory_peak, events.memory_peak) << text;
}

TEST(ClosedForm, IsWhatTheEventsTake) {
  scenarios::Maker maker(11);
  std::set<std::string> schedules;
  int interleaved = 0;
  int on_one_stage = 0;
  int fewer_than_stages = 0;
  for (int i = 0; i < kRandomScenarios; ++i) {
    const Scenario scenario = maker.next();
    schedules.insert(std::string(name(scenario.plan.schedule)));
    interleaved += scenario.plan.virtual_stages > 1 ? 1 : 0;
    on_one_stage += scenario.plan.pipeline == 1 ? 1 : 0;
    fewer_than_stages += scenario.micro_batches() < scenario.plan.pipeline ? 1 : 0;
    expect_agreement(scenario);
  }
  EXPECT_EQ(schedules.size(), schedule_entries().size()) << "every schedule was tried";
  EXPECT_GT(interleaved, 20);
  EXPECT_GT(on_one_stage, 20);
  EXPECT_GT(fewer_than_stages, 10);
}

/// Nothing slows anything down, and no time is waited for where the closed form does not.
Scenario without_contention(Scenario scenario) {
  scenario.stack.overlap_slowdown = 1;
  return scenario;
}

TEST(ClosedForm, IsWhatTheEventsTakeBesideTransfers) {
  scenarios::Maker maker(13, true);
  std::set<std::string> with_buckets;
  std::set<std::string> with_gathers;
  std::set<std::string> with_sends;
  int uneven = 0;
  int all_parts = 0;
  for (int i = 0; i < kRandomScenarios; ++i) {
    const Scenario scenario = without_contention(maker.next());
    const std::string schedule(name(scenario.plan.schedule));
    const bool pipelined = scenario.plan.pipeline > 1;
    if (pipelined && scenario.overlap_grad_reduce()) {
      with_buckets.insert(schedule);
    }
    if (pipelined && scenario.overlap_param_gather()) {
      with_gathers.insert(schedule);
    }
    if (pipelined && scenario.pipeline_send() == PipelineSend::overlapped) {
      with_sends.insert(schedule);
    }
    uneven += is_even(scenario.plan.layers) ? 0 : 1;
    const bool every_part = scenario.tensor_overlap() == TensorOverlap::none;
    all_parts += every_part ? 1 : 0;
    expect_agreement(scenario, every_part);
  }
  EXPECT_GT(all_parts, 100);
  EXPECT_EQ(with_buckets.size(), schedule_entries().size());
  EXPECT_EQ(with_sends.size(), schedule_entries().size());
  EXPECT_GT(with_gathers.size(), schedule_entries().size() / 2);
  EXPECT_GT(uneven, 50);
}

TEST(Simulation, NeedsTheMemoryThatTheClosedFormFinds) {
  scenarios::Maker maker(14, true);
  std::set<std::string> schedules;
  for (int i = 0; i < kRandomScenarios; ++i) {
    const Scenario scenario = maker.next();
    const StepResult closed = estimate(scenario);
    const StepResult events = simulate(scenario).result;
    ASSERT_EQ(events.ranks.size(), closed.memory.size());
    for (std::size_t rank = 0; rank < closed.memory.size(); ++rank) {
      const double bytes = closed.memory[rank].total().si();
      EXPECT_NEAR(events.ranks[rank].memory.in_use.si(), bytes, 1e-12 * bytes)
          << scenarios::text_of(scenario) << ", rank " << rank;
    }
    schedules.insert(std::string(name(scenario.plan.schedule)));
  }
  EXPECT_EQ(schedules.size(), schedule_entries().size());
}

TEST(ClosedForm, IsWhatTheEventsTakeInTheShippedRuns) {
  for (const std::string& name : shipped_names(kRunData)) {
    Scenario scenario = ScenarioSource::load(name).read();
    scenario.conditions = {};             // with devices alike, without noise,
    scenario.stack.overlap_slowdown = 1;  // and where nothing slows down beside anything
    expect_agreement(scenario);
  }
}

TEST(Simulation, BreaksTheIterationDownExactly) {
  scenarios::Maker maker(12);
  for (int i = 0; i < 100; ++i) {
    Scenario scenario = maker.next();
    scenario.stack.pipeline_send = i % 2 == 0 ? PipelineSend::overlapped : PipelineSend::blocking;
    const StepResult result = simulate(scenario).result;
    if (result.iteration_time > kWholeTicks) {
      continue;
    }
    Ticks sum = 0;
    for (const BreakdownPart& part : kBreakdownParts) {
      EXPECT_GE(result.breakdown.*part.value, Seconds{}) << scenarios::text_of(scenario);
      sum += to_ticks(result.breakdown.*part.value);
    }
    EXPECT_EQ(sum, to_ticks(result.iteration_time)) << scenarios::text_of(scenario);
    for (const SimulatedRank& rank : result.ranks) {
      EXPECT_EQ(to_ticks(rank.compute) + to_ticks(rank.communication) + to_ticks(rank.idle), sum);
      EXPECT_LE(rank.start, rank.end);
      EXPECT_LE(rank.end, result.iteration_time);
    }
    const auto& reference = result.ranks[static_cast<std::size_t>(result.reference_stage)];
    EXPECT_EQ(reference.end, result.iteration_time);
    EXPECT_EQ(reference.idle, result.breakdown.bubble);
    EXPECT_EQ(result.bubble_ratio, result.breakdown.bubble / result.iteration_time);
  }
}

TEST(Simulation, IsTheSameEveryTime) {
  const Scenario scenario = scenarios::shipped_run();
  EXPECT_EQ(simulations::all_of(scenario, simulate(scenario).result),
            simulations::all_of(scenario, simulate(scenario).result));
}

TEST(Simulation, HasThePeakMemoryOfTheFormula) {
  scenarios::Maker maker(13);
  for (int i = 0; i < 300; ++i) {
    const Scenario scenario = maker.next();
    const StepResult result = simulate(scenario).result;
    ASSERT_EQ(result.ranks.size(), result.memory.size());
    for (std::size_t rank = 0; rank < result.ranks.size(); ++rank) {
      const double formula = result.memory[rank].total().si();
      EXPECT_NEAR(result.ranks[rank].memory.in_use.si(), formula, 1e-12 * formula)
          << scenarios::text_of(scenario) << ", rank " << rank;
    }
  }
}

TEST(Simulation, SaysWhatBeganWhenMemoryPeaked) {
  Plan plan;
  plan.pipeline = 4;
  simulations::RoundStep step(plan, 8);
  const StepResult result = step.result();
  // Rank r has most in flight when its forward pass of micro-batch p - 1 - r begins: the first ones
  // go from rank to rank, those after them wait for no one.
  const Seconds hop = simulations::kForward + simulations::kSend;
  for (int rank = 0; rank < 3; ++rank) {
    const MemoryPeak& peak = result.ranks[static_cast<std::size_t>(rank)].memory;
    EXPECT_EQ(
        peak.operation,
        "forward of stage " + std::to_string(rank) + ", micro-batch " + std::to_string(3 - rank));
    EXPECT_EQ(to_ticks(peak.at), to_ticks(3 * hop)) << rank;
  }
  EXPECT_EQ(result.ranks[3].memory.operation, "forward of stage 3, micro-batch 0");
}

TEST(Simulation, LeavesNothingOfARankInTheClosedForm) {
  EXPECT_TRUE(estimate(scenarios::shipped_run()).ranks.empty());
  Estimator estimator;
  StepResult result = simulate(scenarios::shipped_run()).result;
  evaluate(scenarios::shipped_run(), Fidelity::closed, estimator, result);
  EXPECT_TRUE(result.ranks.empty());
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
