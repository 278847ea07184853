#include "titer/report/topology_report.hpp"

#include <fmt/format.h>

#include <map>

#include "titer/report/table.hpp"
#include "titer/topology/properties.hpp"

namespace titer {
namespace {

constexpr std::size_t kMostWiresShown = 64;  // rows of the link table in text

/// "36: 32 leaf, 4 spine" of the switches, by kind in the order of SwitchKind.
std::string switches_text(const Topology& graph) {
  std::map<SwitchKind, int> counts;
  for (int vertex = graph.devices; vertex < graph.vertices(); ++vertex) {
    ++counts[graph.detail(vertex).kind];
  }
  std::string text = std::to_string(graph.switches);
  if (counts.empty() || (counts.size() == 1 && counts.begin()->first == SwitchKind::crossbar)) {
    return text;
  }
  const char* separator = ": ";
  for (const auto& [kind, count] : counts) {
    text += fmt::format("{}{} {}", separator, count, name_of(kind));
    separator = ", ";
  }
  return text;
}

std::string degree_text(const TopologySummary& summary) {
  return summary.least_degree == summary.most_degree
             ? fmt::format("{} links at every device", summary.least_degree)
             : fmt::format("{} to {} links at a device", summary.least_degree, summary.most_degree);
}

std::string rings_text(const RingPacking& rings) {
  if (rings.directed_rings == 0) {
    return "none through all devices on the direct wires";
  }
  std::string text = fmt::format("{} directed rings of {}: {} at each device{}",
                                 rings.directed_rings,
                                 format(rings.per_ring),
                                 format(rings.bandwidth()),
                                 rings.proven ? "" : " (more may exist: the search gave up)");
  for (const std::vector<int>& ring : rings.rings) {
    if (ring.size() == 2) {
      break;  // a link there and back
    }
    text += fmt::format("\n             {}", fmt::join(ring, " - "));
  }
  return text;
}

void add_line(std::string& text, std::string_view name, const std::string& value) {
  text += fmt::format("  {:<11}{}\n", name, value);
}

std::string_view duplex_name(Duplex duplex) { return duplex == Duplex::full ? "full" : "half"; }

std::string link_table(const Topology& graph) {
  const std::vector<std::string> names = labels(graph);
  std::vector<Row> rows = {{"from", "to", "links", "bandwidth of one"}};
  for (const Wire& wire : graph.wires) {
    const std::string shared = wire.duplex == Duplex::half ? ", both directions together" : "";
    rows.push_back({names[static_cast<std::size_t>(wire.a)],
                    names[static_cast<std::size_t>(wire.b)],
                    std::to_string(wire.count),
                    format(wire.bandwidth) + shared});
  }
  return text_table(rows, {Align::left, Align::left, Align::right, Align::left});
}

Value number_or_null(const std::optional<int>& value) { return value ? Value(*value) : Value(); }

Value rings_json(const RingPacking& packing) {
  Value rings = Value::make_array();
  for (const std::vector<int>& order : packing.rings) {
    Value ring = Value::make_array();
    for (const int device : order) {
      ring.push(Value(device));
    }
    rings.push(std::move(ring));
  }
  Value value = Value::make_object();
  value.add("directed_rings", Value(packing.directed_rings))
      .add("per_ring_bytes_per_s", Value(packing.per_ring.si()))
      .add("proven", Value(packing.proven))
      .add("orders", std::move(rings));
  return value;
}

Value vertices_json(const Topology& graph) {
  const std::vector<std::string> names = labels(graph);
  Value switches = Value::make_array();
  for (int vertex = graph.devices; vertex < graph.vertices(); ++vertex) {
    const Switch detail = graph.detail(vertex);
    Value entry = Value::make_object();
    entry.add("id", Value(vertex))
        .add("label", Value(names[static_cast<std::size_t>(vertex)]))
        .add("reduces", Value(detail.reduces));
    switches.push(std::move(entry));
  }
  return switches;
}

Value wires_json(const Topology& graph) {
  Value wires = Value::make_array();
  for (const Wire& wire : graph.wires) {
    Value entry = Value::make_object();
    entry.add("a", Value(wire.a))
        .add("b", Value(wire.b))
        .add("links", Value(wire.count))
        .add("bandwidth_bytes_per_s", Value(wire.bandwidth.si()))
        .add("latency_s", Value(wire.latency.si()))
        .add("duplex", Value(duplex_name(wire.duplex)));
    wires.push(std::move(entry));
  }
  return wires;
}

}  // namespace

std::string topology_text(const TopologyView& view) {
  const Topology& graph = view.graph;
  const TopologySummary summary = summarize(view.named.family, graph);
  std::string text = view.named.name;
  text += view.named.title.empty() ? "\n" : fmt::format(": {}\n", view.named.title);
  add_line(text, "family", std::string(family_name(view.named.family)));
  add_line(text, "devices", std::to_string(graph.devices));
  add_line(text, "switches", switches_text(graph) + (summary.reduces ? " (can reduce)" : ""));
  add_line(text, "links", std::to_string(summary.links));
  add_line(text, "degree", degree_text(summary));
  if (summary.diameter) {
    add_line(text,
             "diameter",
             fmt::format("{} link{}", *summary.diameter, *summary.diameter == 1 ? "" : "s"));
  }
  if (summary.bisection) {
    add_line(text,
             "bisection",
             fmt::format(
                 "{} one way ({})", format(summary.bisection->bandwidth), summary.bisection->how));
  }
  if (summary.rings) {
    add_line(text, "rings", rings_text(*summary.rings));
  }
  if (!view.named.source.empty()) {
    add_line(text, "source", view.named.source);
  }
  if (!view.remark.empty()) {
    add_line(text, "assumed", view.remark);
  }
  if (graph.wires.size() <= kMostWiresShown && !graph.wires.empty()) {
    text += fmt::format("\n{}", link_table(graph));
  }
  return text;
}

std::string topology_csv(const TopologyView& view) {
  const std::vector<std::string> names = labels(view.graph);
  std::string text =
      csv_line({"a", "b", "from", "to", "links", "bandwidth_bytes_per_s", "latency_s", "duplex"});
  for (const Wire& wire : view.graph.wires) {
    text += csv_line({std::to_string(wire.a),
                      std::to_string(wire.b),
                      names[static_cast<std::size_t>(wire.a)],
                      names[static_cast<std::size_t>(wire.b)],
                      std::to_string(wire.count),
                      number_text(wire.bandwidth.si()),
                      number_text(wire.latency.si()),
                      std::string(duplex_name(wire.duplex))});
  }
  return text;
}

Value topology_json(const TopologyView& view) {
  const Topology& graph = view.graph;
  const TopologySummary summary = summarize(view.named.family, graph);
  Value bisection;
  if (summary.bisection) {
    bisection = Value::make_object();
    bisection.add("bytes_per_s", Value(summary.bisection->bandwidth.si()))
        .add("how", Value(summary.bisection->how));
  }
  Value root = Value::make_object();
  root.add("format_version", Value(1))
      .add("name", Value(view.named.name))
      .add("title", Value(view.named.title))
      .add("family", Value(family_name(view.named.family)))
      .add("source", Value(view.named.source))
      .add("assumed", view.remark.empty() ? Value() : Value(view.remark))
      .add("devices", Value(graph.devices))
      .add("links", Value(summary.links))
      .add("least_degree", Value(summary.least_degree))
      .add("most_degree", Value(summary.most_degree))
      .add("diameter", number_or_null(summary.diameter))
      .add("bisection", std::move(bisection))
      .add("rings", summary.rings ? rings_json(*summary.rings) : Value())
      .add("switches", vertices_json(graph))
      .add("wires", wires_json(graph));
  return root;
}

std::string topology_dot(const TopologyView& view) {
  const Topology& graph = view.graph;
  const std::vector<std::string> names = labels(graph);
  // Names and titles are the user's text: quotes and backslashes must not end the DOT string.
  const auto quoted = [](const std::string& name) {
    std::string safe;
    for (const char letter : name) {
      if (letter == '"' || letter == '\\') {
        safe += '\\';
      }
      safe += letter;
    }
    return fmt::format("\"{}\"", safe);
  };
  std::string text = fmt::format("graph {} {{\n  overlap=false;\n", quoted(view.named.name));
  for (int vertex = 0; vertex < graph.vertices(); ++vertex) {
    text += fmt::format("  v{} [label={}, shape={}];\n",
                        vertex,
                        quoted(names[static_cast<std::size_t>(vertex)]),
                        vertex < graph.devices ? "circle" : "box");
  }
  for (const Wire& wire : graph.wires) {
    text += fmt::format("  v{} -- v{} [label=\"{} x {}\", penwidth={}{}];\n",
                        wire.a,
                        wire.b,
                        wire.count,
                        format(wire.bandwidth),
                        std::min(wire.count, 8),
                        wire.duplex == Duplex::half ? ", style=dashed" : "");
  }
  return text + "}\n";
}

}  // namespace titer
