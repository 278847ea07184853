#pragma once
// The ways through a topology: from every vertex the first links of the best routes to another (the
// choices of equal-cost multi-path routing), single routes, and the capacities that they use.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "titer/topology/topology.hpp"

namespace titer {

/// One direction of a wire: 2 * wire from its end a to its end b, 2 * wire + 1 from b to a.
using Lane = std::uint32_t;
/// A number that any two vertices have of their own, and alike on every machine.
[[nodiscard]] std::uint64_t hash_of_ends(int from, int to, std::uint64_t choice = 0);
/// Lanes one after the other; empty from a vertex to itself.
using Route = std::vector<Lane>;

[[nodiscard]] constexpr std::size_t wire_of(Lane lane) { return lane / 2; }
[[nodiscard]] int lane_begin(const Topology& topology, Lane lane);
[[nodiscard]] int lane_end(const Topology& topology, Lane lane);

/// What limits the lanes: each of a full-duplex wire has a capacity of its own, the two of a
/// half-duplex wire share one. Parallel links are one capacity: count * bandwidth.
struct Capacities {
  std::vector<BytesPerSecond> rates;
  std::vector<std::uint32_t> of_lane;  // the index into `rates`, for every lane
};
[[nodiscard]] Capacities capacities(const Topology& topology);

/// A lane that leaves a vertex, as the router keeps it.
struct Exit {
  int to = 0;
  Lane lane = 0;
  int count = 1;      // parallel links
  int dimension = 0;  // of the torus, with dimension-ordered routing; else 0
};

/// The costs of the best routes from all vertices to one. A cost is (devices passed through) * 2^16
/// + (lanes), so that devices forward only where nothing else can.
struct RouteCosts {
  static constexpr std::uint32_t unreachable = ~std::uint32_t{0};
  int to = 0;
  std::vector<std::uint32_t> of_vertex;
  std::vector<int> order;  // the vertices that reach `to`, by rising cost: `to` comes first
};

/// Best routes: through as few other devices as possible, then over the fewest lanes. GPUs thus
/// leave forwarding to switches wherever these join them; devices of a torus or a ring forward.
/// Equal-cost routes split at each vertex, evenly over the links (a wire of two parallel links
/// takes twice the share of a single one), whatever their bandwidths.
/// RouteCosts to a vertex are computed when first asked for, in O(wires), and kept: 4 bytes a
/// vertex.
class Router {
 public:
  explicit Router(Topology topology);
  /// A torus or mesh of devices only, whose device is number x0 + sizes[0] * (x1 + sizes[1] * (…)):
  /// routes settle x0 first, then x1, and so on. Half-way round an even ring both ways are choices.
  /// REQUIRES wires along one dimension each, as many devices as the product of `sizes`.
  Router(Topology topology, std::span<const int> sizes);

  [[nodiscard]] const Topology& topology() const { return topology_; }

  /// The first lanes of all best routes, by wire; none if there is no route or at == to. Valid
  /// until the next call.
  [[nodiscard]] std::span<const Lane> next(int at, int to);
  /// One best route, empty optional if there is none. A hash of (from, to, choice) picks among the
  /// equal links at every vertex.
  [[nodiscard]] std::optional<Route> route(int from, int to, std::uint64_t choice = 0);
  /// The first `limit` best routes in the order of next(); parallel links count as one way.
  [[nodiscard]] std::vector<Route> all_routes(int from, int to, std::size_t limit);
  /// Lanes of a best route; empty if there is none.
  [[nodiscard]] std::optional<int> hops(int from, int to);
  /// The latencies of its wires, one after the other.
  [[nodiscard]] Seconds latency(const Route& route) const;

  /// Without the kept costs, for work on one destination after another. REQUIRES a route.
  [[nodiscard]] Route follow(const RouteCosts& costs, int from, std::uint64_t choice) const;
  void find_costs(int to, RouteCosts& costs) const;
  [[nodiscard]] std::span<const Exit> exits(int at) const {
    const auto vertex = static_cast<std::size_t>(at);
    return std::span(exits_).subspan(first_exit_[vertex],
                                     first_exit_[vertex + 1] - first_exit_[vertex]);
  }
  /// Puts the exits of all best routes from `at` into `choices`.
  void find_choices(const RouteCosts& costs, int at, std::vector<Exit>& choices) const;

 private:
  [[nodiscard]] const RouteCosts& costs_to(int to);
  void list_exits(std::span<const int> sizes);

  Topology topology_;
  std::vector<std::size_t> first_exit_;  // CSR: the exits of vertex v are
  std::vector<Exit> exits_;              // exits_[first_exit_[v] .. first_exit_[v + 1]]
  std::vector<RouteCosts> kept_;         // by destination; no vertices: not asked for yet
  std::vector<Exit> choices_;
  std::vector<Lane> lanes_;
};

}  // namespace titer
