#include "titer/topology/families.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <set>
#include <utility>

namespace titer {

namespace {

constexpr std::int64_t kMostDevices = 1024;  // on a switch or a circle
constexpr std::int64_t kMostWired = 64;      // wired pair by pair
constexpr std::int64_t kMostParallel = 64;   // links between one pair

int read_devices(Reader& in, std::int64_t least, std::int64_t most) {
  return static_cast<int>(in.integer("devices", least, most));
}

bool is_triple_of_integers(const Value& edge) {
  if (edge.kind != Value::Kind::array || edge.items.size() != 3) {
    return false;
  }
  for (const Value& item : edge.items) {
    if (item.kind != Value::Kind::number || !item.is_integer) {
      return false;
    }
  }
  return true;
}

using Pairs = std::set<std::pair<std::int64_t, std::int64_t>>;

/// What is wrong with one entry [a, b, count]; empty when it is right. Notes its pair in `seen`.
std::string flaw_of(const Value& edge, std::int64_t devices, Pairs& seen) {
  if (!is_triple_of_integers(edge)) {
    return "expected [device, device, parallel links], three integers";
  }
  const std::int64_t a = edge.items[0].integer;
  const std::int64_t b = edge.items[1].integer;
  const std::int64_t count = edge.items[2].integer;
  for (const std::int64_t device : {a, b}) {
    if (device < 0 || device >= devices) {
      return "device " + std::to_string(device) + " is not in 0 .. " + std::to_string(devices - 1);
    }
  }
  if (a == b) {
    return "a link from a device to itself";
  }
  if (count < 1 || count > kMostParallel) {
    return "the number of parallel links must be 1 .. " + std::to_string(kMostParallel);
  }
  if (!seen.insert(std::minmax(a, b)).second) {
    return "this pair was listed before; give the sum of its parallel links once";
  }
  return {};
}

std::vector<Wire> read_edges(Reader& in, int devices, BytesPerSecond bandwidth) {
  const Value* edges = in.raw("edges");
  if (edges == nullptr || edges->kind != Value::Kind::array || edges->items.empty()) {
    in.fail("edges", "expected a list of [device, device, parallel links]");
    return {};
  }
  std::vector<Wire> wires;
  Pairs seen;
  for (std::size_t i = 0; i < edges->items.size(); ++i) {
    const Value& edge = edges->items[i];
    const std::string flaw = flaw_of(edge, devices, seen);
    if (!flaw.empty()) {
      in.fail("edges", "entry " + std::to_string(i) + ", " + to_json(edge, 0) + ": " + flaw);
      continue;
    }
    wires.push_back({.a = static_cast<int>(edge.items[0].integer),
                     .b = static_cast<int>(edge.items[1].integer),
                     .count = static_cast<int>(edge.items[2].integer),
                     .bandwidth = bandwidth});
  }
  return wires;
}

/// The names of the variant's alternatives, as choices of their positions.
template <class... Families>
constexpr auto family_choices(std::variant<Families...>*) {
  std::size_t index = 0;
  return std::array{Choice<std::size_t>{Families::name, index++}...};
}

/// Reads the alternative at position `wanted`.
template <class... Families>
NodeTopology read_family(std::variant<Families...>*, std::size_t wanted, Reader& in) {
  NodeTopology node;
  std::size_t index = 0;
  ((index++ == wanted ? void(node = Families::read(in)) : void()), ...);
  return node;
}

}  // namespace

SwitchedNode SwitchedNode::read(Reader& in) {
  return {.devices = read_devices(in, 1, kMostDevices),
          .bandwidth = in.quantity<BytesPerSecond>("bandwidth")};
}

Topology SwitchedNode::build() const {
  Topology topology{.name = std::string(name), .devices = devices, .switches = 1, .wires = {}};
  for (int device = 0; device < devices; ++device) {
    topology.wires.push_back({.a = device, .b = devices, .count = 1, .bandwidth = bandwidth});
  }
  return topology;
}

FullyConnectedNode FullyConnectedNode::read(Reader& in) {
  return {.devices = read_devices(in, 2, kMostWired),
          .links = static_cast<int>(in.maybe_integer("links", 1, kMostParallel).value_or(1)),
          .bandwidth = in.quantity<BytesPerSecond>("bandwidth")};
}

Topology FullyConnectedNode::build() const {
  Topology topology{.name = std::string(name), .devices = devices, .switches = 0, .wires = {}};
  for (int a = 0; a < devices; ++a) {
    for (int b = a + 1; b < devices; ++b) {
      topology.wires.push_back({.a = a, .b = b, .count = links, .bandwidth = bandwidth});
    }
  }
  return topology;
}

RingNode RingNode::read(Reader& in) {
  return {.devices = read_devices(in, 3, kMostDevices),
          .bandwidth = in.quantity<BytesPerSecond>("bandwidth")};
}

Topology RingNode::build() const {
  Topology topology{.name = std::string(name), .devices = devices, .switches = 0, .wires = {}};
  for (int device = 0; device < devices; ++device) {
    topology.wires.push_back(
        {.a = device, .b = (device + 1) % devices, .count = 1, .bandwidth = bandwidth});
  }
  return topology;
}

EdgeListNode EdgeListNode::read(Reader& in) {
  EdgeListNode node;
  node.bandwidth = in.quantity<BytesPerSecond>("bandwidth");
  Reader list = in.object("topology");
  node.wiring = list.text("name");
  (void)list.maybe_text("title");
  (void)list.maybe_text("source");
  node.devices = read_devices(list, 2, kMostWired);
  node.wires = read_edges(list, node.devices, node.bandwidth);
  list.finish();
  return node;
}

Topology EdgeListNode::build() const {
  return {.name = wiring, .devices = devices, .switches = 0, .wires = wires};
}

NodeTopology read_node_topology(Reader& in) {
  constexpr NodeTopology* families = nullptr;  // carries the list of alternatives, no value
  constexpr auto choices = family_choices(families);
  const auto family = in.maybe_choice<std::size_t>("family", choices);
  if (!family) {
    // What the other keys should be is not known; the getter says what the family may be.
    if (!in.has("family")) {
      static_cast<void>(in.choice<std::size_t>("family", choices));
    }
    return SwitchedNode{.devices = 1, .bandwidth = 1_GBps};
  }
  NodeTopology node = read_family(families, *family, in);
  in.finish();
  return node;
}

Topology build(const NodeTopology& node) {
  return std::visit([](const auto& family) { return family.build(); }, node);
}

}  // namespace titer
