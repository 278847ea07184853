#pragma once
// On which of the shipped machines a collective was measured: from what its table says of the
// hardware and of what joins it.

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "titer/measured/collective/measured_collective.hpp"
#include "titer/plan/place/cluster.hpp"

namespace titer {

/// A kind of machine that tables name, and what stands for it: a shipped cluster, with another
/// network or other NICs where they differ.
struct CollectiveMachine {
  std::string_view hardware;      // that a table's "hardware" has in it
  std::string_view interconnect;  // that its "interconnect" has in it
  std::string_view cluster;
  std::string_view network{};             // empty: the cluster's own
  std::optional<int> ranks_per_domain{};  // where the table's nodes are trays of a larger one
  std::string_view skip_reason{};         // not empty: nothing stands for it
};

/// The first kind of the list in collective_machine.cpp that the table's fields fit; null when none
/// does.
[[nodiscard]] const CollectiveMachine* machine_of(const MeasuredCollective& measured);

/// The ranks of a table on a machine.
struct PlacedCollective {
  Cluster cluster;
  Collective collective = Collective::all_reduce;
  Group group;
};

/// What stands for the table's machine, or why nothing does.
struct Placing {
  std::optional<PlacedCollective> placed{};
  std::string skip_reason{};
};
[[nodiscard]] Placing place_measured(const MeasuredCollective& measured);

/// What joins the ranks of a table. Those that tile a node have the channels that the groups of a
/// training step have (Cluster::fabric); others are the first devices of their node.
struct CollectiveWays {
  Group group;
  Fabric fabric;
  std::shared_ptr<const Wiring> wiring;  // what group.wiring points to, if it does
};
[[nodiscard]] CollectiveWays ways_of(const PlacedCollective& placed);

/// What our model expects for a size: the fastest of the library's algorithms (collective_time), as
/// for the transfers of a training step.
[[nodiscard]] Seconds predicted_time(Collective collective, const CollectiveWays& ways, Bytes size);

}  // namespace titer
