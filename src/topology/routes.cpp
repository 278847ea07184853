// RouteCosts by breadth-first search from the destination, in stages: stage k settles what is
// reached through k other devices. A switch is expanded within its stage, a device opens the next
// one. Both are lists of rising cost, and are merged, so that what a stage finds is of rising cost
// again.

#include "titer/topology/routes.hpp"

#include <algorithm>

#include "titer/units/ensure.hpp"

namespace titer {

namespace {

constexpr std::uint32_t kForward = std::uint32_t{1} << 16;  // the cost of passing through a device

std::size_t size(int count) { return static_cast<std::size_t>(count); }

/// Mixes all bits of a number into all bits of another. [SplitMix64, Steele, Lea & Flood 2014]
std::uint64_t mix(std::uint64_t value) {
  value += 0x9e3779b97f4a7c15U;
  value = (value ^ (value >> 30U)) * 0xbf58476d1ce4e5b9U;
  value = (value ^ (value >> 27U)) * 0x94d049bb133111ebU;
  return value ^ (value >> 31U);
}

std::uint64_t mix(std::uint64_t seed, int vertex) {
  return mix(seed ^ static_cast<std::uint64_t>(vertex));
}

/// The exit of one of all their links, each as likely as any other.
const Exit& pick(const std::vector<Exit>& choices, std::uint64_t hash) {
  std::uint64_t links = 0;
  for (const Exit& exit : choices) {
    links += static_cast<std::uint64_t>(exit.count);
  }
  ensure(links > 0, "a best route goes on until it ends");
  std::uint64_t link = hash % links;
  auto exit = choices.begin();
  for (; link >= static_cast<std::uint64_t>(exit->count); ++exit) {
    link -= static_cast<std::uint64_t>(exit->count);
  }
  return *exit;
}

/// The only dimension in which two devices of a torus differ.
int dimension_between(int a, int b, std::span<const int> sizes) {
  std::optional<int> found;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (a % sizes[i] != b % sizes[i]) {
      ensure(!found, "dimension order needs wires along one dimension each");
      found = static_cast<int>(i);
    }
    a /= sizes[i];
    b /= sizes[i];
  }
  ensure(found.has_value(), "dimension order needs wires between different devices");
  return found.value_or(0);
}

/// The cost of a lane whose next vertex is `at`, on the way to `to`.
std::uint32_t step(const Router& router, int at, int to) {
  return at < router.topology().devices && at != to ? kForward + 1 : 1;
}

/// The search towards costs.to. costs.order is also the queue.
class Search {
 public:
  Search(const Router& router, RouteCosts& costs) : router_(router), costs_(costs) {}

  void run() {
    while (true) {
      if (next_ == costs_.order.size() && opener_ == opened_) {
        if (opened_ == next_) {
          return;
        }
        opened_ = next_;
      }
      const bool opens = opener_turn();
      const int at = costs_.order[opens ? opener_++ : next_++];
      if (opens == forwards(at)) {
        expand(at);
      }
    }
  }

 private:
  [[nodiscard]] std::uint32_t cost(int vertex) const { return costs_.of_vertex[size(vertex)]; }
  [[nodiscard]] bool forwards(int vertex) const {
    return vertex < router_.topology().devices && vertex != costs_.to;
  }
  [[nodiscard]] bool opener_turn() const {
    return next_ == costs_.order.size() ||
           (opener_ < opened_ &&
            cost(costs_.order[opener_]) + kForward < cost(costs_.order[next_]));
  }
  void expand(int at) {
    const std::uint32_t through = cost(at) + step(router_, at, costs_.to);
    ensure(through % kForward != 0, "a best route has fewer than 65,536 lanes");
    for (const Exit& exit : router_.exits(at)) {
      std::uint32_t& found = costs_.of_vertex[size(exit.to)];
      if (found == RouteCosts::unreachable) {
        found = through;
        costs_.order.push_back(exit.to);
      }
    }
  }

  const Router& router_;
  RouteCosts& costs_;
  std::size_t next_ = 0;    // in this stage, next to leave the queue
  std::size_t opener_ = 0;  // in the last stage, next to open this one if it is a device
  std::size_t opened_ = 0;  // the end of the last stage
};

}  // namespace

int lane_begin(const Topology& topology, Lane lane) {
  ensure(wire_of(lane) < topology.wires.size(), "a lane is one of a wire of the topology");
  const Wire& wire = topology.wires[wire_of(lane)];
  return lane % 2 == 0 ? wire.a : wire.b;
}

std::uint64_t hash_of_ends(int from, int to, std::uint64_t choice) {
  return mix(mix(mix(choice), from), to);
}

int lane_end(const Topology& topology, Lane lane) { return lane_begin(topology, lane ^ 1U); }

Capacities capacities(const Topology& topology) {
  Capacities result;
  for (const Wire& wire : topology.wires) {
    const auto first = static_cast<std::uint32_t>(result.rates.size());
    const bool shared = wire.duplex == Duplex::half;
    result.rates.insert(result.rates.end(), shared ? 1 : 2, wire.count * wire.bandwidth);
    result.of_lane.push_back(first);
    result.of_lane.push_back(shared ? first : first + 1);
  }
  return result;
}

Router::Router(Topology topology) : Router(std::move(topology), {}) {}

Router::Router(Topology topology, std::span<const int> sizes) : topology_(std::move(topology)) {
  if (!sizes.empty()) {
    std::int64_t product = 1;
    for (const int along : sizes) {
      ensure(along >= 1, "a torus has a size of at least one along every dimension");
      product *= along;
    }
    ensure(topology_.switches == 0 && product == topology_.devices,
           "dimension order needs a torus of devices only");
  }
  list_exits(sizes);
  kept_.resize(size(topology_.vertices()));
}

/// Both lanes of every wire, sorted by their beginnings; of one vertex by dimension, then by wire.
void Router::list_exits(std::span<const int> sizes) {
  const std::size_t vertices = size(topology_.vertices());
  first_exit_.assign(vertices + 1, 0);
  for (const Wire& wire : topology_.wires) {
    ensure(std::min(wire.a, wire.b) >= 0 && std::max(wire.a, wire.b) < topology_.vertices(),
           "a wire joins vertices of the topology");
    ensure(wire.count >= 1, "a wire has one or more links");
    ++first_exit_[size(wire.a) + 1];
    ++first_exit_[size(wire.b) + 1];
  }
  for (std::size_t vertex = 0; vertex < vertices; ++vertex) {
    first_exit_[vertex + 1] += first_exit_[vertex];
  }
  exits_.resize(first_exit_[vertices]);
  std::vector<std::size_t> at(first_exit_.begin(), first_exit_.end() - 1);
  Lane lane = 0;
  for (const Wire& wire : topology_.wires) {
    const int dimension = sizes.empty() ? 0 : dimension_between(wire.a, wire.b, sizes);
    exits_[at[size(wire.a)]++] = {wire.b, lane++, wire.count, dimension};
    exits_[at[size(wire.b)]++] = {wire.a, lane++, wire.count, dimension};
  }
  for (std::size_t vertex = 0; vertex < vertices; ++vertex) {
    const auto begin = exits_.begin() + static_cast<std::ptrdiff_t>(first_exit_[vertex]);
    const auto end = exits_.begin() + static_cast<std::ptrdiff_t>(first_exit_[vertex + 1]);
    std::stable_sort(begin, end, [](const Exit& one, const Exit& other) {
      return one.dimension < other.dimension;
    });
  }
}

void Router::find_costs(int to, RouteCosts& costs) const {
  ensure(to >= 0 && to < topology_.vertices(), "routes lead to a vertex of the topology");
  costs.to = to;
  costs.of_vertex.assign(size(topology_.vertices()), RouteCosts::unreachable);
  costs.of_vertex[size(to)] = 0;
  costs.order.assign(1, to);
  Search(*this, costs).run();
}

void Router::find_choices(const RouteCosts& costs, int at, std::vector<Exit>& choices) const {
  choices.clear();
  const std::uint32_t cost = costs.of_vertex[size(at)];
  if (cost == RouteCosts::unreachable) {
    return;
  }
  for (const Exit& exit : exits(at)) {
    if (!choices.empty() && exit.dimension != choices.front().dimension) {
      return;
    }
    const std::uint32_t beyond = costs.of_vertex[size(exit.to)];
    if (beyond < cost && beyond + step(*this, exit.to, costs.to) == cost) {
      choices.push_back(exit);
    }
  }
}

const RouteCosts& Router::costs_to(int to) {
  ensure(to >= 0 && to < topology_.vertices(), "routes lead to a vertex of the topology");
  RouteCosts& costs = kept_[size(to)];
  if (costs.of_vertex.empty()) {
    find_costs(to, costs);
    costs.order = {};
  }
  return costs;
}

std::span<const Lane> Router::next(int at, int to) {
  ensure(at >= 0 && at < topology_.vertices(), "routes start at a vertex of the topology");
  find_choices(costs_to(to), at, choices_);
  lanes_.clear();
  for (const Exit& exit : choices_) {
    lanes_.push_back(exit.lane);
  }
  return lanes_;
}

std::optional<Route> Router::route(int from, int to, std::uint64_t choice) {
  if (!hops(from, to)) {
    return std::nullopt;
  }
  return follow(costs_to(to), from, choice);
}

Route Router::follow(const RouteCosts& costs, int from, std::uint64_t choice) const {
  const std::uint64_t seed = hash_of_ends(from, costs.to, choice);
  std::vector<Exit> choices;
  Route route;
  for (int at = from; at != costs.to;) {
    find_choices(costs, at, choices);
    const Exit& exit = pick(choices, mix(seed, at));
    route.push_back(exit.lane);
    at = exit.to;
  }
  return route;
}

std::vector<Route> Router::all_routes(int from, int to, std::size_t limit) {
  std::vector<Route> routes;
  if (!hops(from, to) || limit == 0) {
    return routes;
  }
  // Depth first: what is left to try at each vertex of the route so far, in reverse.
  std::vector<Route> left;
  Route route;
  int at = from;
  while (routes.size() < limit) {
    const auto choices = next(at, to);
    if (at == to) {
      routes.push_back(route);
    }
    left.emplace_back(choices.rbegin(), choices.rend());
    while (!left.empty() && left.back().empty()) {
      left.pop_back();
    }
    if (left.empty()) {
      break;
    }
    route.resize(left.size() - 1);
    route.push_back(left.back().back());
    left.back().pop_back();
    at = lane_end(topology_, route.back());
  }
  return routes;
}

std::optional<int> Router::hops(int from, int to) {
  ensure(from >= 0 && from < topology_.vertices(), "routes start at a vertex of the topology");
  const std::uint32_t cost = costs_to(to).of_vertex[size(from)];
  if (cost == RouteCosts::unreachable) {
    return std::nullopt;
  }
  return static_cast<int>(cost % kForward);
}

Seconds Router::latency(const Route& route) const {
  Seconds sum;
  for (const Lane lane : route) {
    ensure(wire_of(lane) < topology_.wires.size(), "a lane is one of a wire of the topology");
    sum += topology_.wires[wire_of(lane)].latency;
  }
  return sum;
}

}  // namespace titer
