#pragma once
// Networks and messages that the tests and the benchmark of flows share.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "titer/engine/flow_network.hpp"
#include "titer/engine/message_graph.hpp"

namespace titer::testing {

/// Hosts around one switch that is never busy; each has a link up and a link down.
class Star {
 public:
  Star(std::uint32_t hosts, BytesPerSecond capacity) {
    for (std::uint32_t host = 0; host < 2 * hosts; ++host) {
      network.add_link(capacity);
    }
  }
  RouteId route(std::uint32_t from, std::uint32_t to) {
    return network.add_route(std::array{2 * from, 2 * to + 1});
  }

  FlowNetwork network;
};

/// Fat tree of three levels with equal links: `down[i]` children and `up[i]` parents of each node
/// on the way from level i to i + 1 (an XGFT). Destinations choose the parent (D-mod-k).
class FatTree {
 public:
  using Widths = std::array<std::uint32_t, 3>;

  FatTree(Widths down, Widths up, BytesPerSecond capacity) : down_(down), up_(up) {
    for (std::uint32_t level = 0; level < 3; ++level) {
      first_[level] = static_cast<FlowLink>(network.links());
      for (std::uint32_t link = 0; link < 2 * nodes(level) * up_[level]; ++link) {
        network.add_link(capacity);
      }
    }
  }

  [[nodiscard]] std::uint32_t hosts() const { return down_[0] * down_[1] * down_[2]; }

  RouteId route(std::uint32_t from, std::uint32_t to) {
    std::uint32_t height = 0;  // of the first common ancestors
    for (std::uint32_t a = from, b = to; a != b; ++height) {
      a /= down_[height];
      b /= down_[height];
    }
    std::vector<FlowLink> links;
    for (std::uint32_t level = 0; level < height; ++level) {
      links.push_back(link(level, from, to, 0));
    }
    for (std::uint32_t level = height; level-- > 0;) {
      links.push_back(link(level, to, to, 1));
    }
    return network.add_route(links);
  }

  FlowNetwork network;

 private:
  /// Switches (hosts on level 0): subtrees of that height, times the parallel roots of each.
  [[nodiscard]] std::uint32_t nodes(std::uint32_t level) const {
    std::uint32_t count = 1;
    for (std::uint32_t i = 0; i < 3; ++i) {
      count *= i < level ? up_[i] : down_[i];
    }
    return count;
  }

  /// The link above the switch that is reached from a host on the way to `to`.
  [[nodiscard]] FlowLink link(std::uint32_t level,
                              std::uint32_t host,
                              std::uint32_t to,
                              std::uint32_t direction) const {
    std::uint32_t subtree = host;
    std::uint32_t root = 0;
    std::uint32_t roots = 1;
    std::uint32_t choice = to;
    for (std::uint32_t i = 0; i < level; ++i) {
      subtree /= down_[i];
      root += roots * (choice % up_[i]);
      choice /= up_[i];
      roots *= up_[i];
    }
    const std::uint32_t node = subtree * roots + root;
    return first_[level] + 2 * (node * up_[level] + choice % up_[level]) + direction;
  }

  Widths down_;
  Widths up_;
  std::array<FlowLink, 3> first_{};
};

/// A ring per dimension and a link per direction; routes go through the dimensions in order, the
/// shorter way around.
class Torus {
 public:
  Torus(std::vector<std::uint32_t> sides, BytesPerSecond capacity) : sides_(std::move(sides)) {
    for (const std::uint32_t side : sides_) {
      nodes_ *= side;
    }
    for (std::size_t link = 0; link < 2 * sides_.size() * nodes_; ++link) {
      network.add_link(capacity);
    }
  }

  [[nodiscard]] std::uint32_t nodes() const { return nodes_; }
  [[nodiscard]] std::uint32_t dimensions() const {
    return static_cast<std::uint32_t>(sides_.size());
  }

  /// The neighbour one step up (or down) in a dimension.
  [[nodiscard]] std::uint32_t neighbour(std::uint32_t node,
                                        std::uint32_t dimension,
                                        bool up) const {
    std::uint32_t stride = 1;
    for (std::uint32_t i = 0; i < dimension; ++i) {
      stride *= sides_[i];
    }
    const std::uint32_t side = sides_[dimension];
    const std::uint32_t at = node / stride % side;
    const std::uint32_t next = (at + (up ? 1 : side - 1)) % side;
    return node + next * stride - at * stride;
  }

  RouteId route(std::uint32_t from, std::uint32_t to) {
    std::vector<FlowLink> links;
    std::uint32_t stride = 1;
    for (std::uint32_t dimension = 0; dimension < dimensions(); ++dimension) {
      const std::uint32_t side = sides_[dimension];
      const std::uint32_t distance = (to / stride % side + side - from / stride % side) % side;
      const bool up = 2 * distance <= side;
      for (std::uint32_t hop = 0; hop < (up ? distance : side - distance); ++hop) {
        links.push_back(2 * (from * dimensions() + dimension) + (up ? 0 : 1));
        from = neighbour(from, dimension, up);
      }
      stride *= side;
    }
    return network.add_route(links);
  }

  FlowNetwork network;

 private:
  std::vector<std::uint32_t> sides_;
  std::uint32_t nodes_ = 1;
};

/// A network and messages over it.
struct FlowCase {
  FlowNetwork network;
  MessageGraph messages;
};

/// Messages of 1-64 MB between random pairs of different hosts, all at once.
inline FlowCase random_pairs(FatTree tree, std::uint32_t messages, std::uint32_t seed) {
  std::mt19937 random(seed);
  MessageGraph graph;
  for (std::uint32_t i = 0; i < messages; ++i) {
    const auto from = static_cast<std::uint32_t>(random() % tree.hosts());
    const auto other = static_cast<std::uint32_t>(random() % (tree.hosts() - 1));
    const RouteId route = tree.route(from, (from + 1 + other) % tree.hosts());
    graph.add(route, Bytes::from_si(1e6 + static_cast<double>(random() % 63'000'000)), 2_us);
  }
  return {std::move(tree.network), std::move(graph)};
}

/// Ring all-reduce step by step: each rank sends 2 (n - 1) pieces to the next one. A piece waits
/// for the previous one of its sender, and for the one that its sender must have received.
inline FlowCase ring_steps(std::uint32_t ranks, Bytes size, BytesPerSecond capacity) {
  Star star(ranks, capacity);
  MessageGraph graph;
  const std::uint32_t steps = 2 * (ranks - 1);
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    star.route(rank, (rank + 1) % ranks);
  }
  for (std::uint32_t step = 0; step < steps; ++step) {
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      const MessageId before = (step - 1) * ranks;
      const std::array after{before + rank, before + (rank + ranks - 1) % ranks};
      const std::span<const MessageId> waits(after.data(), step == 0 ? 0 : 2);
      graph.add(rank, size / ranks, 1_us, waits);
    }
  }
  return {std::move(star.network), std::move(graph)};
}

/// Rounds of messages from every node of a torus to all its neighbours. A message waits for those
/// that its sender received in the round before. Sizes differ by up to `spread`, in percent.
inline FlowCase neighbour_exchange(Torus torus, std::uint32_t rounds, std::uint32_t spread) {
  std::mt19937 random(1);
  MessageGraph graph;
  const std::uint32_t ways = 2 * torus.dimensions();
  for (std::uint32_t node = 0; node < torus.nodes(); ++node) {
    for (std::uint32_t way = 0; way < ways; ++way) {
      torus.route(node, torus.neighbour(node, way / 2, way % 2 == 0));
    }
  }
  std::vector<MessageId> after;
  for (std::uint32_t round = 0; round < rounds; ++round) {
    for (std::uint32_t node = 0; node < torus.nodes(); ++node) {
      after.clear();
      for (std::uint32_t way = 0; way < ways && round > 0; ++way) {
        const std::uint32_t from = torus.neighbour(node, way / 2, way % 2 == 0);
        after.push_back(((round - 1) * torus.nodes() + from) * ways + (way ^ 1u));
      }
      for (std::uint32_t way = 0; way < ways; ++way) {
        const auto percent = static_cast<double>(100 + random() % (spread + 1));
        graph.add(node * ways + way, Bytes::from_si(1e4 * percent), 1_us, after);
      }
    }
  }
  return {std::move(torus.network), std::move(graph)};
}

struct FlowShape {
  std::uint32_t links;
  std::uint32_t routes;
  std::uint32_t messages;
  std::uint32_t max_hops;
  std::uint32_t max_after;
  std::uint32_t max_release;  // in microseconds
  std::uint32_t weights;      // how many different ones
  bool round;                 // few sizes and capacities, which make ties
};

inline FlowCase random_flows(std::uint32_t seed, const FlowShape& shape) {
  std::mt19937 random(seed);
  FlowCase flows;
  for (std::uint32_t i = 0; i < shape.links; ++i) {
    const auto gigabytes = shape.round ? 1 + random() % 2 : 1 + random() % 1000;
    flows.network.add_link((shape.round ? 10_GBps : 0.1_GBps) * static_cast<double>(gigabytes));
  }
  for (std::uint32_t i = 0; i < shape.routes; ++i) {
    std::vector<FlowLink> links;
    for (auto hops = random() % (shape.max_hops + 1); hops > 0; --hops) {
      const auto link = static_cast<FlowLink>(random() % shape.links);
      if (std::find(links.begin(), links.end(), link) == links.end()) {
        links.push_back(link);
      }
    }
    flows.network.add_route(links);
  }
  for (std::uint32_t i = 0; i < shape.messages; ++i) {
    std::vector<MessageId> after;
    for (auto count = i == 0 ? 0 : random() % (shape.max_after + 1); count > 0; --count) {
      after.push_back(static_cast<MessageId>(random() % i));
    }
    const auto kilobytes = shape.round ? 1000 * (random() % 4) : random() % 10'000;
    const auto route = static_cast<RouteId>(random() % shape.routes);
    const auto latency = static_cast<double>(random() % 3);
    const auto release = static_cast<double>(random() % (shape.max_release + 1));
    const auto weight = static_cast<double>(1 + random() % shape.weights);
    flows.messages.add(route,
                       Bytes::from_si(1e3 * static_cast<double>(kilobytes)),
                       1_us * latency,
                       after,
                       {.release = 1_us * release, .weight = weight});
  }
  return flows;
}

/// One of many kinds: crowded or spare links, short and long routes, with and without ties.
inline FlowCase random_flows(std::uint32_t seed) {
  std::mt19937 random(seed);
  const auto up_to = [&random](std::uint32_t most) {
    return static_cast<std::uint32_t>(random() % (most + 1));
  };
  FlowShape shape{};
  shape.links = 1 + up_to(19);
  shape.routes = 1 + up_to(29);
  shape.messages = up_to(60);
  shape.max_hops = 1 + up_to(5);
  shape.max_after = up_to(2);
  shape.max_release = up_to(1) * 300;
  shape.weights = 1 + up_to(1) * 4;
  shape.round = up_to(1) == 0;
  return random_flows(seed + 1, shape);
}

}  // namespace titer::testing
