// Loads and routes on large networks. Floors, on one core at 2.6 GHz, with what was measured when
// they were set: the uniform all-to-all of 4,096 ranks on two levels 50 ms (2.4), of the 8,192
// hosts of a three-level fat tree 250 ms (60), of a 16 x 16 x 16 torus 1 s (0.4); a router of that
// torus with the costs to all of its devices 500 ms (170); a known route 1 us (0.2).
#include <benchmark/benchmark.h>

#include <cstdint>

#include "titer/topology/routes.hpp"
#include "titer/topology/traffic.hpp"
#include "topology/graphs.hpp"

namespace TITER_TEST_FILE {

using titer::Router;
using titer::Topology;
using titer::Traffic;
using titer::literals::operator""_B;

Traffic all_to_all(const Topology& topology) {
  return {.demands = {},
          .exchanges = {{.ranks = titer::graphs::all_devices(topology), .per_pair = 1_B}}};
}

void loads_of_all(benchmark::State& state, const Topology& topology) {
  const Router router(topology);
  const Traffic traffic = all_to_all(topology);
  for (auto _ : state) {
    benchmark::DoNotOptimize(titer::link_loads(router, traffic));
  }
}

void LeafSpineAllToAll(benchmark::State& state) {
  loads_of_all(state, titer::graphs::leaf_spine(64, 64, static_cast<int>(state.range(0))));
}
BENCHMARK(LeafSpineAllToAll)->Arg(32)->Arg(64)->Unit(benchmark::kMillisecond);

void FatTreeAllToAll(benchmark::State& state) {
  loads_of_all(state, titer::graphs::fat_tree(static_cast<int>(state.range(0))));
}
BENCHMARK(FatTreeAllToAll)->Arg(16)->Arg(32)->Unit(benchmark::kMillisecond);

void TorusAllToAll(benchmark::State& state) {
  const int along = static_cast<int>(state.range(0));
  loads_of_all(state, titer::graphs::grid({along, along, along}));
}
BENCHMARK(TorusAllToAll)->Arg(8)->Arg(16)->Unit(benchmark::kMillisecond);

/// A Router and one route from every host to another half-way round the numbers.
void routes_of_all(benchmark::State& state, const Topology& topology) {
  for (auto _ : state) {
    Router router(topology);
    for (int from = 0; from < topology.devices; ++from) {
      const int to = (from + topology.devices / 2) % topology.devices;
      benchmark::DoNotOptimize(router.route(from, to));
    }
  }
  state.SetItemsProcessed(state.iterations() * topology.devices);
}

void FatTreeRoutes(benchmark::State& state) { routes_of_all(state, titer::graphs::fat_tree(16)); }
BENCHMARK(FatTreeRoutes)->Unit(benchmark::kMillisecond);

void TorusRoutes(benchmark::State& state) {
  routes_of_all(state, titer::graphs::grid({16, 16, 16}));
}
BENCHMARK(TorusRoutes)->Unit(benchmark::kMillisecond);

/// Routes of a router that has its costs.
void FatTreeKnownRoutes(benchmark::State& state) {
  const Topology topology = titer::graphs::fat_tree(16);
  Router router(topology);
  std::uint64_t choice = 0;
  (void)router.route(0, topology.devices - 1);
  for (auto _ : state) {
    benchmark::DoNotOptimize(router.route(0, topology.devices - 1, choice++));
  }
}
BENCHMARK(FatTreeKnownRoutes);

}  // namespace TITER_TEST_FILE
