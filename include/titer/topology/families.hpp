#pragma once
// The topology families. Each alternative is a small value that builds a Topology; the list
// NodeTopology is the only place where a family is enrolled.

#include <concepts>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "titer/input/reader.hpp"
#include "titer/topology/failures.hpp"
#include "titer/topology/family/dragonfly.hpp"
#include "titer/topology/family/joined_nodes.hpp"
#include "titer/topology/family/node_families.hpp"
#include "titer/topology/family/torus.hpp"
#include "titer/topology/family/trees.hpp"
#include "titer/topology/import/fabric_files.hpp"
#include "titer/topology/import/imports.hpp"
#include "titer/topology/topology.hpp"

namespace titer {

class Router;

/// What a family must offer: a name, a reader of its own keys (all but "family" and the labels
/// below), its graph.
template <class F>
concept NodeFamily = requires(const F& family, Reader& in) {
  { F::name } -> std::convertible_to<std::string_view>;
  { F::read(in) } -> std::same_as<F>;
  { family.build() } -> std::same_as<Topology>;
};

template <NodeFamily... Families>
using NodeTopologyOf = std::variant<Families...>;
using NodeTopology = NodeTopologyOf<SwitchedNode,
                                    FullyConnectedNode,
                                    RingNode,
                                    EdgeListNode,
                                    Torus,
                                    FatTree,
                                    Rails,
                                    Dragonfly,
                                    PcieTree,
                                    JoinedNodes,
                                    NvidiaSmiNode,
                                    RocmSmiNode,
                                    NcclXmlNode,
                                    IbNetwork,
                                    SlurmNetwork>;

/// A family with its labels, as in topologies/<name>.json.
struct NamedTopology {
  std::string name{};
  std::string title{};
  std::string source{};
  NodeTopology family;
  std::optional<NetworkRouting> routing{};
  Failures failures{};

  /// What it says, else what such networks do: dragonflies are adaptive, others minimal.
  [[nodiscard]] NetworkRouting routing_used() const;
};

/// Reads {"family": "switch", "devices": 8, "bandwidth": "300 GB/s", …} to its end (finish()), with
/// or without "name", "title", "source" and "sources", "routing" and "failures". Without "family",
/// a "topology" holds it all.
[[nodiscard]] NamedTopology read_topology(Reader& in);
/// Of a node, all of whose links work.
[[nodiscard]] NodeTopology read_node_topology(Reader& in);
[[nodiscard]] Topology build(const NodeTopology& node);
/// With its routing, and without what has failed.
[[nodiscard]] Topology build(const NamedTopology& network);
/// Of the graph of a family: devices of a torus forward in the order of its dimensions.
[[nodiscard]] Router router_of(const NodeTopology& node, Topology graph);
/// What was read of a machine's or program's own file; nullptr for other families.
[[nodiscard]] const Imported* imported_of(const NodeTopology& node);
/// "torus": the name of the alternative.
[[nodiscard]] std::string_view family_name(const NodeTopology& node);

}  // namespace titer
