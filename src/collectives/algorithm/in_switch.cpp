#include "titer/collectives/algorithm/in_switch.hpp"

#include <cstddef>
#include <utility>
#include <vector>

#include "titer/collectives/algorithm/in_switch_hierarchical.hpp"
#include "titer/collectives/algorithm/ring.hpp"

namespace titer {

namespace {

/// Ranks that a switch joins, each with what it owns of block 0, and the switch: a helper.
/// The pieces of block b lie b * apart further on.
struct SharedSwitch {
  Ring members;
  int helper = 0;
  Tier tier = Tier::node_switch;
  int blocks = 1;
  int apart = 1;

  [[nodiscard]] Run in_block(Run run, int b) const { return {run.first + b * apart, run.count}; }
};

/// What the members but i own, in block b.
std::vector<Run> owned_by_others(const SharedSwitch& node, std::size_t i, int b) {
  std::vector<Run> runs;
  for (std::size_t other = 0; other < node.members.size(); ++other) {
    if (other != i) {
      runs.push_back(node.in_block(node.members[other].block, b));
    }
  }
  return runs;
}

Message up(const SharedSwitch& node, std::size_t i, Arrival arrival) {
  return {.from = node.members[i].rank, .to = node.helper, .tier = node.tier, .arrival = arrival};
}

Message down(const SharedSwitch& node, std::size_t i, Arrival arrival) {
  return {.from = node.helper, .to = node.members[i].rank, .tier = node.tier, .arrival = arrival};
}

/// Calls go_up(block) and come_down(block) in blocks + 1 rounds, coming down one round later.
template <class Up, class Down>
void in_blocks(Script& script, int blocks, Up go_up, Down come_down) {
  for (int round = 0; round <= blocks; ++round) {
    if (round < blocks) {
      go_up(round);
    }
    if (round > 0) {
      come_down(round - 1);
    }
    script.next_round();
  }
}

/// In every block each member i sends `out(i, block)` up, and gets `back(i, block)`.
template <class Out, class Back>
void exchange(Script& script,
              const SharedSwitch& node,
              std::pair<Arrival, Out> out,
              std::pair<Arrival, Back> back) {
  in_blocks(
      script,
      node.blocks,
      [&](int b) {
        for (std::size_t i = 0; i < node.members.size(); ++i) {
          script.send(up(node, i, out.first), out.second(i, b));
        }
      },
      [&](int b) {
        for (std::size_t i = 0; i < node.members.size(); ++i) {
          script.send(down(node, i, back.first), back.second(i, b));
        }
      });
}

/// The members' pieces `run` (in block 0) are added up and given to all.
void all_reduce(Script& script, const SharedSwitch& node, Run run) {
  const auto all = [&](std::size_t /*i*/, int b) { return node.in_block(run, b); };
  exchange(script, node, std::pair{Arrival::add, all}, std::pair{Arrival::replace, all});
}

/// What member i owns, and what the others do.
auto owned_in(const SharedSwitch& node) {
  return [&node](std::size_t i, int b) { return node.in_block(node.members[i].block, b); };
}
auto others_in(const SharedSwitch& node) {
  return [&node](std::size_t i, int b) { return owned_by_others(node, i, b); };
}

void all_gather(Script& script, const SharedSwitch& node) {
  exchange(script,
           node,
           std::pair{Arrival::replace, owned_in(node)},
           std::pair{Arrival::replace, others_in(node)});
}

void reduce_scatter(Script& script, const SharedSwitch& node) {
  exchange(script,
           node,
           std::pair{Arrival::add, others_in(node)},
           std::pair{Arrival::add, owned_in(node)});
}

/// All ranks at one switch, the first helper, each with its home piece of every block.
SharedSwitch one_switch(const Group& group, Tier tier, int blocks, int apart) {
  SharedSwitch node{
      .members = {}, .helper = group.ranks(), .tier = tier, .blocks = blocks, .apart = apart};
  for (int rank = 0; rank < group.ranks(); ++rank) {
    node.members.push_back({.rank = rank, .block = {home_piece(rank, group), 1}});
  }
  return node;
}

Steps none() { return Steps(1, Bytes{}, 1); }

Steps switched_all_reduce(Bytes size, const Group& group, Tier tier, const Channel& channel) {
  if (group.ranks() == 1) {
    return none();
  }
  const int k = switch_plan(size, size, channel).blocks;
  Script script(Steps(group.ranks(), size, k, 1));
  all_reduce(script, one_switch(group, tier, k, 1), Run{0, 1});
  return script.take();
}

using SwitchPhase = void (*)(Script&, const SharedSwitch&);

Steps switched_shares(Bytes size, const Group& group, const Fabric& fabric, SwitchPhase phase) {
  const int n = group.ranks();
  if (n == 1) {
    return none();
  }
  const int k = switch_plan((n - 1) * (size / n), size / n, fabric.node_switch).blocks;
  Script script(Steps(n, size, n * k, 1));
  phase(script, one_switch(group, Tier::node_switch, k, n));
  return script.take();
}

/// The first rank's pieces are handed to the others, or those of all are added up for it.
Steps to_and_from_root(Bytes size, const Group& group, const Fabric& fabric, Arrival arrival) {
  if (group.ranks() == 1) {
    return none();
  }
  const int k = switch_plan(size, size, fabric.node_switch).blocks;
  const SharedSwitch node = one_switch(group, Tier::node_switch, k, 1);
  const std::size_t n = node.members.size();
  const bool adds = arrival == Arrival::add;
  Script script(Steps(group.ranks(), size, k, 1));
  in_blocks(
      script,
      k,
      [&](int b) {
        for (std::size_t i = 0; i < (adds ? n : 1); ++i) {
          script.send(up(node, i, arrival), Run{b, 1});
        }
      },
      [&](int b) {
        for (std::size_t i = adds ? 0 : 1; i < (adds ? 1 : n); ++i) {
          script.send(down(node, i, Arrival::replace), Run{b, 1});
        }
      });
  return script.take();
}

}  // namespace

Steps InSwitchAllReduce::steps(Bytes size, const Group& group, const Fabric& fabric) {
  return switched_all_reduce(size, group, Tier::node_switch, fabric.node_switch);
}

Steps InSwitchBroadcast::steps(Bytes size, const Group& group, const Fabric& fabric) {
  return to_and_from_root(size, group, fabric, Arrival::replace);
}

Steps InSwitchReduce::steps(Bytes size, const Group& group, const Fabric& fabric) {
  return to_and_from_root(size, group, fabric, Arrival::add);
}

Steps InSwitchAllGather::steps(Bytes size, const Group& group, const Fabric& fabric) {
  return switched_shares(size, group, fabric, all_gather);
}

Steps InSwitchReduceScatter::steps(Bytes size, const Group& group, const Fabric& fabric) {
  return switched_shares(size, group, fabric, reduce_scatter);
}

Steps NetworkTreeAllReduce::steps(Bytes size, const Group& group, const Fabric& fabric) {
  return switched_all_reduce(size, group, Tier::network_switch, fabric.network_switch);
}

Steps HierarchicalNetworkTreeAllReduce::steps(Bytes size,
                                              const Group& group,
                                              const Fabric& fabric) {
  if (group.ranks() == 1) {
    return none();
  }
  const int g = group.per_node;
  const int k = switch_plan(size / g, size / g, fabric.network_switch).blocks;
  Script script(Steps(group.ranks(), size, g * k, g));  // a helper for each rail
  std::vector<Ring> nodes(static_cast<std::size_t>(group.nodes));
  std::vector<SharedSwitch> rails(static_cast<std::size_t>(g));
  for (int rank = 0; rank < group.ranks(); ++rank) {
    const int number = rank % g;
    const RingMember member{.rank = rank, .block = {number * k, k}};
    nodes[static_cast<std::size_t>(rank / g)].push_back(member);
    SharedSwitch& rail = rails[static_cast<std::size_t>(number)];
    rail.helper = group.ranks() + number;
    rail.tier = Tier::network_switch;
    rail.blocks = k;
    rail.members.push_back(member);
  }
  for (const Ring& node : nodes) {
    ring_reduce_scatter(script, node, Tier::node);
  }
  for (const SharedSwitch& rail : rails) {
    all_reduce(script, rail, Run{rail.members.front().block.first, 1});
  }
  for (const Ring& node : nodes) {
    ring_all_gather(script, node, Tier::node);
  }
  return script.take();
}

Steps HierarchicalInSwitchAllReduce::steps(Bytes size, const Group& group, const Fabric& fabric) {
  if (group.ranks() == 1) {
    return none();
  }
  const int g = group.per_node;
  const int k = switch_plan((g - 1) * (size / g), size / g, fabric.node_switch, 2).blocks;
  const int share = group.nodes * k;  // pieces of a rank's shard
  Script script(Steps(group.ranks(), size, g * share, group.nodes));
  std::vector<SharedSwitch> nodes(static_cast<std::size_t>(group.nodes));
  std::vector<Ring> rails(static_cast<std::size_t>(g));
  for (int rank = 0; rank < group.ranks(); ++rank) {
    const int number = rank % g;
    const int node_number = rank / g;
    SharedSwitch& node = nodes[static_cast<std::size_t>(node_number)];
    node.helper = group.ranks() + node_number;
    node.blocks = k;
    node.apart = group.nodes;
    node.members.push_back({.rank = rank, .block = {number * share, group.nodes}});
    rails[static_cast<std::size_t>(number)].push_back(
        {.rank = rank, .block = {number * share + node_number * k, k}});
  }
  for (const SharedSwitch& node : nodes) {
    reduce_scatter(script, node);
  }
  for (const Ring& rail : rails) {
    ring_reduce_scatter(script, rail, Tier::network);
    ring_all_gather(script, rail, Tier::network);
  }
  for (const SharedSwitch& node : nodes) {
    all_gather(script, node);
  }
  return script.take();
}

}  // namespace titer
