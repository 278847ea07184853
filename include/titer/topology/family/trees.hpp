#pragma once
// Networks of switches in levels: fat trees, rail-optimised networks, PCIe trees.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "titer/input/fields.hpp"
#include "titer/topology/topology.hpp"

namespace titer {

/// One level of a fat tree, from the bottom. `down`: lower neighbours of each of its switches;
/// `up`: switches of this level that each lower vertex is attached to; `parallel`: links of each
/// such pair; `bandwidth`: of one link, one direction.
struct FatTreeLevel {
  int down = 1;
  int up = 1;
  int parallel = 1;
  BytesPerSecond bandwidth;
  Seconds latency{};
};

/// The parallel-ports generalised fat tree.  [Zahavi 2010; SimGrid's "levels;down;up;parallel"]
/// Vertex x of level i is attached to the `up` switches of level i+1 that agree with it in all
/// other digits of their mixed-radix numbers. `planes`: independent copies; each device is attached
/// to all.
struct FatTree {
  static constexpr std::string_view name = "fat-tree";
  static constexpr std::string_view about = "switches in levels, in one plane or several";
  std::vector<FatTreeLevel> levels;
  int planes = 1;
  bool reduces = false;
  [[nodiscard]] static std::span<const Field<FatTree>> fields();
  void check(Reader& in);
  [[nodiscard]] Topology build() const;
  [[nodiscard]] FatTree in_small(std::string& note) const;
  /// Half of the narrowest level's bandwidth, where the top switches have an even number of lower
  /// neighbours.
  [[nodiscard]] std::optional<Bisection> bisection() const;
  /// Twice the levels that branch.
  [[nodiscard]] std::optional<int> diameter() const;

  [[nodiscard]] int devices() const;
  /// Vertices of a level in one plane; level 0 are the devices.
  [[nodiscard]] int size(std::size_t level) const;
};

/// A rail-optimised network: port i of every node goes to rail switch i of the node's group; every
/// rail switch is attached to every spine. Endpoints are numbered node by node: node * rails +
/// rail. `oversubscription`: of the rail switches, down over up.
struct Rails {
  static constexpr std::string_view name = "rails";
  static constexpr std::string_view about =
      "port i of every node on rail switch i of its group, rails joined by spines";
  int nodes = 0;
  int rails = 0;
  int nodes_per_group = 0;
  int spines = 0;
  double oversubscription = 1.0;
  BytesPerSecond bandwidth;  // of a port, one direction
  Seconds latency{};
  bool reduces = false;
  [[nodiscard]] static std::span<const Field<Rails>> fields();
  void check(Reader& in);
  [[nodiscard]] Topology build() const;
  [[nodiscard]] Rails in_small(std::string& note) const;

  [[nodiscard]] int groups() const { return (nodes + nodes_per_group - 1) / nodes_per_group; }
};

/// Devices on PCIe switches, these on the processors' sockets, and those joined pair by pair.
/// With `duplex` half every wire is a bus shared by both directions.
struct PcieTree {
  static constexpr std::string_view name = "pcie-tree";
  static constexpr std::string_view about = "devices on PCIe switches, these on sockets";
  int devices = 0;
  int devices_per_switch = 0;
  int switches_per_socket = 0;
  BytesPerSecond device_bandwidth;
  BytesPerSecond uplink_bandwidth;
  std::optional<BytesPerSecond> socket_bandwidth;  // where there is more than one socket
  int nics_per_switch = 0;
  std::optional<BytesPerSecond> nic_bandwidth;
  Duplex duplex = Duplex::full;
  [[nodiscard]] static std::span<const Field<PcieTree>> fields();
  void check(Reader& in);
  [[nodiscard]] Topology build() const;
  [[nodiscard]] PcieTree in_small(std::string& note) const;

  [[nodiscard]] int pcie_switches() const {
    return (devices + devices_per_switch - 1) / devices_per_switch;
  }
  [[nodiscard]] int sockets() const {
    return (pcie_switches() + switches_per_socket - 1) / switches_per_socket;
  }
};

}  // namespace titer
