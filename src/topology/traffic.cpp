#include "titer/topology/traffic.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "fluid_loads.hpp"
#include "titer/topology/detours.hpp"
#include "titer/units/ensure.hpp"

namespace titer {
namespace {

/// Each pair of ends by one of its best routes.
std::vector<Bytes> hashed_loads(const Router& router, const Traffic& traffic) {
  std::vector<Demand> demands = traffic.demands;
  for (const UniformExchange& exchange : traffic.exchanges) {
    for (const int to : exchange.ranks) {
      for (const int from : exchange.ranks) {
        demands.push_back({.from = from, .to = to, .bytes = exchange.per_pair});
      }
    }
  }
  std::ranges::stable_sort(demands, [](const auto& a, const auto& b) { return a.to < b.to; });
  std::vector<Bytes> loads(2 * router.topology().wires.size());
  RouteCosts costs;
  costs.to = -1;
  for (const Demand& demand : demands) {
    if (demand.from == demand.to || demand.bytes == Bytes{}) {
      continue;
    }
    if (costs.to != demand.to) {
      router.find_costs(demand.to, costs);
    }
    ensure(costs.of_vertex[static_cast<std::size_t>(demand.from)] != RouteCosts::unreachable,
           "there is a route between devices that send to each other");
    for (const Lane lane : router.follow(costs, demand.from, 0)) {
      loads[lane] += demand.bytes;
    }
  }
  return loads;
}

/// The loads where such a share goes by way of others.
std::vector<Bytes> mixed(const std::vector<Bytes>& best,
                         const std::vector<Bytes>& by_others,
                         double share) {
  std::vector<Bytes> loads(best.size());
  for (std::size_t lane = 0; lane < loads.size(); ++lane) {
    loads[lane] = (1.0 - share) * best[lane] + share * by_others[lane];
  }
  return loads;
}

/// How long the busiest link is busy is convex in the share: straight lines, the highest of which
/// counts. None goes by way of others unless that is shorter.
double best_share(const Topology& topology,
                  const std::vector<Bytes>& best,
                  const std::vector<Bytes>& by_others) {
  const auto time = [&](double share) {
    const auto busiest = busiest_link(topology, mixed(best, by_others, share));
    return busiest ? busiest->time : Seconds{};
  };
  constexpr int steps = 48;
  double low = 0;
  double high = 1;
  for (int step = 0; step < steps; ++step) {
    const double third = (high - low) / 3;
    if (time(low + third) <= time(high - third)) {
      high -= third;
    } else {
      low += third;
    }
  }
  const double share = (low + high) / 2;
  constexpr double gain = 1 - 1e-9;
  return time(share) < gain * time(0) ? share : 0.0;
}

/// Loads, and of what leaves its part the share that goes by way of others.
struct Mix {
  std::vector<Bytes> loads;
  double share = 0;
};
Mix mix_of(const Router& router, const Traffic& traffic) {
  const Topology& topology = router.topology();
  if (!goes_by_others(topology.routing) || topology.regions.empty()) {
    return {.loads = fluid_loads(router, traffic, 0)};
  }
  std::vector<Bytes> by_others = fluid_loads(router, traffic, 1);
  if (topology.routing == NetworkRouting::valiant) {
    return {.loads = std::move(by_others), .share = 1};
  }
  std::vector<Bytes> best = fluid_loads(router, traffic, 0);
  const double share = best_share(topology, best, by_others);
  return {.loads = share > 0 ? mixed(best, by_others, share) : std::move(best), .share = share};
}

}  // namespace

std::vector<Bytes> link_loads(const Router& router, const Traffic& traffic) {
  return router.topology().routing == NetworkRouting::ecmp ? hashed_loads(router, traffic)
                                                           : mix_of(router, traffic).loads;
}

double detoured_share(const Router& router, const Traffic& traffic) {
  const Topology& topology = router.topology();
  return goes_by_others(topology.routing) && !topology.regions.empty()
             ? mix_of(router, traffic).share
             : 0.0;
}

std::optional<BusiestLink> busiest_link(const Topology& topology, const std::vector<Bytes>& loads) {
  const Capacities limits = capacities(topology);
  ensure(loads.size() == limits.of_lane.size(), "loads are of all lanes of the topology");
  std::vector<Bytes> sums(limits.rates.size());
  for (std::size_t lane = 0; lane < loads.size(); ++lane) {
    sums[limits.of_lane[lane]] += loads[lane];
  }
  std::optional<BusiestLink> busiest;
  for (Lane lane = 0; lane < loads.size(); ++lane) {
    const std::uint32_t capacity = limits.of_lane[lane];
    if (sums[capacity] == Bytes{}) {
      continue;
    }
    ensure(limits.rates[capacity] > BytesPerSecond{}, "a link that is used has a bandwidth");
    const Seconds time = sums[capacity] / limits.rates[capacity];
    if (!busiest || time > busiest->time) {
      busiest = {.lane = lane, .bytes = sums[capacity], .time = time};
    }
  }
  return busiest;
}

std::optional<Seconds> halves_time(const Topology& topology, const Traffic& traffic) {
  const int half = topology.devices / 2;
  Bytes up;
  Bytes down;
  for (const Demand& demand : traffic.demands) {
    if ((demand.from < half) != (demand.to < half)) {
      (demand.from < half ? up : down) += demand.bytes;
    }
  }
  for (const UniformExchange& exchange : traffic.exchanges) {
    const auto lower =
        std::ranges::count_if(exchange.ranks, [half](int rank) { return rank < half; });
    const auto upper = static_cast<std::ptrdiff_t>(exchange.ranks.size()) - lower;
    const Bytes across =
        static_cast<double>(lower) * static_cast<double>(upper) * exchange.per_pair;
    up += across;
    down += across;
  }
  const BytesPerSecond bandwidth = halves_bandwidth(topology);
  if (std::max(up, down) == Bytes{}) {
    return Seconds{};
  }
  if (bandwidth == BytesPerSecond{}) {
    return std::nullopt;
  }
  return std::max(up, down) / bandwidth;
}

}  // namespace titer
