// Collectives: their formulas, and their execution on graphs.
//
// Floors and gaps, measured on one core of a shared machine:
// - `closed_form`: a formula is some tens of additions per protocol, of which a channel has up to
//   four: 10 to 40 ns. Measured: 10 to 76 ns, but packed trees 170 ns, which walk every tree for
//   its depth and try numbers of blocks. None near 1 us.
// - `exchange_on_fat_tree`: 4096 devices are 64 leaf switches, each a destination for one pass over
//   the 2048 links between switches and a search over all 8192 lanes at 2 ns: 1.5 ms. Measured: 2.0
//   ms. The 16.8 million messages that it stands for are never written down.
// - `ring_as_flows`: 1024 ranks, 2.1 million messages. The engine takes 75 ns of each (see
//   `flow_bench`), steps and message graph another 20 ns for 100 bytes each: 0.2 s. Measured: 0.43
//   to 0.46 s; the gap is memory that is touched for the first time, and a look-up of the route of
//   each message in a tree of 1024. Peak memory 267 MB.
// - `ring_by_rounds`: 2046 rounds of 1024 demands, sorted and found to be the same again: 10 ns a
//   demand, 20 ms. Measured: 95 ms, half of it the sum of the loads of 2048 links in every round.
// - `torus_as_flows`: a cube of 16x16x16. An axis of the bucket algorithm is 4096 ranks, 15 steps,
// 2
//   ways; all in all 0.74 million messages for the bucket, 2.2 for all links, 95 ns each as in
//   `ring_as_flows`: 0.07 and 0.21 s. Measured: 1.3 and 3.9 s, 243 and 458 MB. The gap is the
//   blocks of the first axis, 256 runs of one piece each, whose sizes are added up for every
//   message, and the members' blocks, which are found by trying all ranks.
#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "collectives/contract_groups.hpp"
#include "collectives/graphs.hpp"
#include "titer/topology/family/node_families.hpp"
#include "titer/topology/family/torus.hpp"

namespace TITER_TEST_FILE {

using namespace titer;  // NOLINT: for the literals and the nouns
using titer::testing::algorithm;
using titer::testing::numbers;

// ---- Closed forms -----------------------------------------------------------------------------

/// A group of eight or sixteen ranks that the algorithm runs on.
Group group_for(const AlgorithmEntry& entry, const Fabric& fabric) {
  const std::vector<Group> groups = {{.per_node = 8, .nodes = 2},
                                     {.per_node = 8},
                                     {.per_node = 1, .nodes = 16},
                                     {.per_node = 8, .servers = 2},
                                     torus_group({4, 4, 4}, true),
                                     {.per_node = 4, .wiring = &dgx1_island()}};
  for (const Group& group : groups) {
    if (entry.applies(group, fabric)) {
      return group;
    }
  }
  return {};
}

void closed_form(benchmark::State& state, const AlgorithmEntry* entry) {
  // Four protocols on every way: the most there can be.
  Fabric fabric = contract_fabric();
  for (Channel Fabric::*way : {&Fabric::node,
                               &Fabric::network,
                               &Fabric::pair,
                               &Fabric::exchange,
                               &Fabric::node_switch,
                               &Fabric::network_switch,
                               &Fabric::wire}) {
    const Link link = (fabric.*way).links().front();
    for (const double share : {0.5, 0.25, 0.125}) {
      (fabric.*way).add({.latency = share * link.latency, .bandwidth = share * link.bandwidth});
    }
  }
  const Group group = group_for(*entry, fabric);
  const std::vector<Bytes> sizes = {1_KiB, 64_KiB, 1_MiB, 64_MiB, 1_GiB, 64_GiB};
  std::size_t i = 0;
  while (state.KeepRunning()) {
    benchmark::DoNotOptimize(entry->time(sizes[i], group, fabric));
    i = (i + 1) % sizes.size();
  }
}

[[maybe_unused]] const bool kRegistered = [] {
  for (const AlgorithmEntry& entry : algorithm_catalogue()) {
    const std::string name =
        "closed_form/" + std::string(name_of(entry.collective)) + "/" + std::string(entry.name);
    benchmark::RegisterBenchmark(name.c_str(), closed_form, &entry);
  }
  return true;
}();

// ---- Executed ---------------------------------------------------------------------------------

constexpr Link kLink{.latency = 2_us, .bandwidth = 100_GBps};

// 64 leaves of 64 devices, half as many links up.
void exchange_on_fat_tree(benchmark::State& state) {
  const auto leaves = static_cast<int>(state.range(0)) / 64;
  const Router router(testing::leaf_spine(64, leaves, 32, 100_GBps));
  const std::vector<int> ranks = numbers(64 * leaves);
  while (state.KeepRunning()) {
    benchmark::DoNotOptimize(execute_exchange(1_GB, ranks, router, kLink));
  }
}
BENCHMARK(exchange_on_fat_tree)->Arg(4096)->Unit(benchmark::kMillisecond);

// Steps and flows, from nothing.
void ring_as_flows(benchmark::State& state) {
  const auto n = static_cast<int>(state.range(0));
  const Fabric fabric = testing::switched_fabric(kLink, kLink);
  const AlgorithmEntry& ring = algorithm(Collective::all_reduce, "ring");
  std::size_t messages = 0;
  while (state.KeepRunning()) {
    const Steps steps = ring.steps(1_GB, Group{.per_node = n}, fabric);
    Router router(SwitchedNode{.devices = n, .bandwidth = 100_GBps}.build());
    const PlacedSteps placed{
        .steps = &steps, .ranks = numbers(n), .helpers = {}, .host = std::nullopt};
    messages += execute_as_flows(std::span(&placed, 1), router, fabric).messages;
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(messages));
}
BENCHMARK(ring_as_flows)->Arg(64)->Arg(1024)->Unit(benchmark::kMillisecond);

void ring_by_rounds(benchmark::State& state) {
  const auto n = static_cast<int>(state.range(0));
  const Fabric fabric = testing::switched_fabric(kLink, kLink);
  const Steps steps =
      algorithm(Collective::all_reduce, "ring").steps(1_GB, Group{.per_node = n}, fabric);
  Router router(SwitchedNode{.devices = n, .bandwidth = 100_GBps}.build());
  const PlacedSteps placed{
      .steps = &steps, .ranks = numbers(n), .helpers = {}, .host = std::nullopt};
  while (state.KeepRunning()) {
    benchmark::DoNotOptimize(execute_by_rounds(std::span(&placed, 1), router, fabric));
  }
}
BENCHMARK(ring_by_rounds)->Arg(64)->Arg(1024)->Unit(benchmark::kMillisecond);

// All-reduce on a cube of so many devices along each of three closed axes.
void torus_as_flows(benchmark::State& state, const char* name) {
  const auto length = static_cast<int>(state.range(0));
  const Group group = torus_group({length, length, length}, true);
  const Fabric fabric{.wire = Channel(kLink)};
  const AlgorithmEntry& torus_algorithm = algorithm(Collective::all_reduce, name);
  const Torus torus{
      .dimensions = {length, length, length}, .wrap = {true, true, true}, .bandwidth = 100_GBps};
  std::size_t messages = 0;
  while (state.KeepRunning()) {
    const Steps steps = torus_algorithm.steps(1_GB, group, fabric);
    Router router(torus.build(), torus.dimensions);
    const PlacedSteps placed{
        .steps = &steps, .ranks = numbers(group.ranks()), .helpers = {}, .host = std::nullopt};
    messages += execute_as_flows(std::span(&placed, 1), router, fabric).messages;
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(messages));
}
BENCHMARK_CAPTURE(torus_as_flows, bucket, "torus-bucket")
    ->Arg(4)
    ->Arg(16)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(torus_as_flows, all_links, "torus-all-links")
    ->Arg(4)
    ->Arg(16)
    ->Unit(benchmark::kMillisecond);

}  // namespace TITER_TEST_FILE
