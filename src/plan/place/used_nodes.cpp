// Racks of several hosts of which a plan uses some: NVIDIA's of 72 devices are mostly used by 64.

#include <algorithm>

#include "titer/plan/place/cluster.hpp"
#include "titer/topology/family/node_families.hpp"

namespace titer {
namespace {

bool is_nearly_whole(int devices, int whole) { return 9 * devices >= 8 * whole; }

/// Of as many hosts as are used.
std::optional<HostTier> part_of(const std::optional<HostTier>& tier, double share) {
  if (!tier) {
    return std::nullopt;
  }
  HostTier part = *tier;
  part.capacity = tier->capacity * share;
  part.bandwidth = tier->bandwidth * share;
  if (tier->processors) {
    part.processors = *tier->processors * share;
  }
  return part;
}

}  // namespace

int Cluster::used_of_node(std::span<const std::int64_t> devices) const {
  const int whole = devices_of_whole_node();
  for (int used = whole; whole_node && is_nearly_whole(used, whole); used -= *devices_per_host) {
    if (std::ranges::all_of(
            devices, [&](std::int64_t number) { return number <= used || number % used == 0; })) {
      return used;
    }
  }
  return whole;
}

void Cluster::use_for(std::span<const std::int64_t> devices) { use_of_node(used_of_node(devices)); }

void Cluster::use_of_node(int used) {
  if (used == devices_per_node) {
    return;
  }
  const int whole = whole_node->devices;
  const double share = static_cast<double>(used) / whole;
  devices_per_node = used;
  SwitchedNode part = *topology.as<SwitchedNode>();
  part.devices = used;
  topology = part;
  nics = whole_node->nics * used / whole;
  host_memory = part_of(whole_node->host_memory, share);
  nvme = part_of(whole_node->nvme, share);
  fill_bandwidths();
}

void Cluster::use_for(std::int64_t devices) { use_for({&devices, 1}); }

}  // namespace titer
