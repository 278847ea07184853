#include "titer/collectives/algorithms.hpp"

#include <cstddef>
#include <utility>

#include "titer/units/ensure.hpp"

namespace titer {

namespace {

/// A run of neighbouring pieces.
struct Run {
  int first = 0;
  int count = 1;
};

/// One member of a ring, and the block that it owns: it ends a reduce-scatter with the sum of it,
/// and starts an all-gather with it.
struct Member {
  int rank = 0;
  Run block;
};
using Ring = std::vector<Member>;

/// Writes the messages of a collective phase by phase. A rank's message waits for the rank's
/// previous one and for all that has arrived since.
class Script {
 public:
  Script(Bytes size, Group group)
      : piece_(size / group.ranks()), awaited_(static_cast<std::size_t>(group.ranks())) {}

  /// In step k, member i sends block i-k-1 to the next, which adds it: after n-1 steps, member i
  /// holds the sum of block i.
  void reduce_scatter(const Ring& ring, Tier tier) { rotate(ring, tier, Arrival::add, 1); }
  /// In step k, member i sends block i-k to the next: after n-1 steps, all hold all blocks.
  void all_gather(const Ring& ring, Tier tier) { rotate(ring, tier, Arrival::replace, 0); }

  void send(int from, int to, Tier tier, Arrival arrival, Run run) {
    std::vector<int>& awaited = awaited_[static_cast<std::size_t>(from)];
    const int index = static_cast<int>(sends_.size());
    sends_.push_back({.from = from,
                      .to = to,
                      .tier = tier,
                      .arrival = arrival,
                      .first_piece = run.first,
                      .pieces = run.count,
                      .size = run.count * piece_,
                      .after = std::exchange(awaited, {index})});
  }

  /// From here on, what was sent since `first` has arrived.
  void deliver_from(std::size_t first) {
    for (std::size_t i = first; i < sends_.size(); ++i) {
      awaited_[static_cast<std::size_t>(sends_[i].to)].push_back(static_cast<int>(i));
    }
  }

  [[nodiscard]] std::size_t size() const { return sends_.size(); }
  [[nodiscard]] std::vector<Send> take() { return std::move(sends_); }

 private:
  void rotate(const Ring& ring, Tier tier, Arrival arrival, std::size_t lead) {
    const std::size_t n = ring.size();
    for (std::size_t step = 0; step + 1 < n; ++step) {
      const std::size_t first = size();
      for (std::size_t i = 0; i < n; ++i) {
        const Run block = ring[(i + 2 * n - step - lead) % n].block;
        send(ring[i].rank, ring[(i + 1) % n].rank, tier, arrival, block);
      }
      deliver_from(first);
    }
  }

  Bytes piece_;
  std::vector<Send> sends_;
  std::vector<std::vector<int>> awaited_;  // per rank, by its next message: indices of sends_
};

/// All ranks, each with its home piece.
Ring flat_ring(Group group) {
  Ring ring;
  for (int rank = 0; rank < group.ranks(); ++rank) {
    ring.push_back({.rank = rank, .block = {home_piece(rank, group), 1}});
  }
  return ring;
}

/// The ranks of one node; number j owns the home pieces of all ranks with that number.
Ring node_ring(Group group, int node) {
  Ring ring;
  for (int j = 0; j < group.per_node; ++j) {
    ring.push_back({.rank = node * group.per_node + j, .block = {j * group.nodes, group.nodes}});
  }
  return ring;
}

/// The ranks of one number on all nodes, each with its home piece.
Ring rail_ring(Group group, int number) {
  Ring ring;
  for (int node = 0; node < group.nodes; ++node) {
    const int rank = node * group.per_node + number;
    ring.push_back({.rank = rank, .block = {home_piece(rank, group), 1}});
  }
  return ring;
}

using Phase = void (Script::*)(const Ring&, Tier);

void on_every_node(Script& script, Group group, Phase phase) {
  for (int node = 0; node < group.nodes; ++node) {
    (script.*phase)(node_ring(group, node), Tier::node);
  }
}

void on_every_rail(Script& script, Group group, Phase phase) {
  for (int number = 0; number < group.per_node; ++number) {
    (script.*phase)(rail_ring(group, number), Tier::network);
  }
}

template <class... Algorithms>
void list(std::vector<AlgorithmInfo>& catalogue,
          Collective collective,
          const std::variant<Algorithms...>* /*list*/) {
  (catalogue.push_back({.collective = collective,
                        .name = Algorithms::name,
                        .formula = Algorithms::formula,
                        .source = Algorithms::source}),
   ...);
}

}  // namespace

std::vector<Send> RingAllReduce::sends(Bytes size, Group group) {
  Script script(size, group);
  script.reduce_scatter(flat_ring(group), group.widest_tier());
  script.all_gather(flat_ring(group), group.widest_tier());
  return script.take();
}

std::vector<Send> HierarchicalAllReduce::sends(Bytes size, Group group) {
  Script script(size, group);
  on_every_node(script, group, &Script::reduce_scatter);
  on_every_rail(script, group, &Script::reduce_scatter);
  on_every_rail(script, group, &Script::all_gather);
  on_every_node(script, group, &Script::all_gather);
  return script.take();
}

std::vector<Send> NaiveRingAllReduce::sends(Bytes size, Group group) {
  const int n = group.ranks();
  const Run whole{0, n};
  Script script(size, group);
  for (int i = 0; n > 1 && i < 2 * n - 1; ++i) {
    // Ranks 1 .. n-1 add their own; the n-th forward brings rank 0 the sum, the rest hand it on.
    const Arrival arrival = i + 1 < n ? Arrival::add : Arrival::replace;
    script.send(i % n, (i + 1) % n, group.widest_tier(), arrival, whole);
    script.deliver_from(script.size() - 1);
  }
  return script.take();
}

std::vector<Send> RingAllGather::sends(Bytes size, Group group) {
  Script script(size, group);
  script.all_gather(flat_ring(group), group.widest_tier());
  return script.take();
}

std::vector<Send> HierarchicalAllGather::sends(Bytes size, Group group) {
  Script script(size, group);
  on_every_rail(script, group, &Script::all_gather);
  on_every_node(script, group, &Script::all_gather);
  return script.take();
}

std::vector<Send> RingReduceScatter::sends(Bytes size, Group group) {
  Script script(size, group);
  script.reduce_scatter(flat_ring(group), group.widest_tier());
  return script.take();
}

std::vector<Send> HierarchicalReduceScatter::sends(Bytes size, Group group) {
  Script script(size, group);
  on_every_node(script, group, &Script::reduce_scatter);
  on_every_rail(script, group, &Script::reduce_scatter);
  return script.take();
}

std::vector<Send> PointToPoint::sends(Bytes size, Group group) {
  ensure(applies(group), "a message goes from one rank to one other");
  Script script(size, group);
  if (group.ranks() == 2) {
    script.send(0, 1, group.widest_tier(), Arrival::replace, {0, 2});
  }
  return script.take();
}

std::vector<AlgorithmInfo> algorithm_catalogue() {
  std::vector<AlgorithmInfo> catalogue;
  list(catalogue, Collective::all_reduce, static_cast<const AllReduce*>(nullptr));
  list(catalogue, Collective::all_gather, static_cast<const AllGather*>(nullptr));
  list(catalogue, Collective::reduce_scatter, static_cast<const ReduceScatter*>(nullptr));
  list(catalogue, Collective::send_recv, static_cast<const SendRecv*>(nullptr));
  return catalogue;
}

}  // namespace titer
