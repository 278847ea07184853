// One step followed event by event. items_per_second counts the tasks of its streams.
//
// The floor: a task reads its instruction (about 100 bytes, shared by all ranks of a stage and so
// mostly in the cache) and its stream (200 bytes), and for each wait and signal a semaphore (12
// bytes): some 250 bytes that each device has to itself. At 10 GB/s of scattered memory accesses
// that is 25 ns, 40 million tasks/s; the goal for 16,384 ranks was 15 s and 6 GiB.
#include <benchmark/benchmark.h>

#include <string>
#include <string_view>
#include <vector>

#include "paths.hpp"
#include "titer/scenario/source.hpp"
#include "titer/simulate/simulate.hpp"
#include "titer/simulate/step_program.hpp"

namespace TITER_TEST_FILE {

using titer::Scenario;
using titer::SimulationOptions;

/// The shipped run of GPT-3 on 64 A100 with changes.
Scenario scenario_with(const std::vector<std::string_view>& assignments) {
  titer::ScenarioSource source = titer::ScenarioSource::load(
      titer::testing::root().string() + "/configs/runs/gpt3-175b-64xa100.json");
  for (const std::string_view assignment : assignments) {
    source.assign(titer::parse_assignment(assignment));
  }
  return source.read();
}

/// Llama 3 405B on 16,384 H100 (p = 16, t = 8, d = 128, v = 8, m = 16), its 126 layers made 128.
Scenario llama_405b() {
  return scenario_with({"model=\"llama3-405b\"",
                        "model.layers=128",
                        "cluster=\"dgx-h100\"",
                        "plan.pipeline=16",
                        "plan.data=128",
                        "plan.virtual_stages=8",
                        "plan.sharding=zero1",
                        "plan.recompute=none",
                        "training.global_batch=2048",
                        "training.sequence=8192",
                        "training.precision=bf16"});
}

/// Tasks that all streams of all devices do.
std::int64_t tasks(const Scenario& scenario, bool every_rank) {
  titer::StepCosts costs;
  titer::step_costs(scenario, costs);
  const auto t = static_cast<int>(every_rank ? scenario.plan.tensor : 1);
  const auto d = static_cast<int>(every_rank ? scenario.plan.data : 1);
  titer::SimulatedMembers members;
  members[titer::Meeting::tensor] = t;
  members[titer::Meeting::data] = d;
  std::size_t count = 0;
  for (const auto& rank : titer::step_program(scenario, costs, members).ranks) {
    for (const auto& track : rank.tracks) {
      count += track.size();
    }
  }
  return static_cast<std::int64_t>(count) * t * d;
}

/// On the links of the cluster: finding what every transfer takes of them, and the events.
void on_links(benchmark::State& state, const Scenario& scenario) {
  for (auto _ : state) {
    benchmark::DoNotOptimize(titer::simulate(scenario, {.network = true}).result.iteration_time);
  }
}

void simulate(benchmark::State& state, const Scenario& scenario, bool every_rank) {
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        titer::simulate(scenario, {.every_rank = every_rank}).result.iteration_time);
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()) *
                          tasks(scenario, every_rank));
}

void llama_405b_every_rank(benchmark::State& state) { simulate(state, llama_405b(), true); }
BENCHMARK(llama_405b_every_rank)->Unit(benchmark::kMillisecond);

void llama_405b_folded(benchmark::State& state) { simulate(state, llama_405b(), false); }
BENCHMARK(llama_405b_folded)->Unit(benchmark::kMillisecond);

void llama_405b_on_links(benchmark::State& state) { on_links(state, llama_405b()); }
BENCHMARK(llama_405b_on_links)->Unit(benchmark::kMillisecond);

void gpt3_175b_64_devices_on_links(benchmark::State& state) { on_links(state, scenario_with({})); }
BENCHMARK(gpt3_175b_64_devices_on_links)->Unit(benchmark::kMillisecond);

void gpt3_175b_512_devices_on_links(benchmark::State& state) {
  on_links(state, scenario_with({"plan.data=8", "cluster.nodes=64", "training.global_batch=64"}));
}
BENCHMARK(gpt3_175b_512_devices_on_links)->Unit(benchmark::kMillisecond);

void gpt3_175b_512_devices_every_rank(benchmark::State& state) {
  simulate(
      state, scenario_with({"plan.data=8", "cluster.nodes=64", "training.global_batch=64"}), true);
}
BENCHMARK(gpt3_175b_512_devices_every_rank)->Unit(benchmark::kMillisecond);

void gpt3_175b_512_devices_overlapped(benchmark::State& state) {
  Scenario scenario =
      scenario_with({"plan.data=8", "cluster.nodes=64", "training.global_batch=64"});
  scenario.stack.pipeline_send = titer::PipelineSend::overlapped;
  scenario.stack.overlap_slowdown = 1.125;
  simulate(state, scenario, true);
}
BENCHMARK(gpt3_175b_512_devices_overlapped)->Unit(benchmark::kMillisecond);

}  // namespace TITER_TEST_FILE
