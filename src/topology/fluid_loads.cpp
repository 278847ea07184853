// Loads, one destination at a time: the bytes of all its sources start at their vertices and are
// handed on from the dearest vertex to the cheapest, each dividing what it holds over its choices.
//
// A device with a single wire to a switch (a leaf) is not routed itself. Whatever it sends or gets
// uses that wire, and beyond it all leaves of a switch are alike; so its traffic starts and ends at
// the switch, its anchor. Other devices are their own anchors.
//
// With detours it goes in two steps: up to the first vertex of a part (or all the way within one),
// and on from there and from everywhere else. What it takes to get everywhere else is the same
// whatever the destination, so that it is done once, at the end.

#include "fluid_loads.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "titer/topology/detours.hpp"
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
  /// `detoured`: of what leaves its part.
  Loader(const Router& router, double detoured)
      : router_(router),
        detoured_(detoured),
        waypoints_(detoured > 0 ? waypoints(router.topology()) : std::vector<int>{}),
        loads_(2 * router.topology().wires.size()),
        held_(index(router.topology().vertices())),
        away_(waypoints_.empty() ? 0 : held_.size()) {}

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
    std::ranges::sort(anchors);
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
    std::ranges::stable_sort(demands_, [](const auto& a, const auto& b) { return a.to < b.to; });
    std::ranges::stable_sort(arrivals_,
                             [](const auto& a, const auto& b) { return a.anchor < b.anchor; });
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
    for (const int by : waypoints_) {
      bring(by);
    }
    return std::move(loads_);
  }

 private:
  void check(int vertex) const {
    ensure(vertex >= 0 && vertex < router_.topology().vertices(),
           "traffic is between vertices of the topology");
  }
  static void check_distinct(std::vector<int> ranks) {
    std::ranges::sort(ranks);
    ensure(std::ranges::adjacent_find(ranks) == ranks.end(),
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
    if (!waypoints_.empty()) {
      send_away(to);
    }
    hand_on_by_best_routes(to);
  }

  void hand_on_by_best_routes(int to) {
    for (auto at = costs_.order.rbegin(); at != costs_.order.rend(); ++at) {
      const Bytes bytes = held_[index(*at)];
      held_[index(*at)] = Bytes{};
      if (*at != to && bytes > Bytes{}) {
        divide(*at, bytes);
      }
    }
  }

  [[nodiscard]] int region(int vertex) const { return region_of(router_.topology(), vertex); }

  /// The part in which the way from every vertex to the destination ends.
  void find_last_regions(int to) {
    last_region_.assign(held_.size(), -1);
    for (const int at : costs_.order) {
      int& last = last_region_[index(at)];
      if (at != to) {
        router_.find_choices(costs_, at, choices_);
        last = last_region_[index(choices_.front().to)];
      }
      last = last < 0 ? region(at) : last;
    }
  }

  /// Hands on what is held as far as the first vertex of a part that is not the destination's; from
  /// there a share of it goes to all waypoints, which hold it from then on.
  void send_away(int to) {
    find_last_regions(to);
    std::vector<std::pair<int, Bytes>> stopped;
    Bytes sum;
    for (auto at = costs_.order.rbegin(); at != costs_.order.rend(); ++at) {
      Bytes& held = held_[index(*at)];
      const Bytes bytes = std::exchange(held, Bytes{});
      if (bytes <= Bytes{} || *at == to) {
        continue;
      }
      if (region(*at) >= 0 && region(*at) != last_region_[index(*at)]) {
        stopped.emplace_back(*at, bytes);
        away_[index(*at)] += detoured_ * bytes;
        sum += detoured_ * bytes;
      } else {
        divide(*at, bytes);
      }
    }
    for (const auto& [at, bytes] : stopped) {
      held_[index(at)] += (1.0 - detoured_) * bytes;
    }
    for (const int by : waypoints_) {
      held_[index(by)] += sum / static_cast<double>(waypoints_.size());
    }
  }

  /// What all vertices send there to be sent on.
  void bring(int by) {
    router_.find_costs(by, costs_);
    for (std::size_t at = 0; at < away_.size(); ++at) {
      if (away_[at] > Bytes{}) {
        ensure(costs_.of_vertex[at] != RouteCosts::unreachable,
               "the parts of a network are joined");
        held_[at] = away_[at] / static_cast<double>(waypoints_.size());
      }
    }
    hand_on_by_best_routes(by);
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
  double detoured_ = 0;
  std::vector<int> waypoints_;   // none without detours
  std::vector<Demand> demands_;  // between different anchors
  std::vector<Exchange> exchanges_;
  std::vector<Arrival> arrivals_;
  std::vector<Bytes> loads_;
  std::vector<Bytes> held_;  // what each vertex has to hand on; all zero between destinations
  std::vector<Bytes> away_;  // what each sends to all waypoints together
  std::vector<int> last_region_;
  std::vector<int> sources_;  // that have something for the destination at hand
  RouteCosts costs_;
  std::vector<Exit> choices_;
};

}  // namespace

std::vector<Bytes> fluid_loads(const Router& router, const Traffic& traffic, double detoured) {
  Loader loader(router, detoured);
  for (const Demand& demand : traffic.demands) {
    loader.add(demand);
  }
  for (const UniformExchange& exchange : traffic.exchanges) {
    loader.add(exchange);
  }
  return std::move(loader).run();
}

}  // namespace titer
