// Searches: plans of a space per second, whether evaluated or proved to be no better.
//
// Floor and gap, measured on one core of a shared machine: the default space of GPT-3 175B on 4096
// A100 has 15.2 million plans below 7,000 layers. Costs of a layer's places take 4 us each, a bound
// 1 us, an evaluation 10 us: some 0.5 s. Measured: 1.1 to 1.8 s as the machine's speed goes, 3.1 s
// before the memory of schedules without a formula was found from a few of their moments; the gap
// is that memory still, a third of the time.
//
// With 256 experts, 55 million plans of DeepSeek-V3 on 4096 devices, 1F1B only: 11.0 s while every
// place of a layer had its costs found anew, 7.0 s since those whose groups lie alike share them.
// The profile has half of that in these costs still, a fifth in memory. The floor is not known
// better than by that: no bound on a layer is cheaper than its kernels' times.
#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "paths.hpp"
#include "titer/search/search.hpp"

namespace TITER_TEST_FILE {

/// With changes; `range(0)` threads.
void search_shipped(benchmark::State& state,
                    const std::string& name,
                    const std::vector<std::string>& changes) {
  const titer::Search search =
      titer::load_search(titer::testing::root().string() + "/configs/searches/" + name + ".json",
                         titer::parse_assignments(changes));
  std::size_t plans = 0;
  for (auto _ : state) {
    const titer::SearchAnswer answer =
        titer::run_search(search, {.threads = static_cast<unsigned>(state.range(0))});
    plans += answer.counts.plans;
    benchmark::DoNotOptimize(answer.plans);
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(plans));
}

void gpt3_on_4096(benchmark::State& state) { search_shipped(state, "gpt3-175b-4096xa100", {}); }
BENCHMARK(gpt3_on_4096)->Arg(1)->Arg(2)->Unit(benchmark::kMillisecond)->UseRealTime();

void gpt3_on_4096_1f1b(benchmark::State& state) {
  search_shipped(state, "gpt3-175b-4096xa100", {"space.schedule=1f1b"});
}
BENCHMARK(gpt3_on_4096_1f1b)->Arg(1)->Unit(benchmark::kMillisecond)->UseRealTime();

void experts_on_16384(benchmark::State& state) {
  search_shipped(state,
                 "gpt3-175b-4096xa100",
                 {"model=deepseek-v3",
                  "cluster=dgx-h100",
                  "stack=megatron-core",
                  "training.global_batch=16384",
                  "training.sequence=4096",
                  "devices=16384"});
}
BENCHMARK(experts_on_16384)->Arg(1)->Arg(2)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace TITER_TEST_FILE
