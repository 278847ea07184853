#pragma once
// What a network is built of: ports of switches, links between them, links to the interfaces of
// nodes.

#include "titer/topology/topology.hpp"

namespace titer {

/// Rates in one direction, summed over all that is built, whether it works or not.
struct NetworkParts {
  int nic_ports = 0;
  int switches = 0;
  BytesPerSecond switch_ports;  // of all ports that a link ends at
  BytesPerSecond switch_links;  // of links between switches
  BytesPerSecond nic_links;     // of links that begin or end at an interface
};

/// REQUIRES a topology whose devices are the ports of NICs.
[[nodiscard]] NetworkParts network_parts(const Topology& network);

}  // namespace titer
