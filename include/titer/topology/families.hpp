#pragma once
// The topology families. Each is a small value, in a file of its own, that builds a Topology; they
// are enrolled in src/topology/families.cpp, and nobody else has to know them all.

#include <concepts>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "titer/input/fields.hpp"
#include "titer/topology/failures.hpp"
#include "titer/topology/node_places.hpp"
#include "titer/topology/topology.hpp"

namespace titer {

class Router;
struct Imported;

/// What a family must offer: a name, a sentence, the table of its own keys (all but "family" and
/// those of any topology), its graph. Where keys bear on one another, check(in) says what is wrong
/// and leaves a value that can be built.
template <class F>
concept NodeFamily = requires(const F& family) {
  { F::name } -> std::convertible_to<std::string_view>;
  { F::about } -> std::convertible_to<std::string_view>;
  { F::fields() } -> std::same_as<std::span<const Field<F>>>;
  { family.build() } -> std::same_as<Topology>;
};

class NodeTopology;

/// A family as others use it, whatever it is; FamilyOf<F> makes it of what F offers.
struct TopologyFamily {
  std::string_view name;
  std::string_view about;  // without a full stop
  NodeTopology (*read)(Reader& in);
  void (*add_keys)(Value& schema);  // its own
  Topology (*build)(const NodeTopology& node);
  /// In closed form, where it offers bisection() and diameter(); nothing where the graph tells.
  std::optional<Bisection> (*bisection)(const NodeTopology& node);
  std::optional<int> (*diameter)(const NodeTopology& node);
  /// in_small(note): the same with less of everything, to be drawn; the note says what it is of.
  std::optional<NodeTopology> (*in_small)(const NodeTopology& node, std::string& note);
  const Imported* (*imported)(const NodeTopology& node);
};

template <NodeFamily F>
struct FamilyOf;

/// A value of one of the families.
class NodeTopology {
 public:
  NodeTopology();  // a switch without devices
  template <NodeFamily F>
  NodeTopology(F value)  // NOLINT: what a family describes is a topology
      : family_(&FamilyOf<F>::family), value_(std::make_shared<const F>(std::move(value))) {}

  [[nodiscard]] const TopologyFamily& family() const { return *family_; }
  /// nullptr where it is of another family.
  template <NodeFamily F>
  [[nodiscard]] const F* as() const {
    return family_ == &FamilyOf<F>::family ? static_cast<const F*>(value_.get()) : nullptr;
  }

 private:
  const TopologyFamily* family_;
  std::shared_ptr<const void> value_;
};

template <NodeFamily F>
struct FamilyOf {
  static const F& of(const NodeTopology& node) { return *node.as<F>(); }
  static NodeTopology read(Reader& in) {
    F value;
    read_keys(F::fields(), in, value);
    if constexpr (requires { value.check(in); }) {
      value.check(in);
    }
    return value;
  }
  static void add_keys(Value& schema) { titer::add_keys(F::fields(), schema); }
  static Topology build(const NodeTopology& node) { return of(node).build(); }
  static std::optional<Bisection> bisection([[maybe_unused]] const NodeTopology& node) {
    if constexpr (requires(const F& value) { value.bisection(); }) {
      return of(node).bisection();
    } else {
      return std::nullopt;
    }
  }
  static std::optional<int> diameter([[maybe_unused]] const NodeTopology& node) {
    if constexpr (requires(const F& value) { value.diameter(); }) {
      return of(node).diameter();
    } else {
      return std::nullopt;
    }
  }
  static std::optional<NodeTopology> in_small([[maybe_unused]] const NodeTopology& node,
                                              [[maybe_unused]] std::string& note) {
    if constexpr (requires(const F& value) { value.in_small(note); }) {
      return of(node).in_small(note);
    } else {
      return std::nullopt;
    }
  }
  static const Imported* imported([[maybe_unused]] const NodeTopology& node) {
    if constexpr (requires(const F& value) { value.imported; }) {
      return &of(node).imported;
    } else {
      return nullptr;
    }
  }

  static constexpr TopologyFamily family = {.name = F::name,
                                            .about = F::about,
                                            .read = read,
                                            .add_keys = add_keys,
                                            .build = build,
                                            .bisection = bisection,
                                            .diameter = diameter,
                                            .in_small = in_small,
                                            .imported = imported};
};

/// All of them, in the order in which they are listed.
[[nodiscard]] std::span<const TopologyFamily* const> topology_families();

/// A family with its labels, as in topologies/<name>.json.
struct NamedTopology {
  std::string name{};
  std::string title{};
  std::string source{};
  NodeTopology family;
  std::optional<NetworkRouting> routing{};
  Failures failures{};
  NodePlaces places{};

  /// What it says, else what such networks do: dragonflies are adaptive, others minimal.
  [[nodiscard]] NetworkRouting routing_used() const;
};

/// Reads {"family": "switch", "devices": 8, "bandwidth": "300 GB/s", …} to its end (finish()), with
/// or without "name", "title", "source" and "sources", "routing", "failures" and "placement".
/// Without "family", a "topology" holds it all.
[[nodiscard]] NamedTopology read_topology(Reader& in);
/// Of files that hold one: an alternative for each family.
[[nodiscard]] Value topology_schema();
/// Of a node, all of whose links work.
[[nodiscard]] NodeTopology read_node_topology(Reader& in);
[[nodiscard]] inline Topology build(const NodeTopology& node) { return node.family().build(node); }
/// "torus".
[[nodiscard]] inline std::string_view family_name(const NodeTopology& node) {
  return node.family().name;
}
/// What was read of a machine's or program's own file; nullptr for other families.
[[nodiscard]] inline const Imported* imported_of(const NodeTopology& node) {
  return node.family().imported(node);
}
/// With its routing, without what has failed, and its devices, of which nodes have so many each,
/// numbered as nodes are placed.
[[nodiscard]] Topology build(const NamedTopology& network, int ports_of_node = 1);
/// Of the graph of a family: devices of a torus forward in the order of its dimensions.
[[nodiscard]] Router router_of(const NodeTopology& node, Topology graph);

}  // namespace titer
