// The family whose wiring is a list.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <set>
#include <utility>

#include "titer/topology/family/node_families.hpp"
#include "titer/units/text.hpp"

namespace titer {
namespace {

constexpr std::int64_t kMostListedDevices = 1024;
constexpr std::int64_t kMostListedLinks = 64;  // links between one pair

constexpr std::array<Choice<SwitchKind>, 8> kKinds = {{{"switch", SwitchKind::crossbar},
                                                       {"leaf", SwitchKind::leaf},
                                                       {"spine", SwitchKind::spine},
                                                       {"core", SwitchKind::core},
                                                       {"router", SwitchKind::router},
                                                       {"nic", SwitchKind::nic},
                                                       {"pcie", SwitchKind::pcie},
                                                       {"cpu", SwitchKind::cpu}}};

bool starts_with_three_integers(const Value& edge) {
  if (edge.kind != Value::Kind::array || edge.items.size() < 3 || edge.items.size() > 4) {
    return false;
  }
  return std::all_of(edge.items.begin(), edge.items.begin() + 3, [](const Value& item) {
    return item.kind == Value::Kind::number && item.is_integer;
  });
}

/// The bandwidth of an entry's own, or `otherwise`; empty when it is not right.
std::optional<BytesPerSecond> bandwidth_of(const Value& edge, BytesPerSecond otherwise) {
  if (edge.items.size() == 3) {
    return otherwise;
  }
  const Value& own = edge.items[3];
  const auto value = own.kind == Value::Kind::text ? parse<BytesPerSecond>(own.text)
                                                   : std::optional<BytesPerSecond>();
  return value && *value > BytesPerSecond{} ? value : std::nullopt;
}

using Pairs = std::set<std::pair<std::int64_t, std::int64_t>>;

/// What is wrong with one entry [a, b, count]; empty when it is right. Notes its pair in `seen`.
std::string flaw_of(const Value& edge, std::int64_t vertices, Pairs& seen) {
  if (!starts_with_three_integers(edge)) {
    return "expected [device, device, parallel links], three integers, then perhaps a bandwidth";
  }
  const std::int64_t a = edge.items[0].integer;
  const std::int64_t b = edge.items[1].integer;
  const std::int64_t count = edge.items[2].integer;
  for (const std::int64_t device : {a, b}) {
    if (device < 0 || device >= vertices) {
      return "device " + std::to_string(device) + " is not in 0 .. " + std::to_string(vertices - 1);
    }
  }
  if (a == b) {
    return "a link from a device to itself";
  }
  if (count < 1 || count > kMostListedLinks) {
    return "the number of parallel links must be 1 .. " + std::to_string(kMostListedLinks);
  }
  if (!seen.insert(std::minmax(a, b)).second) {
    return "this pair was listed before; give the sum of its parallel links once";
  }
  if (!bandwidth_of(edge, 1_GBps)) {
    return "expected " + std::string(example<BytesPerSecond>()) +
           ", above zero, as the fourth element";
  }
  return {};
}

std::vector<Wire> read_edges(Reader& in, int vertices, BytesPerSecond bandwidth) {
  const Value* edges = in.raw("edges");
  if (edges == nullptr || edges->kind != Value::Kind::array || edges->items.empty()) {
    in.fail("edges", "expected a list of [device, device, parallel links]");
    return {};
  }
  std::vector<Wire> wires;
  Pairs seen;
  for (std::size_t i = 0; i < edges->items.size(); ++i) {
    const Value& edge = edges->items[i];
    const std::string flaw = flaw_of(edge, vertices, seen);
    if (!flaw.empty()) {
      in.fail("edges", "entry " + std::to_string(i) + ", " + to_json(edge, 0) + ": " + flaw);
      continue;
    }
    wires.push_back({.a = static_cast<int>(edge.items[0].integer),
                     .b = static_cast<int>(edge.items[1].integer),
                     .count = static_cast<int>(edge.items[2].integer),
                     .bandwidth = *bandwidth_of(edge, bandwidth)});
  }
  return wires;
}

/// "switches": how many, or the list of their kinds.
std::vector<Switch> read_switches(Reader& in) {
  const Value* value = in.raw("switches");
  if (value == nullptr || value->kind != Value::Kind::array) {
    const auto count = in.maybe_integer("switches", 0, kMostListedDevices).value_or(0);
    return std::vector<Switch>(static_cast<std::size_t>(count));
  }
  std::vector<Switch> switches;
  for (const std::string& kind : in.texts("switches")) {
    const auto* known = std::find_if(
        kKinds.begin(), kKinds.end(), [&](const auto& choice) { return choice.name == kind; });
    if (known == kKinds.end()) {
      in.fail("switches",
              "\"" + kind + "\": expected switch, leaf, spine, core, router, nic, pcie or cpu");
      continue;
    }
    switches.push_back({.kind = known->value});
  }
  return switches;
}

/// The keys of the list itself, `outer` being the bandwidth given around it.
EdgeListNode read_list(Reader& in, std::optional<BytesPerSecond> outer) {
  EdgeListNode node;
  if (outer) {
    static_cast<void>(in.raw("bandwidth"));
    node.bandwidth = *outer;
  } else {
    node.bandwidth = in.quantity<BytesPerSecond>("bandwidth");
  }
  node.devices = static_cast<int>(in.integer("devices", 2, kMostListedDevices));
  node.switches = read_switches(in);
  const int vertices = node.devices + static_cast<int>(node.switches.size());
  node.wires = read_edges(in, vertices, node.bandwidth);
  return node;
}

}  // namespace

EdgeListNode EdgeListNode::read(Reader& in) {
  if (!in.has("topology")) {
    EdgeListNode node = read_list(in, std::nullopt);
    node.wiring = in.maybe_text("name").value_or(std::string(name));
    return node;
  }
  const auto outer = in.maybe_quantity<BytesPerSecond>("bandwidth");
  Reader list = in.object("topology");
  if (list.maybe_text("family").value_or(std::string(name)) != name) {
    list.fail("family", "expected edges; leave out the \"family\" that stands around it");
    return {};
  }
  EdgeListNode node = read_list(list, outer);
  node.wiring = list.text("name");
  static_cast<void>(list.maybe_text("title"));
  static_cast<void>(list.maybe_text("source"));
  static_cast<void>(list.raw("sources"));
  list.finish();
  return node;
}

Topology EdgeListNode::build() const {
  return {.name = wiring,
          .devices = devices,
          .switches = static_cast<int>(switches.size()),
          .wires = wires,
          .details = switches};
}

}  // namespace titer
