#pragma once
// The wiring as a graph: devices and switches joined by links that have a bandwidth per direction
// and a multiplicity. Two-way links are one edge. Devices are numbered 0 .. devices-1.

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "titer/input/choice.hpp"
#include "titer/units/quantity.hpp"

namespace titer {

/// Whether the two directions of a wire have a bandwidth each, or share one (a bus).
enum class Duplex { full, half };

/// A cable between two vertices.
struct Wire {
  int a = 0;
  int b = 0;
  int count = 1;             // parallel links between the same pair
  BytesPerSecond bandwidth;  // of one of them, one direction
  Seconds latency{};         // of one traversal; none where a protocol's latency includes it
  Duplex duplex = Duplex::full;
};

/// What a vertex that is no device stands for, for tables and drawings.
enum class SwitchKind { crossbar, leaf, spine, core, router, nic, pcie, cpu };
[[nodiscard]] std::string_view name_of(SwitchKind kind);

struct Switch {
  SwitchKind kind = SwitchKind::crossbar;
  bool reduces = false;  // can add up what passes through it (NVLS, SHARP)
};

/// How traffic takes the ways between two vertices.
enum class NetworkRouting {
  minimal,   // over all best routes, evenly
  ecmp,      // over one of them for each pair of ends, picked by a hash: some links get several
  valiant,   // by way of somewhere else, anywhere alike [Valiant 1982]
  adaptive,  // minimal and valiant in that mix which leaves the busiest link least busy, the ideal
             // of routing by the length of queues (UGAL) [Singh 2005; Kim et al. 2008]
};
inline constexpr std::array<Choice<NetworkRouting>, 4> kNetworkRoutings = {
    {{"minimal", NetworkRouting::minimal},
     {"ecmp", NetworkRouting::ecmp},
     {"valiant", NetworkRouting::valiant},
     {"adaptive", NetworkRouting::adaptive}}};
[[nodiscard]] std::string_view name_of(NetworkRouting routing);

/// A network of devices (vertices 0 .. devices-1) and switches (the vertices after them).
struct Topology {
  std::string name;
  int devices = 0;
  int switches = 0;
  std::vector<Wire> wires;
  std::vector<Switch> details{};  // of each switch, or empty: all plain crossbars
  NetworkRouting routing = NetworkRouting::minimal;
  // By vertex: the part of the network that it is in, such as a dragonfly's group; -1 or none at
  // all: of no part. Traffic from one part to another may go by way of any vertex of a part.
  std::vector<int> regions{};

  [[nodiscard]] int vertices() const { return devices + switches; }
  /// REQUIRES a vertex from `devices` on.
  [[nodiscard]] Switch detail(int vertex) const;
  /// "device 3", "leaf 0": the kind and the number among its kind, from 0.
  [[nodiscard]] std::string label(int vertex) const;
};

/// Appends switches of one kind and returns the number of the first new vertex.
int add_switches(Topology& topology, int count, Switch detail);

/// Most links on the shortest way between any two devices; empty when some pair is not connected.
[[nodiscard]] std::optional<int> diameter(const Topology& topology);
/// Bandwidth one way across the split of the devices into {0..n/2-1} and {n/2..n-1}: the min cut
/// between the two sets as numbered. (The worst split over all numberings is NP-hard.)
[[nodiscard]] BytesPerSecond halves_bandwidth(const Topology& topology);

/// Bandwidth one way between two halves of the devices, and how it was found.
struct Bisection {
  BytesPerSecond bandwidth;
  std::string_view how;
};

/// What a ring collective can use inside a group: `directed_rings` link-disjoint directed rings
/// through all of the group, each of bandwidth `per_ring`.
struct RingPacking {
  int directed_rings = 0;
  BytesPerSecond per_ring;
  std::vector<std::vector<int>> rings;  // the undirected cycles, as orders of devices
  bool proven = true;  // no larger packing exists; false: the bounded search gave up looking

  /// What each rank can send and receive at the same time over all rings, one direction.
  [[nodiscard]] BytesPerSecond bandwidth() const { return directed_rings * per_ring; }
};

/// Whether the group names devices, and none twice. REQUIRES one or more.
[[nodiscard]] bool are_distinct_devices(const Topology& topology, std::vector<int> group);

/// The largest set of link-disjoint Hamiltonian cycles of the links among `group` (device ids).
/// - Direct links, more than two devices: exact search, cut off after a fixed amount of work (see
///   `proven`). Each cycle is used in both directions: two directed rings, each of one link's
///   bandwidth (of the slowest link in the group, where links differ).
/// - Two devices: each link between them is a ring, and its two directions are the two hops of one
///   directed ring, so `count` links give count directed rings.
/// - Through switches that join all of the group the ports are the limit: one directed ring at the
///   bandwidth of the slowest port.
/// Zero rings when the group cannot be ringed. REQUIRES two or more distinct devices.
[[nodiscard]] RingPacking pack_rings(const Topology& topology, const std::vector<int>& group);

}  // namespace titer
