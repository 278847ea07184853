#include "titer/plan/place/collective_query.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "titer/input/reader.hpp"
#include "titer/units/ensure.hpp"

namespace titer {
namespace {

/// The only protocol of a channel that is left when one is picked; none of one that has none.
Channel only(const Channel& channel, std::size_t protocol) {
  const auto links = channel.links();
  return links.empty() ? Channel{} : Channel(links[std::min(protocol, links.size() - 1)]);
}

/// An algorithm uses the fabric of a tier, or the switches of it that add, not both.
Fabric with_protocols(const Fabric& fabric, std::size_t node, std::size_t network) {
  return {.node = only(fabric.node, node),
          .network = only(fabric.network, network),
          .pair = only(fabric.pair, node),
          .exchange = only(fabric.exchange, node),
          .node_switch = only(fabric.node_switch, node),
          .network_switch = only(fabric.network_switch, network),
          .wire = only(fabric.wire, node),
          .host = fabric.host};
}

Channel without_own_share(const Channel& channel) {
  Channel plain;
  for (Link link : channel.links()) {
    link.own_share = 0.0;
    plain.add(link);
  }
  return plain;
}

/// What the ranks' own shares add to the time of messages: no message carries them.
Seconds own_share_time(const AlgorithmEntry& algorithm,
                       Bytes size,
                       const Group& group,
                       const Fabric& fabric) {
  Fabric plain = fabric;
  for (Channel* channel :
       {&plain.node, &plain.network, &plain.pair, &plain.exchange, &plain.wire}) {
    *channel = without_own_share(*channel);
  }
  return algorithm.time(size, group, fabric) - algorithm.time(size, group, plain);
}

/// Whether the algorithm cannot do without one of the fabric's ways.
bool needs(const AlgorithmEntry& algorithm, const DeviceGroup& group, Channel Fabric::*way) {
  Fabric without = group.fabric;
  without.*way = {};
  return !algorithm.applies(group.group, without);
}

/// What the messages of an all-to-all that is one exchange cost at most before their bytes.
Link exchange_link(const AlgorithmEntry& algorithm,
                   const DeviceGroup& group,
                   const Fabric& fabric) {
  const Link link = fabric.at(group.group.exchange_tier()).links().front();
  if (!needs(algorithm, group, &Fabric::exchange)) {
    return link;
  }
  const Link inside = fabric.exchange.links().front();
  return inside.startup + inside.latency > link.startup + link.latency ? inside : link;
}

void check_apart(const std::vector<DeviceGroup>& groups) {
  std::set<int> taken;
  for (const DeviceGroup& group : groups) {
    for (const int device : group.devices) {
      if (!taken.insert(device).second) {
        throw InputError(fmt::format("ranks: device {} is in two groups", device));
      }
    }
  }
}

void check_alike(const Group& group, const Group& first) {
  if (group.per_node != first.per_node || group.nodes != first.nodes ||
      group.torus != first.torus) {
    throw InputError(
        "ranks: groups that run at once must be alike: the same number of ranks on the same "
        "number of nodes each");
  }
}

}  // namespace

CollectiveDesk::CollectiveDesk(const Cluster& cluster,
                               std::span<const std::vector<int>> groups,
                               int servers)
    : cluster_(cluster), servers_(servers) {
  ensure(!groups.empty(), "a collective is asked of one group or more");
  const GroupsOfNodes at_once =
      cluster.nodes_are_trees() ? groups_of_nodes(cluster, groups) : GroupsOfNodes{};
  for (const std::vector<int>& devices : groups) {
    groups_.push_back(group_devices(cluster, devices, at_once));
    nodes_ = std::max(nodes_, groups_.back().last_node(cluster) + 1);
  }
  check_apart(groups_);
  if (servers > 0) {
    add_servers();
  }
  for (const DeviceGroup& group : groups_) {
    check_alike(group.group, groups_.front().group);
  }
  if (cluster.network_topology && nodes_ > 1) {
    const auto most = static_cast<int>(*cluster.nodes_of_network());
    if (nodes_ > most) {
      throw InputError(fmt::format("{} nodes are in use, but the network of {} has ports for {}",
                                   nodes_,
                                   cluster.name,
                                   most));
    }
    nodes_ = most;
  }
}

CollectiveDesk CollectiveDesk::of_nodes(const Cluster& cluster,
                                        std::span<const std::vector<int>> groups,
                                        int nodes,
                                        const NamedAlgorithms& named) {
  CollectiveDesk desk(cluster, groups);
  ensure(nodes >= desk.nodes_, "the groups of a desk are on its nodes");
  desk.nodes_ = nodes;
  for (DeviceGroup& group : desk.groups_) {
    group.fabric.named = named;
  }
  return desk;
}

CollectiveDesk CollectiveDesk::of_shape(const Cluster& cluster,
                                        std::span<const std::vector<int>> groups,
                                        const TorusShape& shape,
                                        const NamedAlgorithms& named) {
  CollectiveDesk desk = of_nodes(cluster, groups, 1, named);
  for (DeviceGroup& group : desk.groups_) {
    ensure(group.group.torus.ranks() == shape.ranks(), "groups on a torus are of their shape");
    group.group.torus = shape;
  }
  return desk;
}

void CollectiveDesk::add_servers() {
  if (cluster_.network_protocols.empty()) {
    throw InputError("servers: parameter servers are on nodes of their own, and " + cluster_.name +
                     " has no network between nodes");
  }
  nodes_ += servers_ * static_cast<int>(groups_.size());
  if (cluster_.nodes && nodes_ > *cluster_.nodes) {
    throw InputError(fmt::format("servers: ranks and servers take {} nodes, but {} has {}",
                                 nodes_,
                                 cluster_.name,
                                 *cluster_.nodes));
  }
  for (DeviceGroup& group : groups_) {
    if (group.group.nodes == 1) {  // which would let its servers into the node
      send_through_network(cluster_, group, "the servers are on nodes of their own");
    }
    group.group.servers = servers_;
  }
}

CollectiveDesk::Protocols CollectiveDesk::best_protocols(const AlgorithmEntry& algorithm,
                                                         Bytes size) const {
  Protocols best;
  const bool node_adds = needs(algorithm, group(), &Fabric::node_switch);
  const bool network_adds = needs(algorithm, group(), &Fabric::network_switch);
  const bool to_peers =
      !cluster_.peer_protocols.empty() &&
      (needs(algorithm, group(), &Fabric::exchange) || needs(algorithm, group(), &Fabric::pair));
  best.of_node = node_adds  ? &cluster_.node_switch_protocols
                 : to_peers ? &cluster_.peer_protocols
                            : &cluster_.node_protocols;
  best.exchanges_on_wires =
      algorithm.collective == Collective::all_to_all && needs(algorithm, group(), &Fabric::wire);
  best.of_network = network_adds ? &cluster_.network_switch_protocols : &cluster_.network_protocols;
  std::optional<Seconds> least;
  const std::size_t nodes = std::max<std::size_t>(best.of_node->size(), 1);
  const std::size_t networks = std::max<std::size_t>(best.of_network->size(), 1);
  for (std::size_t node = 0; node < nodes; ++node) {
    for (std::size_t network = 0; network < networks; ++network) {
      const Seconds time =
          algorithm.time(size, group().group, with_protocols(group().fabric, node, network));
      if (!least || time < *least) {
        least = time;
        best.node = node;
        best.network = network;
      }
    }
  }
  return best;
}

double CollectiveDesk::Protocols::node_efficiency() const {
  if (of_node->empty()) {
    return 1.0;
  }
  const Protocol& protocol = (*of_node)[node];
  return protocol.efficiency * (exchanges_on_wires ? protocol.exchange_share : 1.0);
}

double CollectiveDesk::Protocols::network_efficiency() const {
  return of_network->empty() ? 1.0 : (*of_network)[network].efficiency;
}

Router& CollectiveDesk::router(const Protocols& protocols) {
  const double node = protocols.node_efficiency();
  const double network = protocols.network_efficiency();
  for (KeptRouter& kept : routers_) {
    if (kept.node_efficiency == node && kept.network_efficiency == network) {
      return kept.router;
    }
  }
  routers_.push_back(
      {node, network, router_of(cluster_.topology, cluster_.graph(nodes_, node, network))});
  return routers_.back().router;
}

PlacedSteps CollectiveDesk::place(const Steps& steps, const DeviceGroup& group) const {
  PlacedSteps placed{.steps = &steps, .ranks = group.devices, .helpers = {}, .host = std::nullopt};
  const int node = group.devices.front() / cluster_.devices_per_node;
  const int devices = nodes_ * cluster_.devices_per_node;
  const int node_switches = cluster_.switches_per_node();
  if (cluster_.host_path) {
    placed.host = devices + (node + 1) * node_switches - 1;
  }
  // A helper that ranks reach inside a node is a switch of that node.
  std::vector<std::optional<int>> inside(static_cast<std::size_t>(steps.helpers()));
  for (std::size_t i = 0; !inside.empty() && i < steps.size(); ++i) {
    const Message& message = steps.message(i);
    if (message.tier == Tier::node_switch && message.to >= steps.ranks()) {
      inside[static_cast<std::size_t>(message.to - steps.ranks())] =
          group.devices[static_cast<std::size_t>(message.from)] / cluster_.devices_per_node;
    }
  }
  const auto number = static_cast<int>(&group - groups_.data());
  for (int helper = 0; helper < steps.helpers(); ++helper) {
    const std::optional<int> home = inside[static_cast<std::size_t>(helper)];
    if (home) {
      placed.helpers.push_back(devices + *home * node_switches);
    } else if (servers_ > 0) {
      // Server i of a group is the first device of a node after those of the ranks.
      const int used = nodes_ - servers_ * static_cast<int>(groups_.size());
      placed.helpers.push_back((used + number * servers_ + helper) * cluster_.devices_per_node);
    } else {
      placed.helpers.push_back(cluster_.top_of_network(nodes_));
    }
  }
  return placed;
}

std::vector<PlacedSteps> CollectiveDesk::place_all(const CollectiveQuery& query,
                                                   const AlgorithmEntry& algorithm,
                                                   const Protocols& protocols,
                                                   std::vector<Steps>& steps) const {
  // Groups are alike, but for the rings and trees on their wires.
  const bool each = group().group.wiring != nullptr;
  for (const DeviceGroup& group : groups_) {
    if (steps.empty() || each) {
      const Fabric own = with_protocols(group.fabric, protocols.node, protocols.network);
      steps.push_back(algorithm.steps(query.size, group.group, own));
    }
  }
  std::vector<PlacedSteps> placed;
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    placed.push_back(place(steps[each ? i : 0], groups_[i]));
  }
  return placed;
}

Execution CollectiveDesk::execute(const CollectiveQuery& query,
                                  const AlgorithmEntry& algorithm,
                                  const Protocols& protocols) {
  const Fabric fabric = with_protocols(group().fabric, protocols.node, protocols.network);
  Router& routes = router(protocols);
  if (query.fidelity == NetworkFidelity::busiest && algorithm.one_exchange && groups_.size() == 1) {
    const Link link = exchange_link(algorithm, group(), fabric);
    return execute_exchange(query.size, group().devices, routes, link);
  }
  std::vector<Steps> steps;
  const std::vector<PlacedSteps> placed = place_all(query, algorithm, protocols, steps);
  return query.fidelity == NetworkFidelity::busiest ? execute_by_rounds(placed, routes, fabric)
                                                    : execute_as_flows(placed, routes, fabric);
}

Seconds CollectiveDesk::closed_time(const AlgorithmEntry& algorithm, Bytes size) const {
  Seconds slowest;
  for (const DeviceGroup& group : groups_) {
    if (!algorithm.applies(group.group, group.fabric)) {
      throw InputError(fmt::format("algorithm {}: it needs {}, which the group of device {} is not",
                                   algorithm.name,
                                   algorithm.needs,
                                   group.devices.front()));
    }
    slowest = std::max(slowest, algorithm.time(size, group.group, group.fabric));
  }
  return slowest;
}

CollectiveTraffic CollectiveDesk::traffic(Collective collective,
                                          Bytes size,
                                          const AlgorithmEntry& algorithm) const {
  const CollectiveQuery query{
      .collective = collective, .size = size, .algorithm = {}, .fidelity = NetworkFidelity::closed};
  const Protocols protocols = best_protocols(algorithm, size);
  std::vector<Steps> steps;
  return {.time = closed_time(algorithm, size),
          .demands = demands_of(place_all(query, algorithm, protocols, steps)),
          .node_efficiency = protocols.node_efficiency(),
          .network_efficiency = protocols.network_efficiency()};
}

CollectiveAnswer CollectiveDesk::answer_by(const AlgorithmEntry& algorithm,
                                           const CollectiveQuery& query) {
  CollectiveAnswer answer;
  const Protocols protocols = best_protocols(algorithm, query.size);
  answer.algorithm = &algorithm;
  answer.closed_time = closed_time(algorithm, query.size);
  answer.time = answer.closed_time;
  if (group().group.per_node > 1 && !protocols.of_node->empty()) {
    const Protocol& protocol = (*protocols.of_node)[protocols.node];
    answer.protocols.node = protocol.name;
    answer.grade = std::max(answer.grade, protocol.grade);
  }
  if (group().group.nodes > 1) {
    const Protocol& protocol = (*protocols.of_network)[protocols.network];
    answer.protocols.network = protocol.name;
    answer.grade = std::max(answer.grade, protocol.grade);
  }
  if (query.fidelity != NetworkFidelity::closed) {
    answer.execution = execute(query, algorithm, protocols);
    const Fabric fabric = with_protocols(group().fabric, protocols.node, protocols.network);
    answer.time =
        answer.execution->time + own_share_time(algorithm, query.size, group().group, fabric);
    if (answer.execution->busiest) {
      const Topology& graph = router(protocols).topology();
      const Lane lane = answer.execution->busiest->lane;
      answer.busiest =
          graph.label(lane_begin(graph, lane)) + " to " + graph.label(lane_end(graph, lane));
    }
  }
  return answer;
}

BytesPerSecond CollectiveDesk::bus_bandwidth(Collective collective,
                                             Bytes size,
                                             Seconds time) const {
  return titer::bus_bandwidth(collective, size, group().group.ranks(), time);
}

}  // namespace titer
