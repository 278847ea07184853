#pragma once
// A whole cluster built from parts: equal nodes, their NICs, and a network of the NICs' ports.

#include <span>
#include <string_view>

#include "titer/input/fields.hpp"
#include "titer/topology/topology.hpp"

namespace titer {

/// `nodes` copies of `node`, each with `nics` NICs, whose ports are the devices of `network`: NIC i
/// of node n is its device n * nics + i. Device g of a node is wired to NIC g * nics / devices, or
/// to several where there are more NICs than devices, as fast as the NIC. Vertices: the devices
/// node by node, the nodes' switches, the NICs, the network's switches.
struct JoinedNodes {
  static constexpr std::string_view name = "nodes";
  static constexpr std::string_view about =
      "a whole cluster: equal nodes, their interfaces and a network";
  int nodes = 0;
  int nics = 0;  // per node
  BytesPerSecond nic_bandwidth;
  Topology node;
  Topology network;
  [[nodiscard]] static std::span<const Field<JoinedNodes>> fields();
  void check(Reader& in);
  [[nodiscard]] Topology build() const;
};

}  // namespace titer
