// Loads, one destination at a time: the bytes of all its sources start at their vertices and are
// handed on from the dearest vertex to the cheapest, each dividing what it holds over its choices.
//
// A device with a single wire to a switch (a leaf) is not routed itself. Whatever it sends or gets
// uses that wire, and beyond it all leaves of a switch are alike; so its traffic starts and ends at
// the switch, its anchor. Other devices are their own anchors.

#include "titer/topology/traffic.hpp"

#include <algorithm>
#include <cstddef>

#include "titer/units/ensure.hpp"

namespace titer {

namespace {

std::size_t index(int vertex) { return static_cast<std::size_t>(vertex); }

/// How many ranks of an exchange have the same anchor.
struct Share {
  int anchor = 0;
  int ranks = 0;
};

struct Exchange {
  Bytes per_pair;
  std::vector<Share> shares;  // by anchor
};

/// An exchange that one anchor takes part in.
struct Arrival {
  int anchor = 0;
  std::size_t exchange = 0;
  int ranks = 0;
};

class Loader {
 public:
  explicit Loader(const Router& router)
      : router_(router),
        loads_(2 * router.topology().wires.size()),
        held_(index(router.topology().vertices())) {}

  void add(const Demand& demand) {
    check(demand.from);
    check(demand.to);
    if (demand.from == demand.to || demand.bytes == Bytes{}) {
      return;
    }
    leave(demand.from, demand.bytes);
    arrive(demand.to, demand.bytes);
    const int from = anchor(demand.from);
    const int to = anchor(demand.to);
    if (from != to) {
      demands_.push_back({from, to, demand.bytes});
    }
  }

  void add(const UniformExchange& uniform) {
    std::vector<int> anchors;
    const Bytes each = (static_cast<double>(uniform.ranks.size()) - 1.0) * uniform.per_pair;
    if (uniform.ranks.size() < 2 || each == Bytes{}) {
      return;
    }
    for (const int rank : uniform.ranks) {
      check(rank);
      leave(rank, each);
      arrive(rank, each);
      anchors.push_back(anchor(rank));
    }
    check_distinct(uniform.ranks);
    std::sort(anchors.begin(), anchors.end());
    Exchange exchange{.per_pair = uniform.per_pair, .shares = {}};
    for (const int vertex : anchors) {
      if (exchange.shares.empty() || exchange.shares.back().anchor != vertex) {
        exchange.shares.push_back({.anchor = vertex, .ranks = 0});
      }
      ++exchange.shares.back().ranks;
    }
    for (const Share& share : exchange.shares) {
      arrivals_.push_back(
          {.anchor = share.anchor, .exchange = exchanges_.size(), .ranks = share.ranks});
    }
    exchanges_.push_back(std::move(exchange));
  }

  std::vector<Bytes> run() && {
    std::stable_sort(
        demands_.begin(), demands_.end(), [](const auto& a, const auto& b) { return a.to < b.to; });
    std::stable_sort(arrivals_.begin(), arrivals_.end(), [](const auto& a, const auto& b) {
      return a.anchor < b.anchor;
    });
    auto demand = demands_.begin();
    auto arrival = arrivals_.begin();
    for (int to = 0; to < router_.topology().vertices(); ++to) {
      for (; demand != demands_.end() && demand->to == to; ++demand) {
        held_[index(demand->from)] += demand->bytes;
        sources_.push_back(demand->from);
      }
      for (; arrival != arrivals_.end() && arrival->anchor == to; ++arrival) {
        hold(*arrival);
      }
      if (!sources_.empty()) {
        hand_on(to);
      }
    }
    return std::move(loads_);
  }

 private:
  void check(int vertex) const {
    ensure(vertex >= 0 && vertex < router_.topology().vertices(),
           "traffic is between vertices of the topology");
  }
  static void check_distinct(std::vector<int> ranks) {
    std::sort(ranks.begin(), ranks.end());
    ensure(std::adjacent_find(ranks.begin(), ranks.end()) == ranks.end(),
           "an exchange is among distinct devices");
  }

  [[nodiscard]] bool is_leaf(int vertex) const {
    const auto exits = router_.exits(vertex);
    const int devices = router_.topology().devices;
    return vertex < devices && exits.size() == 1 && exits[0].to >= devices;
  }
  [[nodiscard]] int anchor(int vertex) const {
    return is_leaf(vertex) ? router_.exits(vertex)[0].to : vertex;
  }
  void leave(int device, Bytes bytes) {
    if (is_leaf(device)) {
      loads_[router_.exits(device)[0].lane] += bytes;
    }
  }
  void arrive(int device, Bytes bytes) {
    if (is_leaf(device)) {
      loads_[router_.exits(device)[0].lane ^ 1U] += bytes;
    }
  }

  /// What the other anchors of an exchange send to one.
  void hold(const Arrival& arrival) {
    const Exchange& exchange = exchanges_[arrival.exchange];
    for (const Share& share : exchange.shares) {
      if (share.anchor != arrival.anchor) {
        held_[index(share.anchor)] +=
            static_cast<double>(share.ranks) * arrival.ranks * exchange.per_pair;
        sources_.push_back(share.anchor);
      }
    }
  }

  void hand_on(int to) {
    router_.find_costs(to, costs_);
    for (const int at : sources_) {
      ensure(costs_.of_vertex[index(at)] != RouteCosts::unreachable,
             "there is a route between devices that send to each other");
    }
    sources_.clear();
    for (auto at = costs_.order.rbegin(); at != costs_.order.rend(); ++at) {
      const Bytes bytes = held_[index(*at)];
      held_[index(*at)] = Bytes{};
      if (*at != to && bytes > Bytes{}) {
        divide(*at, bytes);
      }
    }
  }

  void divide(int at, Bytes bytes) {
    router_.find_choices(costs_, at, choices_);
    int links = 0;
    for (const Exit& exit : choices_) {
      links += exit.count;
    }
    for (const Exit& exit : choices_) {
      const Bytes part = static_cast<double>(exit.count) / links * bytes;
      loads_[exit.lane] += part;
      held_[index(exit.to)] += part;
    }
  }

  const Router& router_;
  std::vector<Demand> demands_;  // between different anchors
  std::vector<Exchange> exchanges_;
  std::vector<Arrival> arrivals_;
  std::vector<Bytes> loads_;
  std::vector<Bytes> held_;   // what each vertex has to hand on; all zero between destinations
  std::vector<int> sources_;  // that have something for the destination at hand
  RouteCosts costs_;
  std::vector<Exit> choices_;
};

}  // namespace

std::vector<Demand> demands_of(const std::vector<std::vector<Bytes>>& matrix) {
  std::vector<Demand> demands;
  for (std::size_t from = 0; from < matrix.size(); ++from) {
    ensure(matrix[from].size() == matrix.size(), "a traffic matrix has as many columns as rows");
    for (std::size_t to = 0; to < matrix.size(); ++to) {
      if (matrix[from][to] != Bytes{}) {
        demands.push_back({static_cast<int>(from), static_cast<int>(to), matrix[from][to]});
      }
    }
  }
  return demands;
}

std::vector<Bytes> link_loads(const Router& router, const Traffic& traffic) {
  Loader loader(router);
  for (const Demand& demand : traffic.demands) {
    loader.add(demand);
  }
  for (const UniformExchange& exchange : traffic.exchanges) {
    loader.add(exchange);
  }
  return std::move(loader).run();
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
    const auto lower = std::count_if(
        exchange.ranks.begin(), exchange.ranks.end(), [half](int rank) { return rank < half; });
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
