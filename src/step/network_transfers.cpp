#include "network_transfers.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace titer {
namespace {

/// So many of the same, one after the other.
LinkUse times(double count, LinkUse use) {
  use.time = count * use.time;
  return use;
}

/// What one of two that do a transfer together takes of it.
LinkUse half(LinkUse use) {
  for (auto& [link, share] : use.shares) {
    share /= 2;
  }
  return use;
}

/// Transfers of a kind and size, and how many of them there are.
using TransferCounts = std::map<std::pair<Collective, double>, double>;

void add(const Transfer& transfer, double count, TransferCounts& counts) {
  if (transfer.exists()) {
    counts[{transfer.kind, transfer.size.si()}] += count;
  }
}

bool repeats(const Operation& op, Recompute recompute) {
  return recompute == Recompute::full || (recompute == Recompute::selective && op.core_attention);
}

/// The transfers of an operation in a pass; those of block_cost(), and of what the pass recomputes.
void add_operation(
    const Operation& op, Pass pass, bool repeated, double count, TransferCounts& counts) {
  // Without a gradient of its input, an operation gathers only what its weights need.
  const Pass part = op.input_gradient.exists() ? Pass::input_gradient : Pass::weight_gradient;
  if (pass == Pass::forward) {
    add(op.forward_transfer, count, counts);
  }
  if (pass == Pass::backward || pass == part) {
    add(op.backward_transfer, count, counts);
  }
  if (pass == Pass::backward || pass == Pass::weight_gradient) {
    add(op.regather_transfer, count, counts);
  }
  if (repeated && sends_gradient(pass)) {
    add(op.forward_transfer, count, counts);
  }
}

}  // namespace

NetworkTransfers::NetworkTransfers(const Scenario& scenario, const StepCosts& costs)
    : scenario_(scenario),
      costs_(costs),
      links_(scenario.cluster,
             static_cast<int>((scenario.plan.devices() + scenario.cluster.devices_per_node - 1) /
                              scenario.cluster.devices_per_node)) {}

int NetworkTransfers::device(int rank, int tensor, int data) const {
  std::int64_t stride = 1;
  std::int64_t device = 0;
  for (const Dimension dimension : scenario_.plan.rank_order) {
    const int own = dimension == Dimension::tensor ? tensor
                    : dimension == Dimension::data ? data
                                                   : rank;
    device += own * stride;
    stride *= scenario_.plan.degree(dimension);
  }
  return static_cast<int>(device);
}

NetworkTransfers::Groups NetworkTransfers::tensor_groups(int rank) const {
  Groups groups(static_cast<std::size_t>(scenario_.plan.data));
  for (int d = 0; d < static_cast<int>(scenario_.plan.data); ++d) {
    for (int t = 0; t < static_cast<int>(scenario_.plan.tensor); ++t) {
      groups[static_cast<std::size_t>(d)].push_back(device(rank, t, d));
    }
  }
  return groups;
}

NetworkTransfers::Groups NetworkTransfers::data_groups(int rank) const {
  Groups groups(static_cast<std::size_t>(scenario_.plan.tensor));
  const int opposite = static_cast<int>(scenario_.plan.pipeline) - 1 - rank;
  for (int t = 0; t < static_cast<int>(scenario_.plan.tensor); ++t) {
    std::vector<int>& group = groups[static_cast<std::size_t>(t)];
    for (int d = 0; d < static_cast<int>(scenario_.plan.data); ++d) {
      group.push_back(device(rank, t, d));
      if (costs_.placement == Placement::two_ways && opposite != rank) {
        group.push_back(device(opposite, t, d));
      }
    }
    std::sort(group.begin(), group.end());
  }
  return groups;
}

NetworkTransfers::Groups NetworkTransfers::end_groups() const {
  Groups groups;
  const int last = static_cast<int>(scenario_.plan.pipeline) - 1;
  for (int t = 0; t < static_cast<int>(scenario_.plan.tensor); ++t) {
    for (int d = 0; d < static_cast<int>(scenario_.plan.data); ++d) {
      groups.push_back({device(0, t, d), device(last, t, d)});
    }
  }
  return groups;
}

void NetworkTransfers::check_alike(const Groups& groups, std::string_view dimension) const {
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
                      dimension,
                      rank_order_name(scenario_.plan),
                      scenario_.cluster.devices_per_node));
    }
  }
}

const LinkUse& NetworkTransfers::collective(Among among, int rank, Collective kind, Bytes size) {
  const auto [known, is_new] = known_.try_emplace({among, rank, kind, size.si()});
  if (is_new) {
    const Groups groups = among == Among::tensor ? tensor_groups(rank)
                          : among == Among::data ? data_groups(rank)
                                                 : end_groups();
    if (groups.front().size() > 1) {
      check_alike(groups,
                  among == Among::tensor ? "tensor"
                  : among == Among::data ? "data"
                                         : "pipeline");
      known->second = links_.of_collective(kind, size, groups);
    }
  }
  return known->second;
}

LinkUse NetworkTransfers::of_passes(int rank, std::span<const Action> passes) {
  TransferCounts counts;
  for (const Action& action : passes) {
    const int stage =
        stage_of(costs_.placement, {.rank = rank, .chunk = action.chunk}, costs_.shape);
    const auto add_block = [&](const OperationList& block, double count, Recompute recompute) {
      for (const Operation& op : block) {
        add_operation(op, action.pass, repeats(op, recompute), count, counts);
      }
    };
    add_block(costs_.operations.layer,
              costs_.layers[static_cast<std::size_t>(stage)],
              scenario_.plan.recompute);
    if (stage == 0) {
      add_block(costs_.operations.embedding, 1, Recompute::none);
    }
    if (stage == costs_.stages - 1) {
      add_block(costs_.operations.head, 1, Recompute::none);
    }
  }
  std::vector<LinkUse> uses;
  for (const auto& [transfer, count] : counts) {
    uses.push_back(times(
        count, collective(Among::tensor, rank, transfer.first, Bytes::from_si(transfer.second))));
  }
  return one_after_the_other(uses);
}

LinkUse NetworkTransfers::of_data(int rank, const Instruction& instruction) {
  const Training& training = scenario_.training;
  const bool sharded = scenario_.plan.sharding == Sharding::zero1;
  const double parameters = instruction.bucket
                                ? costs_
                                      .buckets[static_cast<std::size_t>(*instruction.stage)]
                                              [static_cast<std::size_t>(*instruction.bucket)]
                                      .parameters
                                : rank_parameters(scenario_.model, scenario_.plan, rank);
  const Bytes each = size_of(instruction.gathers ? training.precision : scenario_.gradient_type());
  const Collective kind = instruction.gathers ? Collective::all_gather
                          : sharded           ? Collective::reduce_scatter
                                              : Collective::all_reduce;
  const LinkUse& use = collective(Among::data, rank, kind, parameters * each);
  return costs_.placement == Placement::two_ways ? half(use) : use;
}

LinkUse NetworkTransfers::of_send(int rank, bool onward) {
  const auto p = static_cast<int>(scenario_.plan.pipeline);
  const int to = (rank + (onward ? 1 : p - 1)) % p;
  std::vector<Demand> messages;
  for (int t = 0; t < static_cast<int>(scenario_.plan.tensor); ++t) {
    for (int d = 0; d < static_cast<int>(scenario_.plan.data); ++d) {
      messages.push_back({.from = device(rank, t, d),
                          .to = device(to, t, d),
                          .bytes = stage_message(scenario_).size});
    }
  }
  const Seconds time = costs_.send[static_cast<std::size_t>(onward ? rank : to)];
  std::vector<LinkUse> uses = {links_.of_messages(messages, time)};
  if (stage_message(scenario_).regathered) {
    uses.push_back(
        collective(Among::tensor, to, Collective::all_gather, boundary_bytes(scenario_)));
  }
  return one_after_the_other(uses);
}

LinkUse NetworkTransfers::of_ends() {
  const double table =
      static_cast<double>(embedding_parameters(scenario_.model, scenario_.plan.tensor).split) /
      static_cast<double>(scenario_.plan.tensor);
  return half(collective(
      Among::ends, 0, Collective::all_reduce, table * size_of(scenario_.gradient_type())));
}

}  // namespace titer
