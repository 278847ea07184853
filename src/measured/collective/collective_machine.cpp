#include "titer/measured/collective/collective_machine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>
#include <vector>

#include "titer/collectives/choice.hpp"
#include "titer/plan/place/device_group.hpp"
#include "titer/scenario/load_part.hpp"

namespace titer {
namespace {

constexpr std::string_view kUnknownChip = "the table does not say which chip it was measured on";
constexpr std::string_view kUnknownLanes = "the table does not say how wide its PCIe links are";

/// From the narrower to the wider: the first that fits is taken.
constexpr std::array kMachines = {
    // Eight A100 per node.
    CollectiveMachine{"p4de", "EFA 4x100", "dgx-a100-80gb", "efa-4x100g"},
    CollectiveMachine{"p4d", "EFA 4x100", "dgx-a100-40gb", "efa-4x100g"},
    CollectiveMachine{
        "A100-SXM4-80GB", "HDR IB with SHARP", "dgx-a100-80gb", "infiniband-hdr-sharp"},
    CollectiveMachine{"OCI BM.GPU4.8", "16x100", "dgx-a100-40gb"},
    CollectiveMachine{"ND96amsr", "8x HDR200", "dgx-a100-80gb"},
    CollectiveMachine{"ND96asr", "8x HDR200", "dgx-a100-40gb"},
    CollectiveMachine{"Azure ND96 v4", "8x HDR200", "dgx-a100-80gb"},
    CollectiveMachine{"A100-SXM4-80GB", "NVLink3", "dgx-a100-80gb"},
    CollectiveMachine{"A100 8-GPU node", "NVLink3", "dgx-a100-80gb"},
    // Eight H100, H200 or B200.
    CollectiveMachine{"p5.48xlarge", "EFA 3200", "dgx-h100", "efa-32x100g"},
    CollectiveMachine{"a3-highgpu", "TCPX", "dgx-h100", "gpudirect-tcpx-4x200g"},
    CollectiveMachine{"H100-SXM5-80GB", "NDR400 IB with SHARP", "dgx-h100", "infiniband-ndr-sharp"},
    CollectiveMachine{"H100-SXM5-80GB", "NVLink4", "dgx-h100"},
    CollectiveMachine{"H200", "1x RoCE 400", "dgx-h200", "rocev2-400g"},
    CollectiveMachine{"H200", "NVLink4", "dgx-h200"},
    CollectiveMachine{"B200 GCP a4 (1 GPU", "1x RoCE 400", "dgx-b200", "rocev2-400g"},
    CollectiveMachine{"GB200 NVL72 x2", "IB inter-rack", "gb200-nvl72", "", 64},
    CollectiveMachine{"GB200", "NVLink5", "gb200-nvl72", "", 72},
    CollectiveMachine{"B200", "NVLink5", "dgx-b200"},
    CollectiveMachine{"GB300", "NVLink5", "gb300-nvl72", "", 72},
    CollectiveMachine{"B300", "NVLink5", "dgx-b300"},
    // Eight of AMD's; NICs of other makers stand for one another.
    CollectiveMachine{"MI300X", "8x400 Gb/s", "mi300x-8"},
    CollectiveMachine{"MI300X", "xGMI full mesh", "mi300x-8"},
    CollectiveMachine{"MI325X", "8x400 Gb/s", "mi325x-8"},
    CollectiveMachine{"MI355X", "8x400 Gb/s", "mi355x-8"},
    CollectiveMachine{"MI355X", "xGMI 8-GPU mesh", "mi355x-8"},
    // Gaudi and Trainium.
    CollectiveMachine{"Gaudi 3", "21x200 GbE", "gaudi3-8"},
    CollectiveMachine{"Gaudi 2", "21x100 GbE", "gaudi2-8"},
    CollectiveMachine{"trn1.32xlarge", "NeuronLink-v2", "trn1-32-cores"},
    // V100.
    CollectiveMachine{"DGX-2H", "8x EDR", "dgx2-v100"},
    CollectiveMachine{"DGX-2", "NVLink2", "dgx2-v100"},
    CollectiveMachine{"V100 DGX-1", "2x100Gb RoCE", "dgx1-v100", "rocev2-2x100g"},
    CollectiveMachine{"p3dn", "EFA 100Gb/s", "dgx1-v100-32gb", "efa-staged-100g"},
    CollectiveMachine{"V100-SXM2-16GB 8-GPU", "hybrid cube mesh", "dgx1-v100"},
    CollectiveMachine{"V100-SXM2-16GB 4-GPU host", "ring crosses PCIe", "v100-pcie3-4"},
    CollectiveMachine{"V100 8-GPU node", "NVLink2", "dgx1-v100-32gb"},
    // Cards behind PCIe.
    CollectiveMachine{"RTX PRO 6000", "PCIe Gen5", "rtx-pro-6000-8"},
    CollectiveMachine{"RTX 4090", "no P2P", "rtx-4090-8"},
    CollectiveMachine{"RTX 4090", "P2P-enabled", "rtx-4090-8-p2p"},
    CollectiveMachine{.hardware = "RTX 4090",
                      .interconnect = "narrow link",
                      .cluster = "",
                      .skip_reason = kUnknownLanes},
    // One GPU per node of any kind: only the network counts.
    CollectiveMachine{"AWS 1-GPU", "TCP sockets", "dgx-a100-40gb", "tcp-sockets-25g"},
    CollectiveMachine{"AWS 1-GPU", "EFA 1 NIC", "dgx-a100-40gb", "efa-25g"},
    CollectiveMachine{
        .hardware = "not stated", .interconnect = "", .cluster = "", .skip_reason = kUnknownChip},
};

bool holds(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

Cluster cluster_of(const CollectiveMachine& machine) {
  std::vector<Assignment> changes;
  if (!machine.network.empty()) {
    changes.push_back({.path = "cluster.network",
                       .value = Value(std::string(machine.network)),
                       .source = std::string(machine.cluster)});
  }
  return load_cluster(Value(std::string(machine.cluster)), changes);
}

/// How the ranks lie on nodes; empty when they cannot lie evenly.
std::optional<Group> group_of(const MeasuredCollective& measured,
                              const CollectiveMachine& machine,
                              const Cluster& cluster) {
  const int ranks = *measured.ranks;
  if (measured.collective == Collective::send_recv) {
    return Group{.per_node = *measured.nodes == 1 ? 2 : 1, .nodes = *measured.nodes == 1 ? 1 : 2};
  }
  const int nodes = machine.ranks_per_domain
                        ? (ranks + *machine.ranks_per_domain - 1) / *machine.ranks_per_domain
                        : *measured.nodes;
  if (ranks % nodes != 0 || ranks / nodes > cluster.devices_per_node) {
    return std::nullopt;
  }
  return Group{.per_node = ranks / nodes, .nodes = nodes};
}

Placing skipped(std::string reason) { return {.placed = {}, .skip_reason = std::move(reason)}; }

}  // namespace

const CollectiveMachine* machine_of(const MeasuredCollective& measured) {
  const auto* const found = std::ranges::find_if(kMachines, [&](const CollectiveMachine& machine) {
    return holds(measured.hardware, machine.hardware) &&
           holds(measured.interconnect, machine.interconnect);
  });
  return found == kMachines.end() ? nullptr : found;
}

Placing place_measured(const MeasuredCollective& measured) {
  const CollectiveMachine* machine = machine_of(measured);
  if (machine == nullptr) {
    return skipped(fmt::format(
        "no shipped machine is \"{}\" with \"{}\"", measured.hardware, measured.interconnect));
  }
  if (!machine->skip_reason.empty()) {
    return skipped(std::string(machine->skip_reason));
  }
  if (!measured.collective) {
    return skipped(fmt::format("{} is not modelled", measured.operation));
  }
  if (!measured.ranks || !measured.nodes) {
    return skipped("the table does not say on how many ranks and nodes it was measured");
  }
  PlacedCollective placed{
      .cluster = cluster_of(*machine), .collective = *measured.collective, .group = {}};
  const std::optional<Group> group = group_of(measured, *machine, placed.cluster);
  if (!group) {
    return skipped(fmt::format("{} ranks on {} nodes do not lie evenly on nodes of {}",
                               *measured.ranks,
                               *measured.nodes,
                               machine->cluster));
  }
  placed.group = *group;
  const CollectiveWays ways = ways_of(placed);
  if (ways.wiring != nullptr && ways.wiring->rings.empty() && placed.cluster.host_path) {
    return skipped(
        fmt::format("the first {} devices of {} form no ring of its wires, and the table "
                    "does not say how its own are wired",
                    group->per_node,
                    machine->cluster));
  }
  return {.placed = std::move(placed), .skip_reason = {}};
}

CollectiveWays ways_of(const PlacedCollective& placed) {
  const Group& group = placed.group;
  // A benchmark's group has a tree's ways to itself; those of a plan share them.
  const bool as_of_plans =
      placed.cluster.devices_per_node % group.per_node == 0 && !placed.cluster.nodes_are_trees();
  if (group.nodes > 1 || as_of_plans) {
    return {.group = group, .fabric = placed.cluster.fabric(group.per_node, 1), .wiring = nullptr};
  }
  std::vector<int> devices(static_cast<std::size_t>(group.per_node));
  std::iota(devices.begin(), devices.end(), 0);
  DeviceGroup first = group_devices(placed.cluster, std::move(devices));
  return {.group = first.group, .fabric = first.fabric, .wiring = std::move(first.wiring)};
}

Seconds predicted_time(Collective collective, const CollectiveWays& ways, Bytes size) {
  return collective_time(collective, size, ways.group, ways.fabric).time;
}

}  // namespace titer
