// Messages per second of the flow engine, and what a change of flows costs.
//
// Floors and gaps, measured on one core of a shared machine (Xeon, 2 MB of second-level cache):
// - `ring_steps`: 1024 ranks, 2.1 million messages, each alone on its links. A message moves about
//   100 bytes of graph, timeline and waiting list, 5 ns at 20 GB/s, and has two events in queues of
//   1024, for which a binary heap makes ten steps each: 30 ns. Measured: 75 ns, 0.16 s in all. The
//   gap is the share that is put on its two links and taken off again. Peak memory 125 MB.
// - `fat_tree`: flows of unequal sizes on a fat tree of 1024 hosts; every finish is an event of its
//   own. Of 10,000 flows a finish changes the rates of 150 on average (of 5000 in transit). To
//   write each rate and its alarm is 20 ns, to sum the ten shares of its six links again 100 ns
//   more: 18 us. Measured: 95 us, 0.95 s in all. The gap: links are summed several times in one
//   repair, and part of the repairs give up. Filling the whole component at every finish takes 1100
//   us, 11 s in all. 1000 flows take 1.5 ms; SimGrid 3.32 takes 2.5 s and for 10,000 flows 422 s on
//   such a tree.
// - `all_to_all`: 64 hosts, unequal sizes: everything depends on everything, repairs give up. The
//   floor is one pass over the 4032 flows in transit, 2 links each, and their alarms: 2 ns a link
//   and 10 ns an alarm, 28 us for half of them on average. Measured: 85 us.
// - `incast`: 4095 flows of unequal sizes into one link: one pass over half of them on average, and
//   their alarms: 25 us. Measured: 85 us.
// - `torus`: 295,000 messages between neighbours of a 16x16x16 torus, alone on their links: as in
//   `ring_steps`, 35 ns with six dependencies. Measured: 100 ns with equal, 260 ns with unequal
//   sizes.
// - `torus_pairs`: 10,000 flows on long routes over a 32x32 torus: the worst of these, 750 us a
//   finish. A route has 16 links and a link 40 flows, and a third of all rates changes.
#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdint>
#include <random>

#include "engine/flow_networks.hpp"
#include "titer/engine/flow_engine.hpp"

namespace TITER_TEST_FILE {

using namespace titer;  // NOLINT: for the literals and the nouns
using titer::testing::FatTree;
using titer::testing::FlowCase;
using titer::testing::Star;
using titer::testing::Torus;

void measure(benchmark::State& state, const FlowCase& flows) {
  FlowEngine engine;
  FlowTimeline timeline;
  engine.run(flows.network, flows.messages, timeline);
  while (state.KeepRunning()) {
    engine.run(flows.network, flows.messages, timeline);
    benchmark::DoNotOptimize(timeline.makespan);
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(flows.messages.size()));
}

std::uint32_t argument(const benchmark::State& state) {
  return static_cast<std::uint32_t>(state.range(0));
}

Bytes random_size(std::mt19937& random) {
  return Bytes::from_si(1e6 + static_cast<double>(random() % 63'000'000));
}

// 16 subtrees of 8 leaf switches with 8 hosts each, and as many links up as down.
void fat_tree(benchmark::State& state) {
  const FatTree tree({8, 8, 16}, {1, 8, 8}, 12.5_GBps);
  measure(state, testing::random_pairs(tree, argument(state), 1));
}
BENCHMARK(fat_tree)->Arg(1000)->Arg(10'000)->Unit(benchmark::kMillisecond);

void ring_steps(benchmark::State& state) {
  measure(state, testing::ring_steps(argument(state), 64_MiB, 50_GBps));
}
BENCHMARK(ring_steps)->Arg(64)->Arg(1024)->Unit(benchmark::kMillisecond);

void build_ring_steps(benchmark::State& state) {
  std::size_t messages = 0;
  while (state.KeepRunning()) {
    messages += testing::ring_steps(argument(state), 64_MiB, 50_GBps).messages.size();
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(messages));
}
BENCHMARK(build_ring_steps)->Arg(1024)->Unit(benchmark::kMillisecond);

void torus_equal(benchmark::State& state) {
  measure(state, testing::neighbour_exchange(Torus({16, 16, 16}, 50_GBps), 12, 0));
}
BENCHMARK(torus_equal)->Unit(benchmark::kMillisecond);

void torus_unequal(benchmark::State& state) {
  measure(state, testing::neighbour_exchange(Torus({16, 16, 16}, 50_GBps), 12, 100));
}
BENCHMARK(torus_unequal)->Unit(benchmark::kMillisecond);

void torus_pairs(benchmark::State& state) {
  Torus torus({32, 32}, 12.5_GBps);
  MessageGraph graph;
  std::mt19937 random(1);
  for (std::uint32_t i = 0; i < argument(state); ++i) {
    const auto from = static_cast<std::uint32_t>(random() % torus.nodes());
    const auto to = static_cast<std::uint32_t>(random() % torus.nodes());
    graph.add(torus.route(from, to), random_size(random), 2_us);
  }
  measure(state, {std::move(torus.network), std::move(graph)});
}
BENCHMARK(torus_pairs)->Arg(1000)->Arg(10'000)->Unit(benchmark::kMillisecond);

void all_to_all(benchmark::State& state, bool equal) {
  const std::uint32_t hosts = argument(state);
  Star star(hosts, 12.5_GBps);
  MessageGraph graph;
  std::mt19937 random(1);
  for (std::uint32_t pair = 0; pair < hosts * hosts; ++pair) {
    if (pair / hosts != pair % hosts) {
      const RouteId route = star.route(pair / hosts, pair % hosts);
      graph.add(route, equal ? 32_MB : random_size(random), 2_us);
    }
  }
  measure(state, {std::move(star.network), std::move(graph)});
}
BENCHMARK_CAPTURE(all_to_all, equal, true)->Arg(64)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(all_to_all, unequal, false)->Arg(16)->Arg(64)->Unit(benchmark::kMillisecond);

void incast(benchmark::State& state) {
  Star star(argument(state), 12.5_GBps);
  MessageGraph graph;
  std::mt19937 random(1);
  for (std::uint32_t host = 1; host < argument(state); ++host) {
    graph.add(star.route(host, 0), random_size(random), 2_us);
  }
  measure(state, {std::move(star.network), std::move(graph)});
}
BENCHMARK(incast)->Arg(64)->Arg(4096)->Unit(benchmark::kMillisecond);

// One group: the flows differ in size alone.
void one_route(benchmark::State& state) {
  Star star(2, 12.5_GBps);
  MessageGraph graph;
  std::mt19937 random(1);
  const RouteId route = star.route(0, 1);
  for (std::uint32_t i = 0; i < argument(state); ++i) {
    graph.add(route, random_size(random), 2_us);
  }
  measure(state, {std::move(star.network), std::move(graph)});
}
BENCHMARK(one_route)->Arg(100'000)->Unit(benchmark::kMillisecond);

}  // namespace TITER_TEST_FILE
