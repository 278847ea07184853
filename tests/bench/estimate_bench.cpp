// Evaluations per second of one step: the closed form, and the event simulation.
// items_per_second counts steps.
#include <benchmark/benchmark.h>

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "paths.hpp"
#include "titer/estimate/estimate.hpp"
#include "titer/scenario/source.hpp"
#include "titer/simulate/simulate.hpp"

namespace TITER_TEST_FILE {

using titer::Scenario;

/// The shipped run of GPT-3 on 64 A100 (p = 8, v = 3, m = 64), with changes.
Scenario scenario_with(const std::vector<std::string_view>& assignments = {}) {
  titer::ScenarioSource source = titer::ScenarioSource::load(
      titer::testing::root().string() + "/configs/runs/gpt3-175b-64xa100.json");
  for (const std::string_view assignment : assignments) {
    source.assign(titer::parse_assignment(assignment));
  }
  return source.read();
}

template <std::size_t N>
void estimate_in_turn(benchmark::State& state, const std::array<Scenario, N>& scenarios) {
  titer::Estimator estimator;
  titer::StepResult result;
  for (auto _ : state) {
    for (const Scenario& scenario : scenarios) {
      estimator.estimate(scenario, result);
      benchmark::DoNotOptimize(result.iteration_time);
    }
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(N));
}

void closed_form_interleaved(benchmark::State& state) {
  estimate_in_turn(state, std::array{scenario_with()});
}
BENCHMARK(closed_form_interleaved);

void closed_form_one_chunk(benchmark::State& state) {
  estimate_in_turn(state, std::array{scenario_with({"plan.virtual_stages=1"})});
}
BENCHMARK(closed_form_one_chunk);

void closed_form_no_pipeline(benchmark::State& state) {
  estimate_in_turn(
      state,
      std::array{scenario_with({"plan.virtual_stages=1", "plan.pipeline=1", "plan.data=8"})});
}
BENCHMARK(closed_form_no_pipeline);

/// As a search does: the micro-batch changes the number of passes, the others only their costs.
void closed_form_alternating_plans(benchmark::State& state) {
  estimate_in_turn(state,
                   std::array{scenario_with(),
                              scenario_with({"plan.recompute=full"}),
                              scenario_with({"plan.micro_batch=2"}),
                              scenario_with({"plan.virtual_stages=1"})});
}
BENCHMARK(closed_form_alternating_plans);

/// Every valid plan of GPT-3 on 4,096 A100 along these keys, the outer ones first.
std::vector<titer::Plan> plans_of_a_search(Scenario& scenario) {
  std::vector<titer::Plan> plans;
  titer::Plan& plan = scenario.plan;
  const auto vary = [](auto& key, auto values, const auto& inside) {
    for (const auto& value : values) {
      key = value;
      inside();
    }
  };
  using Degrees = std::vector<std::int64_t>;
  using titer::Recompute;
  using titer::Sharding;
  const std::array orders = {plan.rank_order,
                             std::array{titer::Dimension::tensor,
                                        titer::Dimension::context,
                                        titer::Dimension::pipeline,
                                        titer::Dimension::data}};
  vary(plan.tensor, Degrees{1, 2, 4, 8, 16, 32}, [&] {
    vary(plan.micro_batch, Degrees{1, 2, 4, 8}, [&] {
      vary(plan.recompute, std::array{Recompute::none, Recompute::selective, Recompute::full}, [&] {
        vary(plan.pipeline, Degrees{1, 2, 4, 8, 16, 32}, [&] {
          plan.data = 4096 / plan.pipeline / plan.tensor;
          vary(plan.virtual_stages, Degrees{1, 2, 3, 6}, [&] {
            vary(plan.rank_order, orders, [&] {
              vary(plan.sharding,
                   std::array{Sharding::none, Sharding::zero1, Sharding::zero2, Sharding::zero3},
                   [&] {
                     vary(plan.overlap_grad_reduce, std::array{false, true}, [&] {
                       if (titer::validate(scenario).empty()) {
                         plans.push_back(plan);
                       }
                     });
                   });
            });
          });
        });
      });
    });
  });
  return plans;
}

void search_plans(benchmark::State& state) {
  Scenario scenario = scenario_with({"cluster=dgx-a100-80gb", "training.global_batch=4096"});
  const std::vector<titer::Plan> plans = plans_of_a_search(scenario);
  titer::Estimator estimator;
  titer::StepResult result;
  for (auto _ : state) {
    auto changed = titer::Changed::anything;
    for (const titer::Plan& plan : plans) {
      scenario.plan = plan;
      estimator.estimate(scenario, changed, result);
      changed = titer::Changed::plan;
      benchmark::DoNotOptimize(result.iteration_time);
    }
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(plans.size()));
  state.counters["plans"] = static_cast<double>(plans.size());
}
BENCHMARK(search_plans)->Unit(benchmark::kMillisecond);

void step_costs_only(benchmark::State& state) {
  const Scenario scenario = scenario_with();
  titer::StepCosts costs;
  for (auto _ : state) {
    titer::step_costs(scenario, costs);
    benchmark::DoNotOptimize(costs.kinds);
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()));
}
BENCHMARK(step_costs_only);

void event_simulation(benchmark::State& state) {
  const Scenario scenario = scenario_with();
  for (auto _ : state) {
    benchmark::DoNotOptimize(titer::simulate(scenario).result.iteration_time);
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()));
}
BENCHMARK(event_simulation)->Unit(benchmark::kMicrosecond);

}  // namespace TITER_TEST_FILE
