#include "network_transfers.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "group_fabric.hpp"
#include "sync_cost.hpp"

namespace titer {
namespace {

/// So many of the same, one after the other.
LinkUse times(double count, LinkUse use) {
  use.time = count * use.time;
  use.beyond = count * use.beyond;
  return use;
}

/// What one of two that do a transfer together takes of it.
LinkUse half(LinkUse use) {
  for (auto& [link, share] : use.shares) {
    share /= 2;
  }
  return use;
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

/// Transfers of a kind and size among some ranks, and how many of them there are.
using TransferCounts = std::map<std::tuple<LayerGroup, Collective, double>, double>;

void add(const PassItems& items, double count, TransferCounts& counts) {
  for (const PassItem& item : items) {
    if (item.is_transfer()) {
      counts[{item.transfer.group, item.whole, item.transfer.size.si()}] += count * item.share;
    }
  }
}

}  // namespace

NetworkTransfers::NetworkTransfers(const Scenario& scenario, const StepCosts& costs)
    : scenario_(scenario),
      costs_(costs),
      links_(scenario.cluster,
             static_cast<int>((scenario.plan.devices() + scenario.cluster.devices_per_node - 1) /
                              scenario.cluster.devices_per_node),
             named_algorithms(scenario)),
      items_(model_items(scenario, costs)) {
  if (scenario.cuts_images()) {
    throw InputError(
        "plan.tensor: expected a plan that does not cut images: parts that neighbours send one "
        "another are not followed on links yet");
  }
  if (const auto refused = refused_sharding(scenario.plan)) {
    throw InputError("plan.sharding: " + *refused + ": expected the fidelity closed or event");
  }
}

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
    std::sort(ranks.begin(), ranks.end());
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
    std::vector<int> sorted;
    sorted.reserve(of_node.size());
    for (const auto& [node, count] : of_node) {
      sorted.push_back(count);
    }
    std::sort(sorted.begin(), sorted.end());
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
    const bool synchronises = among == PlanGroup::replicas || among == PlanGroup::expert_replicas;
    const Groups groups = among == PlanGroup::pipeline ? end_groups()
                          : synchronises               ? replica_groups(rank, among)
                                                       : groups_of(scenario_.plan, among, rank);
    if (groups.front().size() > 1) {
      check_alike(groups, name_of(among));
      known->second = links_.of_collective(kind, size, groups);
    }
  }
  return known->second.use;
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
  std::vector<TakenAlgorithm> list;
  list.reserve(largest.size());
  for (const auto& [kind, taken] : largest) {
    list.push_back(taken);
  }
  return list;
}

LinkUse NetworkTransfers::of_passes(int rank, std::span<const Action> passes, PassComm comm) {
  TransferCounts counts;
  for (const Action& action : passes) {
    const int stage =
        stage_of(costs_.placement, {.rank = rank, .chunk = action.chunk}, costs_.shape);
    const auto add_block = [&](const BlockItems& block, double count) {
      add(block.of(action.pass), count, counts);
      if (sends_gradient(action.pass)) {
        add(block.recompute, count, counts);
      }
    };
    const std::span<const double> kinds = costs_.contents.kinds(stage);
    for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
      add_block(items_.kinds[kind], kinds[kind]);
    }
    if (stage == 0) {
      add_block(items_.embedding, 1);
    }
    if (stage == costs_.stages - 1) {
      add_block(items_.head, 1);
    }
  }
  std::vector<LinkUse> uses;
  for (const auto& [transfer, count] : counts) {
    const auto& [group, kind, size] = transfer;
    if (comm_of(group) == comm) {
      uses.push_back(times(count, collective(plan_group(group), rank, kind, Bytes::from_si(size))));
    }
  }
  return one_after_the_other(uses);
}

LinkUse NetworkTransfers::of_data(int rank, const Instruction& instruction) {
  const Training& training = scenario_.training;
  const DeviceParameters parameters =
      instruction.bucket ? costs_
                               .buckets[static_cast<std::size_t>(*instruction.stage)]
                                       [static_cast<std::size_t>(*instruction.bucket)]
                               .parameters
                         : rank_parameters(costs_.blocks, costs_.contents, scenario_.plan, rank);
  const Bytes each =
      size_of(instruction.gathers ? training.weight_type() : scenario_.gradient_type());
  const Collective kind = instruction.gathers ? Collective::all_gather
                                              : collective_of(scenario_.plan.gradient_exchange());
  const bool experts = instruction.affected == Affected::experts;
  const LinkUse& use = collective(experts ? PlanGroup::expert_replicas : PlanGroup::replicas,
                                  rank,
                                  kind,
                                  (experts ? parameters.experts : parameters.dense) * each);
  return costs_.placement == Placement::two_ways ? half(use) : use;
}

LinkUse NetworkTransfers::of_send(int rank, bool onward) {
  const auto p = static_cast<int>(scenario_.plan.pipeline);
  const int to = (rank + (onward ? 1 : p - 1)) % p;
  const auto stride = static_cast<int>(group_ranks(scenario_.plan, PlanGroup::pipeline).stride);
  std::vector<Demand> messages;
  for (const std::vector<int>& ranks : groups_of(scenario_.plan, PlanGroup::pipeline, 0)) {
    messages.push_back({.from = ranks.front() + rank * stride,
                        .to = ranks.front() + to * stride,
                        .bytes = stage_message(scenario_, costs_.blocks).size});
  }
  const Seconds time = costs_.send[static_cast<std::size_t>(onward ? rank : to)];
  std::vector<LinkUse> uses = {links_.of_messages(messages, time)};
  if (stage_message(scenario_, costs_.blocks).regathered) {
    uses.push_back(
        collective(PlanGroup::tensor, to, Collective::all_gather, boundary_bytes(costs_.blocks)));
  }
  return one_after_the_other(uses);
}

LinkUse NetworkTransfers::of_ends() {
  return half(collective(PlanGroup::pipeline,
                         0,
                         Collective::all_reduce,
                         token_table_gradient(scenario_, costs_.blocks)));
}

}  // namespace titer
