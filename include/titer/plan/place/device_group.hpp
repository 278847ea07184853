#pragma once
// Any devices of a cluster as the ranks of a collective: how they lie, and what joins them.

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "titer/plan/place/cluster.hpp"

namespace titer {

/// The shape of these devices (ascending) on a torus, axes of one device left out; an axis wraps if
/// they go all the way round a closed one. Along an axis they may be every k-th, k hops apart,
/// whose wires they have to themselves (beside other groups: torus_shape()). Empty: they are no box
/// of it.
[[nodiscard]] std::optional<TorusShape> sub_torus(const Torus& torus,
                                                  const std::vector<int>& devices);

/// Devices of a cluster, numbered node by node, as ranks in ascending order.
struct DeviceGroup {
  std::vector<int> devices;
  Group group;
  Fabric fabric;
  std::shared_ptr<const Wiring> wiring;  // what group.wiring points to, if it does
  std::string remark;                    // what was assumed of an uneven group; empty: nothing

  /// Nodes that the group's devices reach up to.
  [[nodiscard]] int last_node(const Cluster& cluster) const {
    return devices.back() / cluster.devices_per_node;
  }
};

/// The parts of groups of devices on each node, numbered inside it.
using GroupsOfNodes = std::map<int, std::vector<std::vector<int>>>;
[[nodiscard]] GroupsOfNodes groups_of_nodes(const Cluster& cluster,
                                            std::span<const std::vector<int>> groups);

/// Throws InputError where a device is listed twice or is not in the cluster, where several nodes
/// have no network between them, or where the devices of a torus are no box. A group that has
/// another number of ranks on some node is taken to run through the network throughout, and says
/// so. `at_once`: all groups that run, where nodes are trees of switches, whose ways they share.
[[nodiscard]] DeviceGroup group_devices(const Cluster& cluster,
                                        std::vector<int> devices,
                                        const GroupsOfNodes& at_once = {});

/// Takes every message of the group through the network, and remarks why.
void send_through_network(const Cluster& cluster, DeviceGroup& group, std::string_view why);

/// "0-7", "0,4,8", "0-63:8" (every eighth), or several of them with commas, in the order written.
/// Throws InputError.
[[nodiscard]] std::vector<int> parse_devices(const std::string& text);

}  // namespace titer
