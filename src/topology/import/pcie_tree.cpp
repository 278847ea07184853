#include <fmt/format.h>

#include <algorithm>

#include "titer/topology/family/trees.hpp"

namespace titer {

PcieTree PcieTree::read(Reader& in) {
  PcieTree tree;
  tree.devices = static_cast<int>(in.integer("devices", 1, 1024));
  tree.devices_per_switch = static_cast<int>(in.integer("devices_per_switch", 1, 1024));
  tree.switches_per_socket = static_cast<int>(in.integer("switches_per_socket", 1, 1024));
  tree.device_bandwidth = in.quantity<BytesPerSecond>("device_bandwidth");
  tree.uplink_bandwidth = in.quantity<BytesPerSecond>("uplink_bandwidth");
  tree.socket_bandwidth = in.maybe_quantity<BytesPerSecond>("socket_bandwidth");
  if (tree.sockets() > 1 && !tree.socket_bandwidth) {
    in.fail("",
            "socket_bandwidth: missing; expected the bandwidth between the " +
                std::to_string(tree.sockets()) + " sockets");
    tree.socket_bandwidth = 1_GBps;
  }
  tree.nics_per_switch = static_cast<int>(in.maybe_integer("nics_per_switch", 0, 64).value_or(0));
  tree.nic_bandwidth = in.maybe_quantity<BytesPerSecond>("nic_bandwidth");
  if (tree.nics_per_switch > 0 && !tree.nic_bandwidth) {
    in.fail("", "nic_bandwidth: missing; expected the bandwidth of a NIC");
    tree.nic_bandwidth = 1_GBps;
  }
  tree.duplex = in.flag("half_duplex", false) ? Duplex::half : Duplex::full;
  return tree;
}

Topology PcieTree::build() const {
  Topology topology{.name = std::string(name), .devices = devices, .switches = 0, .wires = {}};
  const int first_switch = add_switches(topology, pcie_switches(), {.kind = SwitchKind::pcie});
  const int first_socket = add_switches(topology, sockets(), {.kind = SwitchKind::cpu});
  const auto join = [&](int a, int b, BytesPerSecond bandwidth) {
    topology.wires.push_back(
        {.a = a, .b = b, .count = 1, .bandwidth = bandwidth, .latency = {}, .duplex = duplex});
  };
  for (int device = 0; device < devices; ++device) {
    join(device, first_switch + device / devices_per_switch, device_bandwidth);
  }
  for (int i = 0; i < pcie_switches(); ++i) {
    join(first_switch + i, first_socket + i / switches_per_socket, uplink_bandwidth);
  }
  for (int a = 0; a < sockets(); ++a) {
    for (int b = a + 1; b < sockets(); ++b) {
      join(first_socket + a, first_socket + b, *socket_bandwidth);
    }
  }
  const int nics = pcie_switches() * nics_per_switch;
  const int first_nic = add_switches(topology, nics, {.kind = SwitchKind::nic});
  for (int nic = 0; nic < nics; ++nic) {
    join(first_nic + nic, first_switch + nic / nics_per_switch, *nic_bandwidth);
  }
  return topology;
}

PcieTree PcieTree::in_small(std::string& note) const {
  PcieTree drawn = *this;
  drawn.devices_per_switch = std::min(devices_per_switch, 4);
  drawn.switches_per_socket = std::min(switches_per_socket, 2);
  drawn.devices = std::min(devices, drawn.devices_per_switch * drawn.switches_per_socket * 2);
  drawn.nics_per_switch = std::min(nics_per_switch, 2);
  note = fmt::format("drawn: {} of {} devices", drawn.devices, devices);
  return drawn;
}

}  // namespace titer
