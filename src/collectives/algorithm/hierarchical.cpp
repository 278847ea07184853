#include "titer/collectives/algorithm/hierarchical.hpp"

#include "titer/collectives/algorithm/ring.hpp"

namespace titer {

namespace {

/// The ranks of one node; number j owns the home pieces of all ranks with that number.
Ring node_ring(const Group& group, int node) {
  Ring ring;
  for (int j = 0; j < group.per_node; ++j) {
    ring.push_back({.rank = node * group.per_node + j, .block = {j * group.nodes, group.nodes}});
  }
  return ring;
}

/// The ranks of one number on all nodes, each with its home piece.
Ring rail_ring(const Group& group, int number) {
  Ring ring;
  for (int node = 0; node < group.nodes; ++node) {
    const int rank = node * group.per_node + number;
    ring.push_back({.rank = rank, .block = {home_piece(rank, group), 1}});
  }
  return ring;
}

using TierPhase = void (*)(Script&, const Ring&, Tier, int);

// The rings of a phase share no rank, so that the rounds of one after those of another are
// executed side by side.
void on_every_node(Script& script, const Group& group, TierPhase phase) {
  for (int node = 0; node < group.nodes; ++node) {
    phase(script, node_ring(group, node), Tier::node, 0);
  }
}

void on_every_rail(Script& script, const Group& group, TierPhase phase) {
  for (int number = 0; number < group.per_node; ++number) {
    phase(script, rail_ring(group, number), Tier::network, 0);
  }
}

Script two_tier_script(Bytes size, const Group& group) {
  return Script(Steps(group.ranks(), size, group.ranks()));
}

}  // namespace

Steps HierarchicalAllReduce::steps(Bytes size, const Group& group, const Fabric& /*fabric*/) {
  Script script = two_tier_script(size, group);
  on_every_node(script, group, ring_reduce_scatter);
  on_every_rail(script, group, ring_reduce_scatter);
  on_every_rail(script, group, ring_all_gather);
  on_every_node(script, group, ring_all_gather);
  return script.take();
}

Steps HierarchicalAllGather::steps(Bytes size, const Group& group, const Fabric& /*fabric*/) {
  Script script = two_tier_script(size, group);
  on_every_rail(script, group, ring_all_gather);
  on_every_node(script, group, ring_all_gather);
  return script.take();
}

Steps HierarchicalReduceScatter::steps(Bytes size, const Group& group, const Fabric& /*fabric*/) {
  Script script = two_tier_script(size, group);
  on_every_node(script, group, ring_reduce_scatter);
  on_every_rail(script, group, ring_reduce_scatter);
  return script.take();
}

}  // namespace titer
