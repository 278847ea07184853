// The largest number of link-disjoint Hamiltonian cycles in a small multigraph: depth-first search
// over cycles in lexicographic order, cut by degrees, stopped at an upper bound from the global
// minimum cut (a cycle crosses every cut at least twice) and from the number of links.

#include <algorithm>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/stoer_wagner_min_cut.hpp>
#include <cstddef>

#include "titer/topology/topology.hpp"
#include "titer/units/ensure.hpp"
#include "titer/units/lists.hpp"

namespace titer {

namespace {

/// Parallel links between the members of a group, numbered by their position in it.
class Links {
 public:
  Links(const Topology& topology, const std::vector<int>& group)
      : size_(group.size()), count_(group.size() * group.size(), 0) {
    for (const Wire& wire : topology.wires) {
      const auto a = std::ranges::find(group, wire.a);
      const auto b = std::ranges::find(group, wire.b);
      if (a != group.end() && b != group.end()) {
        change(static_cast<std::size_t>(a - group.begin()),
               static_cast<std::size_t>(b - group.begin()),
               wire.count);
      }
    }
  }

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] int between(std::size_t a, std::size_t b) const { return count_[a * size_ + b]; }
  void change(std::size_t a, std::size_t b, int by) {
    count_[a * size_ + b] += by;
    count_[b * size_ + a] += by;
  }
  /// Links from `a` to members numbered `first` or more.
  [[nodiscard]] int degree(std::size_t a, std::size_t first = 0) const {
    int links = 0;
    for (std::size_t b = first; b < size_; ++b) {
      links += between(a, b);
    }
    return links;
  }

 private:
  std::size_t size_;
  std::vector<int> count_;  // size x size, symmetric
};

/// Links across the cheapest split of the group in two.
int minimum_cut(const Links& links) {
  using Graph = boost::adjacency_list<boost::vecS,
                                      boost::vecS,
                                      boost::undirectedS,
                                      boost::no_property,
                                      boost::property<boost::edge_weight_t, int>>;
  Graph graph(links.size());
  for (std::size_t a = 0; a < links.size(); ++a) {
    for (std::size_t b = a + 1; b < links.size(); ++b) {
      if (links.between(a, b) > 0) {
        boost::add_edge(a, b, links.between(a, b), graph);
      }
    }
  }
  // Without an edge there is nothing for the algorithm to weigh.
  return boost::num_edges(graph) == 0
             ? 0
             : boost::stoer_wagner_min_cut(graph, boost::get(boost::edge_weight, graph));
}

int upper_bound(const Links& links) {
  int ends = 0;
  for (std::size_t a = 0; a < links.size(); ++a) {
    ends += links.degree(a);
  }
  return std::min(ends / 2 / static_cast<int>(links.size()), minimum_cut(links) / 2);
}

/// The search. A cycle starts at member 0, which is left out of `walk_`: each cycle is size-1
/// entries of it, the first smaller than the last (one of two directions), and no cycle is before
/// its predecessor in lexicographic order (one of all orders of the same set of cycles).
class Packer {
 public:
  explicit Packer(Links links)
      : links_(std::move(links)), length_(links_.size() - 1), bound_(upper_bound(links_)) {}

  void search() {
    std::size_t first = 1;
    while (best_count() < bound_ && work_ < most_work) {
      const std::size_t next = find_next(first);
      if (next < links_.size()) {
        push(next);
        first = 1;
      } else if (walk_.empty()) {
        return;
      } else {
        first = pop() + 1;
      }
    }
    proven_ = best_count() == bound_;
  }

  [[nodiscard]] bool proven() const { return proven_; }
  [[nodiscard]] int best_count() const { return static_cast<int>(best_.size() / length_); }
  [[nodiscard]] std::vector<std::vector<int>> cycles(const std::vector<int>& group) const {
    std::vector<std::vector<int>> orders;
    for (std::size_t i = 0; i < best_.size(); ++i) {
      if (i % length_ == 0) {
        orders.push_back({group[0]});
      }
      orders.back().push_back(group[best_[i]]);
    }
    return orders;
  }

 private:
  // Candidates tried before giving up: a few tens of milliseconds.
  static constexpr int most_work = 1 << 20;

  [[nodiscard]] std::size_t place() const { return walk_.size() % length_; }
  [[nodiscard]] std::size_t cycle_begin() const { return walk_.size() - place(); }
  [[nodiscard]] std::size_t last() const { return place() == 0 ? 0 : walk_.back(); }

  /// The smallest member from `first` on that may come next, or size() if there is none.
  std::size_t find_next(std::size_t first) {
    if (place() == 0 && !can_improve()) {
      return links_.size();
    }
    for (std::size_t next = std::max(first, least()); next < links_.size(); ++next) {
      ++work_;
      if (place() == 0 && !enough_at_start(next)) {
        return links_.size();
      }
      if (fits(next)) {
        return next;
      }
    }
    return links_.size();
  }

  /// Cycles still wanted, to beat the best so far.
  [[nodiscard]] int wanted() const {
    return best_count() + 1 - static_cast<int>(walk_.size() / length_);
  }
  [[nodiscard]] bool can_improve() const {
    for (std::size_t member = 0; member < links_.size(); ++member) {
      if (links_.degree(member) < 2 * wanted()) {
        return false;
      }
    }
    return true;
  }
  /// This cycle and all later ones leave and re-enter member 0 by neighbours from `next` on.
  [[nodiscard]] bool enough_at_start(std::size_t next) const {
    return links_.degree(0, next) >= 2 * wanted();
  }

  /// Lexicographic order: while a cycle equals its predecessor, it may not fall below it.
  [[nodiscard]] std::size_t least() const {
    const std::size_t begin = cycle_begin();
    if (begin == 0) {
      return 1;
    }
    const auto at = [this](std::size_t i) {
      return walk_.begin() + static_cast<std::ptrdiff_t>(i);
    };
    const bool equal = std::equal(at(begin), walk_.end(), at(begin - length_));
    return equal ? walk_[walk_.size() - length_] : 1;
  }

  [[nodiscard]] bool fits(std::size_t next) const {
    const auto begin = walk_.begin() + static_cast<std::ptrdiff_t>(cycle_begin());
    if (links_.between(last(), next) == 0 || std::find(begin, walk_.end(), next) != walk_.end()) {
      return false;
    }
    const bool closes = place() + 1 == length_;
    return !closes || (*begin < next && links_.between(next, 0) > 0);
  }

  void push(std::size_t next) {
    links_.change(last(), next, -1);
    walk_.push_back(next);
    if (place() == 0) {
      links_.change(next, 0, -1);
      if (walk_.size() > best_.size()) {
        best_ = walk_;
      }
    }
  }

  std::size_t pop() {
    const std::size_t next = walk_.back();
    if (place() == 0) {
      links_.change(next, 0, +1);
    }
    walk_.pop_back();
    links_.change(last(), next, +1);
    return next;
  }

  Links links_;  // those not used by walk_
  std::size_t length_;
  int bound_;
  int work_ = 0;
  bool proven_ = true;
  std::vector<std::size_t> walk_;
  std::vector<std::size_t> best_;
};

/// A ring's bandwidth through the switches that join all of the group: of each, the slowest port.
BytesPerSecond switched_bandwidth(const Topology& topology, const std::vector<int>& group) {
  BytesPerSecond sum;
  for (int hub = topology.devices; hub < topology.vertices(); ++hub) {
    std::vector<BytesPerSecond> ports(group.size());
    for (const Wire& wire : topology.wires) {
      if (wire.a != hub && wire.b != hub) {
        continue;
      }
      const auto member = std::ranges::find(group, wire.a == hub ? wire.b : wire.a);
      if (member != group.end()) {
        ports[static_cast<std::size_t>(member - group.begin())] += wire.count * wire.bandwidth;
      }
    }
    sum += *std::ranges::min_element(ports);
  }
  return sum;
}

BytesPerSecond slowest_link(const Topology& topology, const std::vector<int>& group) {
  std::optional<BytesPerSecond> slowest;
  const auto inside = [&group](int vertex) { return includes(group, vertex); };
  for (const Wire& wire : topology.wires) {
    if (inside(wire.a) && inside(wire.b)) {
      slowest = std::min(slowest.value_or(wire.bandwidth), wire.bandwidth);
    }
  }
  return slowest.value_or(BytesPerSecond{});
}

RingPacking pack_direct(const Topology& topology, const std::vector<int>& group) {
  const Links links(topology, group);
  const BytesPerSecond per_ring = slowest_link(topology, group);
  if (group.size() == 2) {
    const int count = links.between(0, 1);
    return {.directed_rings = count,
            .per_ring = per_ring,
            .rings = std::vector(static_cast<std::size_t>(count), group)};
  }
  Packer packer(links);
  packer.search();
  return {.directed_rings = 2 * packer.best_count(),
          .per_ring = per_ring,
          .rings = packer.cycles(group),
          .proven = packer.proven()};
}

}  // namespace

RingPacking pack_rings(const Topology& topology, const std::vector<int>& group) {
  ensure(group.size() >= 2, "a ring needs two or more devices");
  ensure(are_distinct_devices(topology, group), "a ring visits distinct devices of the topology");
  const BytesPerSecond switched = switched_bandwidth(topology, group);
  const bool is_joined = slowest_link(topology, group) > BytesPerSecond{};
  if (switched > BytesPerSecond{} && !is_joined) {
    return {.directed_rings = 1, .per_ring = switched, .rings = {group}};
  }
  RingPacking direct = pack_direct(topology, group);
  // Devices with links of their own often meet at a processor or PCIe switch too.
  if (switched > direct.bandwidth()) {
    return {.directed_rings = 1, .per_ring = switched, .rings = {group}};
  }
  return direct;
}

}  // namespace titer
