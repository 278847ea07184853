#include "titer/plan/place/network_port.hpp"

namespace titer {

std::optional<BytesPerSecond> narrow_port(const Cluster& cluster) {
  if (!cluster.network_topology) {
    return std::nullopt;
  }
  BytesPerSecond port;
  for (const Wire& wire : build(*cluster.network_topology).wires) {
    if (wire.a == 0 || wire.b == 0) {
      port += static_cast<double>(wire.count) * wire.bandwidth;
    }
  }
  return port < cluster.nic_bandwidth ? std::optional(port) : std::nullopt;
}

}  // namespace titer
