#pragma once
// The families of small nodes: switched, wired pair by pair, in a circle, or by a list.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "titer/input/fields.hpp"
#include "titer/topology/topology.hpp"

namespace titer {

/// Every device on non-blocking switches (DGX-2, DGX A100, DGX H100, NVL72: NVSwitch).
/// `bandwidth`: of a device's port, one direction; each of the `planes` switch chips has an equal
/// share of it. `reduces`: the switches can add up what passes (NVLink SHARP).
struct SwitchedNode {
  static constexpr std::string_view name = "switch";
  static constexpr std::string_view about = "every device on non-blocking switches";
  int devices = 0;
  BytesPerSecond bandwidth;
  int planes = 1;
  bool reduces = false;
  [[nodiscard]] static std::span<const Field<SwitchedNode>> fields();
  [[nodiscard]] Topology build() const;
  [[nodiscard]] SwitchedNode in_small(std::string& note) const;
};

/// `links` parallel links between every pair (4x A100 of Polaris, 8x MI300X). `bandwidth`: of one
/// link. Parallel links can serve different rings, which one wire as fast as all of them cannot.
struct FullyConnectedNode {
  static constexpr std::string_view name = "fully-connected";
  static constexpr std::string_view about = "so many links between every pair";
  int devices = 0;
  int links = 1;
  BytesPerSecond bandwidth;
  [[nodiscard]] static std::span<const Field<FullyConnectedNode>> fields();
  [[nodiscard]] Topology build() const;
  [[nodiscard]] FullyConnectedNode in_small(std::string& note) const;
};

/// Three or more devices in a circle. `bandwidth`: of one wire.
struct RingNode {
  static constexpr std::string_view name = "ring";
  static constexpr std::string_view about = "devices in a circle";
  int devices = 0;
  BytesPerSecond bandwidth;
  [[nodiscard]] static std::span<const Field<RingNode>> fields();
  [[nodiscard]] Topology build() const;
  [[nodiscard]] RingNode in_small(std::string& note) const;
};

/// Any wiring, given as a list [[a, b, count], …] (DGX-1's hybrid cube mesh), each entry with a
/// bandwidth of its own as a fourth element if it differs. `bandwidth`: of one link. Vertices from
/// `devices` on are switches. The list may stand in "topology", as the name of a shipped one.
struct EdgeListNode {
  static constexpr std::string_view name = "edges";
  static constexpr std::string_view about = "any wiring, as a list [[a, b, count], …]";
  std::string wiring;  // the edge list's own name
  int devices = 0;
  BytesPerSecond bandwidth;
  std::vector<Wire> wires;
  std::vector<Switch> switches{};
  [[nodiscard]] static std::span<const Field<EdgeListNode>> fields();
  [[nodiscard]] Topology build() const;
};

}  // namespace titer
