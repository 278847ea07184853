#pragma once
// A node whose devices hang from switches that form a tree, such as PCIe's: there is one way
// between any two, which groups that send at the same time share.

#include <optional>
#include <span>
#include <vector>

#include "titer/topology/topology.hpp"

namespace titer {

class NodeTree {
 public:
  using Groups = std::span<const std::vector<int>>;

  /// Empty where the wiring is no tree, or joins devices directly.
  [[nodiscard]] static std::optional<NodeTree> of(const Topology& node);

  /// What every rank of a ring sends on while all these groups have one, each through its devices
  /// in their order.
  [[nodiscard]] BytesPerSecond ring(Groups groups) const;
  /// What every rank sends while all ranks of all these groups send to all others of their own.
  [[nodiscard]] BytesPerSecond exchange(Groups groups) const;

 private:
  struct Edge {
    BytesPerSecond bandwidth;  // one direction
    Duplex duplex = Duplex::full;
    std::vector<bool> below;  // by device: whether it is on this side of the edge
  };

  template <class Load>
  [[nodiscard]] BytesPerSecond share(Groups groups, Load load) const;

  std::vector<Edge> edges_;
};

}  // namespace titer
