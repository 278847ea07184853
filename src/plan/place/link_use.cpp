#include "titer/plan/place/link_use.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <map>

#include "titer/units/ensure.hpp"
#include "titer/units/lists.hpp"

namespace titer {
namespace {

/// Nodes of the graph: all that the network's topology has ports for.
int graph_nodes(const Cluster& cluster, int nodes) {
  return nodes > 1 && cluster.network_topology ? static_cast<int>(*cluster.nodes_of_network())
                                               : nodes;
}

}  // namespace

Seconds LinkUse::alone() const {
  double most = 1.0;
  for (const auto& [capacity, share] : shares) {
    most = std::max(most, share);
  }
  return most * time;
}

ClusterLinks::ClusterLinks(const Cluster& cluster, int nodes, const NamedAlgorithms& named)
    : cluster_(cluster),
      named_(named),
      nodes_(graph_nodes(cluster, nodes)),
      folded_(!cluster.network_topology && nodes_ > 2),
      router_(router_of(cluster.topology, cluster.graph(folded_ ? 2 : nodes_, 1.0, 1.0))),
      capacities_(capacities(router_.topology())) {
  ensure(nodes_ >= nodes, "the nodes of a cluster have ports");
  ensure(cluster.torus() == nullptr || nodes == 1, "a torus is all the devices there are");
  const Topology& graph = router_.topology();
  const int inside =
      (folded_ ? 2 : nodes_) * (cluster.devices_per_node + cluster.switches_per_node());
  in_node_.resize(capacities_.rates.size(), true);
  for (Lane lane = 0; lane < capacities_.of_lane.size(); ++lane) {
    in_node_[capacities_.of_lane[lane]] =
        lane_begin(graph, lane) < inside && lane_end(graph, lane) < inside;
  }
  if (folded_) {
    fold();
  }
}

void ClusterLinks::fold() {
  const Topology& graph = router_.topology();
  const std::array<int, 3> kinds = {
      cluster_.devices_per_node, cluster_.switches_per_node(), cluster_.nics};
  const auto is_second = [&](int vertex) -> std::optional<bool> {
    for (const int kind : kinds) {
      if (vertex < 2 * kind) {
        return vertex >= kind;
      }
      vertex -= 2 * kind;
    }
    return std::nullopt;
  };
  constexpr auto unknown = std::numeric_limits<std::uint32_t>::max();
  in_fold_.assign(capacities_.rates.size(), {false, unknown});
  std::array<std::uint32_t, 2> links{};
  for (Lane lane = 0; lane < capacities_.of_lane.size(); ++lane) {
    auto& [second, link] = in_fold_[capacities_.of_lane[lane]];
    if (link != unknown) {
      continue;
    }
    const auto begin = is_second(lane_begin(graph, lane));
    const auto end = begin ? begin : is_second(lane_end(graph, lane));
    ensure(end.has_value(), "a wire between nodes joined by one switch belongs to one of them");
    second = *end;
    link = links[second ? 1 : 0]++;
    if (!second) {
      of_link_.push_back(capacities_.of_lane[lane]);
    }
  }
  ensure(links[0] == links[1], "the nodes of a cluster are wired alike");
}

int ClusterLinks::nic(int node, int number) const {
  const int before = cluster_.devices_per_node + cluster_.switches_per_node();
  return nodes_ * before + node * cluster_.nics + number;
}

ClusterLinks::Place ClusterLinks::place(int vertex) const {
  int first = 0;
  for (const int kind : {cluster_.devices_per_node, cluster_.switches_per_node(), cluster_.nics}) {
    if (vertex < nodes_ * kind) {
      return {.node = vertex / kind, .at = first + vertex % kind, .second = kind};
    }
    vertex -= nodes_ * kind;
    first += 2 * kind;
  }
  return {.node = std::nullopt, .at = first + vertex, .second = 0};
}

std::vector<ClusterLinks::Share> ClusterLinks::route(int from, int to) const {
  const Bytes message = 1_GB;
  const std::vector<Bytes> lanes = link_loads(
      router_, {.demands = {{.from = from, .to = to, .bytes = message}}, .exchanges = {}});
  std::vector<Share> shares;
  for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
    if (lanes[lane] > Bytes{}) {
      const auto& [second, link] = in_fold_[capacities_.of_lane[lane]];
      shares.push_back({.of_receiver = second, .link = link, .share = lanes[lane] / message});
    }
  }
  return shares;
}

std::vector<Bytes> ClusterLinks::folded_loads(const std::vector<Demand>& messages) const {
  std::map<std::pair<int, int>, std::vector<Share>> routes;
  std::vector<Bytes> loads(static_cast<std::size_t>(nodes_) * of_link_.size());
  for (const Demand& message : messages) {
    if (message.from == message.to) {
      continue;
    }
    const Place from = place(message.from);
    const Place to = place(message.to);
    const int end = to.at + (from.node == to.node ? 0 : to.second);
    const auto [known, is_new] = routes.try_emplace({from.at, end});
    if (is_new) {
      known->second = route(from.at, end);
    }
    for (const Share& share : known->second) {
      const auto node = static_cast<std::size_t>((share.of_receiver ? to : from).node.value());
      loads[node * of_link_.size() + share.link] += share.share * message.bytes;
    }
  }
  return loads;
}

std::vector<Bytes> ClusterLinks::loads_of(const std::vector<Demand>& messages) const {
  if (folded_) {
    return folded_loads(messages);
  }
  const std::vector<Bytes> lanes = link_loads(router_, {.demands = messages, .exchanges = {}});
  std::vector<Bytes> loads(capacities_.rates.size());
  for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
    loads[capacities_.of_lane[lane]] += lanes[lane];
  }
  return loads;
}

CollectiveUse ClusterLinks::of_collective(Collective collective,
                                          Bytes size,
                                          std::span<const std::vector<int>> groups) const {
  return of_fastest(CollectiveDesk::of_nodes(cluster_, groups, nodes_, named_), collective, size);
}

CollectiveUse ClusterLinks::of_collective(Collective collective,
                                          Bytes size,
                                          std::span<const std::vector<int>> groups,
                                          const TorusShape& shape) const {
  return of_fastest(CollectiveDesk::of_shape(cluster_, groups, shape, named_), collective, size);
}

CollectiveUse ClusterLinks::of_fastest(const CollectiveDesk& desk,
                                       Collective collective,
                                       Bytes size) const {
  const std::vector<TimedAlgorithm> in_turn = desk.contenders(collective, size);
  ensure(!in_turn.empty(), "some algorithm of the collective applies to the group");
  CollectiveUse best;
  Seconds closed;
  for (const auto& [algorithm, time] : in_turn) {
    // Links make nothing faster than its closed form.
    if (best.taken.algorithm != nullptr && time >= best.taken.time) {
      break;
    }
    const CollectiveTraffic traffic = desk.traffic(collective, size, *algorithm);
    LinkUse taken =
        use(traffic.demands, traffic.time, traffic.node_efficiency, traffic.network_efficiency);
    const TimedAlgorithm alone{algorithm, taken.alone()};
    if (best.taken.algorithm == nullptr) {
      closed = taken.time;
      best.by_closed_form = alone;
    } else if (alone.time >= best.taken.time) {
      continue;
    }
    best.taken = alone;
    best.use = std::move(taken);
    best.use.beyond = best.use.time - closed;
  }
  return best;
}

LinkUse ClusterLinks::of_messages(const std::vector<Demand>& messages, Seconds time) const {
  // The protocol for large messages, which has the most of the wire.
  const auto most = [](const std::vector<Protocol>& protocols) {
    double efficiency = protocols.empty() ? 1.0 : 0.0;
    for (const Protocol& protocol : protocols) {
      efficiency = std::max(efficiency, protocol.efficiency);
    }
    return efficiency;
  };
  return use(messages, time, most(cluster_.node_protocols), most(cluster_.network_protocols));
}

LinkUse ClusterLinks::use(const std::vector<Demand>& messages,
                          Seconds time,
                          double node_efficiency,
                          double network_efficiency) const {
  LinkUse use{.time = time};
  if (time <= Seconds{}) {
    return use;
  }
  const std::vector<Bytes> loads = loads_of(messages);
  for (std::uint32_t i = 0; i < loads.size(); ++i) {
    if (loads[i] > Bytes{}) {
      const std::uint32_t capacity = folded_ ? of_link_[i % of_link_.size()] : i;
      const double efficiency = in_node_[capacity] ? node_efficiency : network_efficiency;
      use.shares.emplace_back(i, loads[i] / (efficiency * capacities_.rates[capacity]) / time);
    }
  }
  return use;
}

LinkUse one_after_the_other(std::span<const RepeatedUse> uses) {
  LinkUse sum;
  if (uses.size() == 1) {
    const auto& [count, use] = uses.front();
    return {.time = count * use->time, .beyond = count * use->beyond, .shares = use->shares};
  }
  std::vector<Seconds> busy;  // by link
  for (const auto& [count, use] : uses) {
    sum.time += count * use->time;
    sum.beyond += count * use->beyond;
    if (!use->shares.empty()) {
      busy.resize(std::max<std::size_t>(busy.size(), use->shares.back().first + 1));
    }
    for (const auto& [link, share] : use->shares) {
      busy[link] += share * (count * use->time);
    }
  }
  for (std::uint32_t link = 0; link < busy.size(); ++link) {
    if (busy[link] > Seconds{}) {
      sum.shares.emplace_back(link, busy[link] / sum.time);
    }
  }
  return sum;
}

LinkUse one_after_the_other(std::span<const LinkUse> uses) {
  std::vector<RepeatedUse> once =
      each_of(uses, [](const LinkUse& use) { return RepeatedUse{.count = 1, .use = &use}; });
  return one_after_the_other(once);
}

}  // namespace titer
