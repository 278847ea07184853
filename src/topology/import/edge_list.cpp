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

using OwnField = Field<EdgeListNode>;

/// Whether the list stands in an object of its own, or is the name of a shipped one.
bool is_elsewhere(const Reader& in) { return in.has("topology"); }

void read_edges(const OwnField& own, Reader& in, EdgeListNode& node) {
  if (is_elsewhere(in)) {
    return;
  }
  const Value* edges = in.raw(own.key);
  if (edges == nullptr || edges->kind != Value::Kind::array || edges->items.empty()) {
    in.fail(own.key, "expected a list of [device, device, parallel links]");
    return;
  }
  const int vertices = node.devices + static_cast<int>(node.switches.size());
  Pairs seen;
  for (std::size_t i = 0; i < edges->items.size(); ++i) {
    const Value& edge = edges->items[i];
    const std::string flaw = flaw_of(edge, vertices, seen);
    if (!flaw.empty()) {
      in.fail(own.key, "entry " + std::to_string(i) + ", " + to_json(edge, 0) + ": " + flaw);
      continue;
    }
    node.wires.push_back({.a = static_cast<int>(edge.items[0].integer),
                          .b = static_cast<int>(edge.items[1].integer),
                          .count = static_cast<int>(edge.items[2].integer),
                          .bandwidth = *bandwidth_of(edge, node.bandwidth)});
  }
}

Value edges_schema() {
  return schema::list_of(
      schema::list_of(schema::either({schema::integer({}), schema::quantity<BytesPerSecond>()})));
}

void read_devices(const OwnField& own, Reader& in, EdgeListNode& node) {
  if (!is_elsewhere(in)) {
    const auto devices = fields::read_integer(own.key, own.range, true, in);
    node.devices = static_cast<int>(devices.value_or(0));
  }
}

/// How many, or the list of their kinds.
void read_switches(const OwnField& own, Reader& in, EdgeListNode& node) {
  if (is_elsewhere(in)) {
    return;
  }
  const Value* value = in.raw(own.key);
  if (value == nullptr || value->kind != Value::Kind::array) {
    const auto count = in.maybe_integer(own.key, 0, kMostListedDevices).value_or(0);
    node.switches.resize(static_cast<std::size_t>(count));
    return;
  }
  for (const std::string& kind : in.texts(own.key)) {
    const auto* known =
        std::ranges::find_if(kKinds, [&](const auto& choice) { return choice.name == kind; });
    if (known == kKinds.end()) {
      in.fail(own.key,
              "\"" + kind + "\": expected switch, leaf, spine, core, router, nic, pcie or cpu");
      continue;
    }
    node.switches.push_back({.kind = known->value});
  }
}

Value switches_schema() {
  return schema::either({schema::integer({0, static_cast<double>(kMostListedDevices)}),
                         schema::list_of(schema::one_of<SwitchKind>(kKinds))});
}

/// What stands around a list goes before its own.
void read_bandwidth(const OwnField& own, Reader& in, EdgeListNode& node) {
  if (node.bandwidth > BytesPerSecond{}) {
    static_cast<void>(in.raw(own.key));
  } else if (is_elsewhere(in)) {
    node.bandwidth = in.maybe_quantity<BytesPerSecond>(own.key).value_or(BytesPerSecond{});
  } else {
    node.bandwidth = in.quantity<BytesPerSecond>(own.key);
  }
}

void read_elsewhere(const OwnField& own, Reader& in, EdgeListNode& node) {
  if (!is_elsewhere(in)) {
    node.wiring = in.maybe_text("name").value_or(std::string(EdgeListNode::name));
    return;
  }
  Reader list = in.object(own.key);
  if (list.maybe_text("family").value_or(std::string(EdgeListNode::name)) != EdgeListNode::name) {
    list.fail("family", "expected edges; leave out the \"family\" that stands around it");
    return;
  }
  read_keys(EdgeListNode::fields(), list, node);
  node.wiring = list.text("name");
  static_cast<void>(list.maybe_text("title"));
  static_cast<void>(list.maybe_text("source"));
  static_cast<void>(list.raw("sources"));
  list.finish();
}

constexpr std::string_view kUnlessElsewhere = "required without `topology`";

constexpr std::array kEdgeListFields = {
    fields::quantity<&EdgeListNode::bandwidth>(
        "bandwidth", "of a link, one direction, where its entry has none of its own")
        .or_else("that of `topology`")
        .read_by(read_bandwidth),
    fields::of_schema<EdgeListNode, schema::named_data>(
        "topology",
        read_elsewhere,
        "a list with other bandwidths, as the keys below or by its name"),
    fields::integer<&EdgeListNode::devices>(
        "devices", {2, static_cast<double>(kMostListedDevices)}, "of the node")
        .or_else(kUnlessElsewhere)
        .read_by(read_devices),
    fields::of_schema<EdgeListNode, switches_schema>(
        "switches", read_switches, "how many, or their kinds: the vertices behind the devices")
        .or_else("0"),
    fields::of_schema<EdgeListNode, edges_schema>(
        "edges",
        read_edges,
        "pairs of vertices, how many links join them, and perhaps their bandwidth: `[0, 1, 2]`")
        .or_else(kUnlessElsewhere)};

}  // namespace

std::span<const Field<EdgeListNode>> EdgeListNode::fields() { return kEdgeListFields; }

Topology EdgeListNode::build() const {
  return {.name = wiring,
          .devices = devices,
          .switches = static_cast<int>(switches.size()),
          .wires = wires,
          .details = switches};
}

}  // namespace titer
