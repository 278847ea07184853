#pragma once
// How much of every link of a cluster something takes while it runs by itself: what decides how far
// things that run at the same time slow one another down.

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "titer/collectives/catalogue.hpp"
#include "titer/plan/place/cluster.hpp"
#include "titer/plan/place/collective_query.hpp"
#include "titer/topology/routes.hpp"
#include "titer/topology/traffic.hpp"

namespace titer {

/// What one thing takes of the links. One of 0.5 of a link leaves half of it to others; what takes
/// more than all of a link by itself (its own messages meet there) goes on only so much slower.
struct LinkUse {
  Seconds time;      // by itself, were every link wide enough
  Seconds beyond{};  // of it, what it takes longer than by the algorithm of the closed form
  // bytes / (time x rate) of each capacity that it uses (see Capacities), by rising index.
  std::vector<std::pair<std::uint32_t, double>> shares{};

  /// Its own messages may meet, on the link that they take the most of.
  [[nodiscard]] Seconds alone() const;
};

/// A collective on the links, by the algorithm that is the fastest there, all its groups at once.
struct CollectiveUse {
  LinkUse use;
  TimedAlgorithm taken;  // and its time alone on the links
  TimedAlgorithm by_closed_form;

  [[nodiscard]] bool differs() const { return taken.algorithm != by_closed_form.algorithm; }
};

/// The links of so many nodes of a cluster.
class ClusterLinks {
 public:
  /// REQUIRES ports for the nodes, and one of them where the cluster is a torus (see on_slice()).
  /// `named`: algorithms that are taken where they apply.
  ClusterLinks(const Cluster& cluster, int nodes, const NamedAlgorithms& named = {});

  /// The vertex of a network interface: where what is kept in the memory of its node's host enters.
  [[nodiscard]] int nic(int node, int number) const;

  /// A collective on all these groups of devices at once, by the algorithm of those that libraries
  /// run that is the fastest on the links.
  /// REQUIRES groups of two devices or more that lie alike.
  [[nodiscard]] CollectiveUse of_collective(Collective collective,
                                            Bytes size,
                                            std::span<const std::vector<int>> groups) const;
  /// The same on a torus, of groups of this shape.
  [[nodiscard]] CollectiveUse of_collective(Collective collective,
                                            Bytes size,
                                            std::span<const std::vector<int>> groups,
                                            const TorusShape& shape) const;
  /// Messages that take `time` altogether; through the network where their ends are on different
  /// nodes.
  [[nodiscard]] LinkUse of_messages(const std::vector<Demand>& messages, Seconds time) const;

 private:
  struct Place {  // of a vertex of the whole graph
    std::optional<int> node;
    int at = 0;      // in the graph of two nodes, as one of the first
    int second = 0;  // as far from there as one of the second
  };
  struct Share {  // of a message, on a link of the sender's node or the receiver's
    bool of_receiver = false;
    std::uint32_t link = 0;  // in its node
    double share = 0;
  };

  [[nodiscard]] CollectiveUse of_fastest(const CollectiveDesk& desk,
                                         Collective collective,
                                         Bytes size) const;
  void fold();
  [[nodiscard]] Place place(int vertex) const;
  [[nodiscard]] std::vector<Share> route(int from, int to) const;
  [[nodiscard]] std::vector<Bytes> loads_of(const std::vector<Demand>& messages) const;
  [[nodiscard]] std::vector<Bytes> folded_loads(const std::vector<Demand>& messages) const;
  [[nodiscard]] LinkUse use(const std::vector<Demand>& messages,
                            Seconds time,
                            double node_efficiency,
                            double network_efficiency) const;

  const Cluster& cluster_;
  NamedAlgorithms named_;
  int nodes_;
  // Through one ideal switch any two nodes see one another like any two others: then the graph has
  // two of them, and link i of node n is n * links_per_node_ + i.
  bool folded_;
  Router router_;
  Capacities capacities_;
  std::vector<bool> in_node_;  // by capacity: a wire of a node, or one of the network
  std::vector<std::pair<bool, std::uint32_t>> in_fold_;  // by capacity: second node, its link
  std::vector<std::uint32_t> of_link_;                   // capacity of each link of the first node
};

/// So many of the same.
struct RepeatedUse {
  double count = 1;
  const LinkUse* use = nullptr;
};
/// One thing after the other: the times add up, and so do the bytes.
[[nodiscard]] LinkUse one_after_the_other(std::span<const RepeatedUse> uses);
[[nodiscard]] LinkUse one_after_the_other(std::span<const LinkUse> uses);

}  // namespace titer
