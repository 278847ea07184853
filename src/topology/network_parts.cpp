#include "titer/topology/network_parts.hpp"

namespace titer {

NetworkParts network_parts(const Topology& network) {
  NetworkParts parts;
  parts.nic_ports = network.devices;
  parts.switches = network.switches;
  for (const Wire& wire : network.wires) {
    const BytesPerSecond rate = wire.count * wire.bandwidth;
    const int ports = (wire.a >= network.devices ? 1 : 0) + (wire.b >= network.devices ? 1 : 0);
    parts.switch_ports += ports * rate;
    (ports == 2 ? parts.switch_links : parts.nic_links) += rate;
  }
  return parts;
}

}  // namespace titer
