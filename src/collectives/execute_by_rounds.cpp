#include <algorithm>
#include <map>
#include <tuple>

#include "placed_steps.hpp"

namespace titer {

namespace {

/// The latencies of the wires on the way, where there are any.
class WireLatencies {
 public:
  explicit WireLatencies(Router& router) : router_(router) {
    for (const Wire& wire : router.topology().wires) {
      any_ = any_ || wire.latency > Seconds{};
    }
  }

  Seconds between(int from, int to) {
    if (!any_) {
      return {};
    }
    const auto [entry, is_new] = known_.try_emplace({from, to});
    if (is_new) {
      entry->second = router_.latency(route_between(router_, from, to));
    }
    return entry->second;
  }

 private:
  Router& router_;
  bool any_ = false;
  std::map<std::pair<int, int>, Seconds> known_;
};

/// What goes in one round.
struct Round {
  std::vector<Demand> demands;
  Seconds latency;
};

std::vector<Round> make_rounds(std::span<const PlacedSteps> collectives,
                               const Fabric& fabric,
                               WireLatencies& wires,
                               std::size_t& messages) {
  std::vector<Round> rounds;
  for (const PlacedSteps& placed : collectives) {
    const std::vector<std::uint32_t> done = rounds_of(*placed.steps);
    const std::vector<Seconds> costs = costs_of(*placed.steps, fabric);
    for (std::size_t i = 0; i < done.size(); ++i) {
      const Message& message = placed.steps->message(i);
      if (message.is_join()) {
        continue;
      }
      rounds.resize(std::max<std::size_t>(rounds.size(), done[i]));
      Round& round = rounds[done[i] - 1];
      const Ends ends = ends_of(placed, message);
      const int stop = ends.via.value_or(ends.to);
      round.latency = std::max(
          round.latency, costs[i] + wires.between(ends.from, stop) + wires.between(stop, ends.to));
      round.demands.push_back({.from = ends.from, .to = stop, .bytes = message.size});
      if (ends.via) {
        round.demands.push_back({.from = *ends.via, .to = ends.to, .bytes = message.size});
      }
      ++messages;
    }
  }
  return rounds;
}

bool goes_before(const Demand& a, const Demand& b) {
  return std::tuple(a.from, a.to, a.bytes.si()) < std::tuple(b.from, b.to, b.bytes.si());
}

/// The loads of rounds. Most collectives repeat a few patterns, which are kept.
class RoundLoads {
 public:
  explicit RoundLoads(const Router& router) : router_(router) {}

  /// Adds the round's loads to the sum, and returns its busiest link's time.
  Seconds add(std::vector<Demand> demands) {
    std::ranges::sort(demands, goes_before);
    const Pattern& pattern = find(std::move(demands));
    sum_.resize(pattern.loads.size());
    for (std::size_t lane = 0; lane < sum_.size(); ++lane) {
      sum_[lane] += pattern.loads[lane];
    }
    return pattern.time;
  }
  [[nodiscard]] std::optional<BusiestLink> busiest() const {
    return busiest_link(router_.topology(), sum_);
  }

 private:
  struct Pattern {
    std::vector<Demand> demands;
    std::vector<Bytes> loads;
    Seconds time;
  };

  static bool same(const std::vector<Demand>& a, const std::vector<Demand>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Demand& x, const Demand& y) {
      return !goes_before(x, y) && !goes_before(y, x);
    });
  }

  const Pattern& find(std::vector<Demand> demands) {
    for (const Pattern& known : patterns_) {
      if (same(known.demands, demands)) {
        return known;
      }
    }
    if (patterns_.size() == most_kept) {
      patterns_.erase(patterns_.begin());
    }
    std::vector<Bytes> loads = link_loads(router_, {.demands = demands, .exchanges = {}});
    const auto busiest = busiest_link(router_.topology(), loads);
    patterns_.push_back({.demands = std::move(demands),
                         .loads = std::move(loads),
                         .time = busiest ? busiest->time : Seconds{}});
    return patterns_.back();
  }

  static constexpr std::size_t most_kept = 32;
  const Router& router_;
  std::vector<Pattern> patterns_;
  std::vector<Bytes> sum_;
};

}  // namespace

Execution execute_by_rounds(std::span<const PlacedSteps> collectives,
                            Router& router,
                            const Fabric& fabric) {
  check_places(collectives);
  WireLatencies wires(router);
  RoundLoads loads(router);
  Execution execution;
  for (Round& round : make_rounds(collectives, fabric, wires, execution.messages)) {
    execution.time += round.latency;
    execution.time += loads.add(std::move(round.demands));
    ++execution.rounds;
  }
  execution.busiest = loads.busiest();
  return execution;
}

Execution execute_exchange(Bytes size,
                           const std::vector<int>& ranks,
                           const Router& router,
                           const Link& link) {
  const std::size_t n = ranks.size();
  if (n <= 1) {
    return {};
  }
  const Traffic traffic{.demands = {},
                        .exchanges = {{.ranks = ranks, .per_pair = size / static_cast<double>(n)}}};
  Execution execution{.time = link.startup + link.latency,
                      .messages = n * (n - 1),
                      .rounds = 1,
                      .busiest = busiest_link(router.topology(), link_loads(router, traffic))};
  execution.time += execution.busiest ? execution.busiest->time : Seconds{};
  return execution;
}

}  // namespace titer
