#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "placed_steps.hpp"
#include "titer/engine/flow_engine.hpp"
#include "titer/topology/detours.hpp"

namespace titer {

namespace {

/// The messages of collectives as a graph for the flow engine.
class FlowScript {
 public:
  /// `detoured`: the share of messages between parts of the network that go by way of others.
  FlowScript(Router& router, double detoured)
      : router_(router),
        detoured_(detoured),
        waypoints_(waypoints(router.topology())),
        capacities_(capacities(router.topology())) {
    for (const BytesPerSecond rate : capacities_.rates) {
      network_.add_link(rate);
    }
    nowhere_ = network_.add_route({});
    loads_.resize(capacities_.of_lane.size());
  }

  void add(const PlacedSteps& placed, const Fabric& fabric) {
    const Steps& steps = *placed.steps;
    const std::vector<Seconds> costs = costs_of(steps, fabric);
    const auto first = static_cast<MessageId>(graph_.size());
    for (std::size_t i = 0; i < steps.size(); ++i) {
      after_.clear();
      for (const std::uint32_t before : steps.after(i)) {
        after_.push_back(first + before);
      }
      const Message& message = steps.message(i);
      if (message.is_join()) {
        graph_.add(nowhere_, Bytes{}, Seconds{}, after_);
        continue;
      }
      const Way& way = find_way(ends_of(placed, message));
      graph_.add(way.id, message.size, costs[i] + way.latency, after_);
      ++messages_;
      for (const Lane lane : way.route) {
        loads_[lane] += message.size;
      }
    }
  }

  void add(const Demand& demand) {
    const Way& way = find_way({.from = demand.from, .to = demand.to, .via = std::nullopt});
    graph_.add(way.id, demand.bytes, way.latency);
  }

  [[nodiscard]] FlowTimeline timeline() const { return titer::run(network_, graph_); }
  [[nodiscard]] Execution run() {
    return {.time = to_seconds(timeline().makespan),
            .messages = messages_,
            .rounds = 0,
            .busiest = busiest_link(router_.topology(), loads_)};
  }

 private:
  struct Way {
    RouteId id = 0;
    Seconds latency;
    Route route;
  };

  const Way& find_way(const Ends& ends) {
    const auto [entry, is_new] =
        ways_.try_emplace(std::tuple(ends.from, ends.to, ends.via.has_value()));
    if (is_new) {
      Route route = find_route(ends.from, ends.via.value_or(ends.to));
      if (ends.via) {
        const Route rest = find_route(*ends.via, ends.to);
        route.insert(route.end(), rest.begin(), rest.end());
      }
      links_.clear();
      for (const Lane lane : route) {
        links_.push_back(capacities_.of_lane[lane]);
      }
      Way& way = entry->second;
      way.id = network_.add_route(links_);
      way.latency = router_.latency(route);
      way.route = std::move(route);
    }
    return entry->second;
  }

  /// One by way of others for as many of all pairs of ends as there shall be, by their hash.
  Route find_route(int from, int to) {
    Route best = route_between(router_, from, to);
    constexpr double all = 18446744073709551616.0;  // 2^64
    const bool goes_by_others =
        !waypoints_.empty() && static_cast<double>(hash_of_ends(from, to, 2)) < detoured_ * all;
    return goes_by_others ? by_way_of_another(router_, std::move(best), waypoints_) : best;
  }

  Router& router_;
  double detoured_ = 0;
  std::vector<int> waypoints_;
  Capacities capacities_;
  FlowNetwork network_;
  MessageGraph graph_;
  RouteId nowhere_ = 0;
  std::map<std::tuple<int, int, bool>, Way> ways_;  // by both ends, and whether through the host
  std::vector<Bytes> loads_;
  std::size_t messages_ = 0;
  std::vector<MessageId> after_;
  std::vector<FlowLink> links_;
};

}  // namespace

Execution execute_as_flows(std::span<const PlacedSteps> collectives,
                           Router& router,
                           const Fabric& fabric) {
  check_places(collectives);
  const bool may_detour = goes_by_others(router.topology().routing);
  FlowScript script(
      router,
      may_detour ? detoured_share(router, {.demands = demands_of(collectives), .exchanges = {}})
                 : 0.0);
  std::size_t rounds = 0;
  for (const PlacedSteps& placed : collectives) {
    script.add(placed, fabric);
    const std::vector<std::uint32_t> done = rounds_of(*placed.steps);
    const auto last = std::ranges::max_element(done);
    rounds = std::max<std::size_t>(rounds, last == done.end() ? 0 : *last);
  }
  Execution execution = script.run();
  execution.rounds = rounds;
  return execution;
}

std::vector<Seconds> execute_as_flows(std::span<const Demand> demands, Router& router) {
  FlowScript script(
      router,
      detoured_share(router, {.demands = {demands.begin(), demands.end()}, .exchanges = {}}));
  for (const Demand& demand : demands) {
    script.add(demand);
  }
  std::vector<Seconds> arrivals;
  for (const Ticks finish : script.timeline().finish) {
    arrivals.push_back(to_seconds(finish));
  }
  return arrivals;
}

}  // namespace titer
