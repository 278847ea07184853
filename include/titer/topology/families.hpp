#pragma once
// The topology families of a node. Each alternative is a small value that builds a Topology; the
// list NodeTopology is the only place where a family is enrolled.

#include <concepts>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "titer/input/reader.hpp"
#include "titer/topology/topology.hpp"

namespace titer {

/// Every device on one non-blocking switch (DGX-2, DGX A100, DGX H100: NVSwitch).
/// `bandwidth`: of a device's port, one direction.
struct SwitchedNode {
  static constexpr std::string_view name = "switch";
  int devices = 0;
  BytesPerSecond bandwidth;
  [[nodiscard]] static SwitchedNode read(Reader& in);
  [[nodiscard]] Topology build() const;
};

/// `links` parallel links between every pair (4x A100 of Polaris, 8x MI300X). `bandwidth`: of one
/// link. Parallel links can serve different rings, which one wire as fast as all of them cannot.
struct FullyConnectedNode {
  static constexpr std::string_view name = "fully-connected";
  int devices = 0;
  int links = 1;
  BytesPerSecond bandwidth;
  [[nodiscard]] static FullyConnectedNode read(Reader& in);
  [[nodiscard]] Topology build() const;
};

/// Three or more devices in a circle. `bandwidth`: of one wire.
struct RingNode {
  static constexpr std::string_view name = "ring";
  int devices = 0;
  BytesPerSecond bandwidth;
  [[nodiscard]] static RingNode read(Reader& in);
  [[nodiscard]] Topology build() const;
};

/// Any wiring, given as a list [[a, b, count], …] (DGX-1's hybrid cube mesh).
/// `bandwidth`: of one link.
struct EdgeListNode {
  static constexpr std::string_view name = "edges";
  std::string wiring;  // the edge list's own name
  int devices = 0;
  BytesPerSecond bandwidth;
  std::vector<Wire> wires;
  [[nodiscard]] static EdgeListNode read(Reader& in);
  [[nodiscard]] Topology build() const;
};

/// What a family must offer: a name, a reader of its own keys (all but "family"), its graph.
template <class F>
concept NodeFamily = requires(const F& family, Reader& in) {
  { F::name } -> std::convertible_to<std::string_view>;
  { F::read(in) } -> std::same_as<F>;
  { family.build() } -> std::same_as<Topology>;
};

template <NodeFamily... Families>
using NodeTopologyOf = std::variant<Families...>;
using NodeTopology = NodeTopologyOf<SwitchedNode, FullyConnectedNode, RingNode, EdgeListNode>;

/// Reads {"family": "switch", "devices": 8, "bandwidth": "300 GB/s", …} to its end (finish()).
[[nodiscard]] NodeTopology read_node_topology(Reader& in);
[[nodiscard]] Topology build(const NodeTopology& node);

}  // namespace titer
