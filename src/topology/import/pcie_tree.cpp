#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "titer/topology/family/trees.hpp"

namespace titer {

namespace {

constexpr Range kOfTree = {1, 1024};

constexpr std::array kPcieFields = {
    fields::integer<&PcieTree::devices>("devices", kOfTree, "of the node").needed(),
    fields::integer<&PcieTree::devices_per_switch>("devices_per_switch", kOfTree, "on a switch")
        .needed(),
    fields::integer<&PcieTree::switches_per_socket>(
        "switches_per_socket", kOfTree, "on a processor")
        .needed(),
    fields::quantity<&PcieTree::device_bandwidth>("device_bandwidth",
                                                  "of a device's link, one direction")
        .needed(),
    fields::quantity<&PcieTree::uplink_bandwidth>(
        "uplink_bandwidth", "of a switch's link to its processor, one direction")
        .needed(),
    fields::quantity<&PcieTree::socket_bandwidth>("socket_bandwidth",
                                                  "between two processors, one direction")
        .or_else("required where there are several"),
    fields::integer<&PcieTree::nics_per_switch>(
        "nics_per_switch", {0, 64}, "network interfaces on a switch"),
    fields::quantity<&PcieTree::nic_bandwidth>("nic_bandwidth", "of an interface, one direction")
        .or_else("required where there are interfaces"),
    fields::of_schema<PcieTree, schema::flag>(
        "half_duplex",
        [](const Field<PcieTree>& own, Reader& in, PcieTree& tree) {
          tree.duplex = in.flag(own.key, false) ? Duplex::half : Duplex::full;
        },
        "whether both directions of a link share its bandwidth")
        .or_else("`false`")};

}  // namespace

std::span<const Field<PcieTree>> PcieTree::fields() { return kPcieFields; }

void PcieTree::check(Reader& in) {
  if (sockets() > 1 && !socket_bandwidth) {
    in.fail("",
            "socket_bandwidth: missing; expected the bandwidth between the " +
                std::to_string(sockets()) + " sockets");
    socket_bandwidth = 1_GBps;
  }
  if (nics_per_switch > 0 && !nic_bandwidth) {
    in.fail("", "nic_bandwidth: missing; expected the bandwidth of a NIC");
    nic_bandwidth = 1_GBps;
  }
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
