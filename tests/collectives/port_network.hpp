#pragma once
// The messages of a collective on the flow engine, over the ports that its formula counts on.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "titer/collectives/steps.hpp"
#include "titer/engine/flow_engine.hpp"

namespace titer {

/// Every rank and every server has, for each tier, a port to send and one to receive; a wire is a
/// link of its own for every two ranks and lane. A switch has no port: it is as wide as the ranks
/// that it serves.
class PortNetwork {
 public:
  PortNetwork(const Steps& steps, const Fabric& fabric) : steps_(steps), fabric_(fabric) {}

  [[nodiscard]] FlowTimeline run() {
    const RouteId nowhere = network_.add_route({});
    MessageGraph graph;
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      const Message& message = steps_.message(i);
      if (message.is_join()) {
        graph.add(nowhere, Bytes{}, Seconds{}, steps_.after(i));
      } else {
        graph.add(
            route(message), message.size, message.hops * link(message).latency, steps_.after(i));
      }
    }
    return titer::run(network_, graph);
  }

 private:
  using Key = std::tuple<std::int32_t, std::int32_t, Tier, std::uint16_t>;

  [[nodiscard]] const Link& link(const Message& message) const {
    return fabric_.at(message.tier).links()[0];
  }

  FlowLink port(std::int32_t from, std::int32_t to, const Message& message) {
    const auto [found, is_new] =
        ports_.try_emplace(Key{from, to, message.tier, message.lane}, FlowLink{});
    if (is_new) {
      found->second = network_.add_link(link(message).bandwidth);
    }
    return found->second;
  }

  RouteId route(const Message& message) {
    const auto [found, is_new] =
        routes_.try_emplace(Key{message.from, message.to, message.tier, message.lane}, RouteId{});
    if (is_new) {
      found->second = network_.add_route(links(message));
    }
    return found->second;
  }

  std::vector<FlowLink> links(const Message& message) {
    if (message.tier == Tier::wire) {
      return {port(message.from, message.to, message)};
    }
    const bool to_switch =
        message.tier == Tier::node_switch || message.tier == Tier::network_switch;
    const auto has_port = [&](std::int32_t vertex) {
      return !to_switch || vertex < steps_.ranks();
    };
    std::vector<FlowLink> links;
    if (has_port(message.from)) {
      links.push_back(port(message.from, kAny, message));
    }
    if (has_port(message.to)) {
      links.push_back(port(kAny, message.to, message));
    }
    return links;
  }

  static constexpr std::int32_t kAny = -1;

  const Steps& steps_;
  const Fabric& fabric_;
  FlowNetwork network_;
  std::map<Key, FlowLink> ports_;
  std::map<Key, RouteId> routes_;
};

/// The most messages that wait for one another in a row.
inline int longest_chain(const Steps& steps) {
  std::vector<int> depth(steps.size(), 1);
  int longest = 0;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    for (const std::uint32_t before : steps.after(i)) {
      depth[i] = std::max(depth[i], 1 + depth[before]);
    }
    longest = std::max(longest, depth[i]);
  }
  return longest;
}

}  // namespace titer
