#include "network_transfers.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "titer/collectives/choice.hpp"
#include "titer/cost/group_fabric.hpp"
#include "titer/cost/root_cost.hpp"
#include "titer/cost/sync_cost.hpp"
#include "titer/plan/image_parts.hpp"
#include "titer/plan/place/torus_place.hpp"
#include "titer/units/lists.hpp"

namespace titer {
namespace {

/// Devices and servers, which are on nodes of their own. Throws InputError where the network has no
/// ports for them.
int nodes_of(const Scenario& scenario) {
  const Cluster& cluster = scenario.cluster;
  if (cluster.torus() != nullptr) {
    return 1;
  }
  const int devices = cluster.devices_per_node;
  const auto nodes = static_cast<int>((scenario.plan.devices() + devices - 1) / devices +
                                      scenario.plan.servers.value_or(0));
  if (nodes > 1 && cluster.network_topology && nodes > *cluster.nodes_of_network()) {
    throw InputError(fmt::format(
        "plan.servers: {}: ranks and servers are on {} nodes: expected no more than the "
        "{} that the network of {} has ports for",
        scenario.plan.servers.value_or(0),
        nodes,
        *cluster.nodes_of_network(),
        cluster.name));
  }
  return nodes;
}

/// As a sentence names the groups of a kind.
std::string_view name_of(PlanGroup group) {
  switch (group) {
    case PlanGroup::tensor:
      return "tensor";
    case PlanGroup::context:
    case PlanGroup::context_inner:
    case PlanGroup::context_outer:
      return "context";
    case PlanGroup::pipeline:
      return "pipeline";
    case PlanGroup::stage:
      return "stage";
    case PlanGroup::data:
    case PlanGroup::replicas:
    case PlanGroup::shard:
    case PlanGroup::shard_copies:
      return "data";
    case PlanGroup::expert:
    case PlanGroup::expert_tensor:
    case PlanGroup::all_experts:
      return "expert";
    case PlanGroup::expert_replicas:
    case PlanGroup::expert_shard:
    case PlanGroup::expert_shard_copies:
      return "expert data";
  }
  return "";
}

}  // namespace

NetworkTransfers::NetworkTransfers(const Scenario& scenario, const StepCosts& costs)
    : scenario_(scenario),
      costs_(costs),
      cluster_(on_slice(scenario.cluster, scenario.plan.devices())),
      links_(cluster_, nodes_of(scenario), named_algorithms(scenario)),
      items_(model_items(scenario, costs)),
      clock_(scenario, costs.groups),
      moves_(block_moves(scenario, costs, clock_)) {}

/// Of both ranks of a stage, where two copies of the model go opposite ways.
NetworkTransfers::Groups NetworkTransfers::replica_groups(int rank, PlanGroup group) const {
  Groups groups = groups_of(scenario_.plan, group, rank);
  const int opposite = static_cast<int>(scenario_.plan.pipeline) - 1 - rank;
  if (costs_.placement != Placement::two_ways || opposite == rank) {
    return groups;
  }
  const auto stride = static_cast<int>(group_ranks(scenario_.plan, PlanGroup::pipeline).stride);
  for (std::vector<int>& ranks : groups) {
    const std::size_t own = ranks.size();
    for (std::size_t i = 0; i < own; ++i) {
      ranks.push_back(ranks[i] + (opposite - rank) * stride);
    }
    std::ranges::sort(ranks);
  }
  return groups;
}

NetworkTransfers::Groups NetworkTransfers::end_groups() const {
  Groups groups;
  for (const std::vector<int>& ranks : groups_of(scenario_.plan, PlanGroup::pipeline, 0)) {
    groups.push_back({ranks.front(), ranks.back()});
  }
  return groups;
}

void NetworkTransfers::check_alike(const Groups& groups, std::string_view kind) const {
  const auto counts = [&](const std::vector<int>& group) {
    std::map<int, int> of_node;
    for (const int device : group) {
      ++of_node[device / scenario_.cluster.devices_per_node];
    }
    std::vector<int> sorted = each_of(of_node, [](const auto& one) { return one.second; });
    std::ranges::sort(sorted);
    return sorted;
  };
  const std::vector<int> first = counts(groups.front());
  for (const std::vector<int>& group : groups) {
    if (counts(group) != first) {
      throw InputError(
          fmt::format("plan: the {} groups of rank order {} do not lie alike on nodes of {} "
                      "devices: expected the fidelity closed or event",
                      kind,
                      rank_order_name(scenario_.plan),
                      scenario_.cluster.devices_per_node));
    }
  }
}

const LinkUse& NetworkTransfers::collective(PlanGroup among,
                                            int rank,
                                            Collective kind,
                                            Bytes size) {
  const auto [known, is_new] = known_.try_emplace({among, rank, kind, size.si()});
  if (is_new) {
    const bool synchronises = among == PlanGroup::replicas || among == PlanGroup::stage ||
                              among == PlanGroup::expert_replicas;
    const Groups groups = among == PlanGroup::pipeline ? end_groups()
                          : synchronises               ? replica_groups(rank, among)
                                                       : groups_of(scenario_.plan, among, rank);
    if (groups.front().size() > 1) {
      check_alike(groups, name_of(among));
      known->second = collective_of(among, kind, size, groups);
    }
  }
  return known->second.use;
}

CollectiveUse NetworkTransfers::collective_of(PlanGroup among,
                                              Collective kind,
                                              Bytes size,
                                              const Groups& groups) const {
  if (goes_in_turn(kind)) {
    return {.use = in_turn(among, kind, size, groups), .taken = {}, .by_closed_form = {}};
  }
  if (kind == Collective::send_recv) {
    return {.use = beside(among, size, groups), .taken = {}, .by_closed_form = {}};
  }
  if (cluster_.torus() == nullptr) {
    return links_.of_collective(kind, size, groups);
  }
  if (among != PlanGroup::pipeline) {
    const TorusShape shape = place(scenario_.plan, among, cluster_).group.torus;
    return links_.of_collective(kind, size, groups, shape);
  }
  // The ends of a pipeline are no box: each sends the other all that it has.
  std::vector<Demand> messages;
  for (const std::vector<int>& ends : groups) {
    messages.push_back({.from = ends.front(), .to = ends.back(), .bytes = size});
    messages.push_back({.from = ends.back(), .to = ends.front(), .bytes = size});
  }
  return {.use = links_.of_messages(messages, costs_.embedding_sync),
          .taken = {},
          .by_closed_form = {}};
}

LinkUse NetworkTransfers::in_turn(PlanGroup among,
                                  Collective kind,
                                  Bytes size,
                                  const Groups& groups) const {
  const GroupPlace at = place(scenario_.plan, among, scenario_.cluster);
  const Fabric fabric = group_fabric(scenario_, at);
  const ChainRings rings = chain_rings(kind, size, at.group, fabric);
  const int n = rings.ranks;
  const bool forward = kind == Collective::broadcast;
  const Bytes each = static_cast<double>(n - 1) / (n * rings.count) * size;
  std::vector<Demand> messages;
  for (const std::vector<int>& ranks : groups) {
    const auto rank = [&](int ring, int place) {
      return ranks[static_cast<std::size_t>(rings.member(ring, place))];
    };
    for (int ring = 0; ring < rings.count; ++ring) {
      for (int i = 0; i < n; ++i) {
        const int before = rank(ring, i);
        const int behind = rank(ring, i + 1);
        messages.push_back(
            {.from = forward ? before : behind, .to = forward ? behind : before, .bytes = each});
      }
    }
  }
  return links_.of_messages(messages, exchange_time(kind, size, at.group, fabric));
}

/// Of parts of images, each with those beside it, all at once.
LinkUse NetworkTransfers::beside(PlanGroup among, Bytes size, const Groups& groups) const {
  const Bytes each = size / most_parts_beside(scenario_.plan);
  std::vector<Demand> messages;
  for (const std::vector<int>& ranks : groups) {
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      for (const int other : parts_beside(scenario_.plan, static_cast<int>(i))) {
        messages.push_back(
            {.from = ranks[i], .to = ranks[static_cast<std::size_t>(other)], .bytes = each});
      }
    }
  }
  const GroupPlace at = place(scenario_.plan, among, cluster_);
  return links_.of_messages(messages, neighbour_time(size, at.group, group_fabric(scenario_, at)));
}

/// What the root exchanges with the others in a pass, one after the other.
LinkUse NetworkTransfers::of_root(Pass pass) const {
  const RootMoves root = root_moves(scenario_, costs_);
  std::vector<LinkUse> uses;
  for (const RootMove& of : root.moves) {
    const RootWay way = root_way(of.move.when, pass);
    if (!way.here) {
      continue;
    }
    std::vector<Demand> messages;
    for (int other = 1; other < root.ranks; ++other) {
      messages.push_back(
          {.from = way.to_root ? other : 0, .to = way.to_root ? 0 : other, .bytes = of.size});
    }
    uses.push_back(links_.of_messages(messages, of.time));
  }
  return one_after_the_other(uses);
}
LinkUse NetworkTransfers::of_root(std::span<const Action> passes) const {
  const std::vector<LinkUse> uses =
      each_of(passes, [&](const Action& action) { return of_root(action.pass); });
  return one_after_the_other(uses);
}

/// Each worker's share with each server, over all interfaces of its node; the workers at once.
LinkUse NetworkTransfers::of_servers(const Move& move, const DeviceParameters& parameters) const {
  const Cluster& cluster = scenario_.cluster;
  const auto servers = static_cast<int>(*scenario_.plan.servers);
  const int workers = static_cast<int>(scenario_.plan.data);
  const int first = (workers + cluster.devices_per_node - 1) / cluster.devices_per_node;
  const Bytes part = parameters.total() * move.each / (servers * cluster.nics);
  std::vector<Demand> messages;
  for (int worker = 0; worker < workers; ++worker) {
    for (int server = 0; server < servers; ++server) {
      for (int nic = 0; nic < cluster.nics; ++nic) {
        const int there = links_.nic(first + server, nic);
        const bool pushes = move.when == MoveTime::complete;
        messages.push_back(
            {.from = pushes ? worker : there, .to = pushes ? there : worker, .bytes = part});
      }
    }
  }
  return links_.of_messages(messages, clock_.time(move, parameters));
}

std::vector<TakenAlgorithm> NetworkTransfers::algorithms() const {
  std::map<std::pair<std::string_view, Collective>, TakenAlgorithm> largest;
  for (const auto& [key, found] : known_) {
    const auto& [among, rank, kind, size] = key;
    if (!found.differs()) {
      continue;
    }
    TakenAlgorithm& at = largest[{name_of(among), kind}];
    if (at.size < Bytes::from_si(size)) {
      at = {.group = name_of(among),
            .collective = kind,
            .size = Bytes::from_si(size),
            .taken = found.taken.algorithm->name,
            .time = found.taken.time,
            .by_closed_form = found.by_closed_form.algorithm->name,
            .closed_form_time = found.by_closed_form.time};
    }
  }
  return each_of(largest, [](const auto& one) { return one.second; });
}

}  // namespace titer
