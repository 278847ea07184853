#include "titer/report/network/topology_report.hpp"

#include <fmt/format.h>

#include <map>

#include "titer/topology/properties.hpp"
#include "titer/units/text.hpp"

namespace titer {
namespace {

constexpr std::size_t kMostWiresShown = 64;  // rows of the link table in text
constexpr std::string_view kWireColumns =
    "a b from to links bandwidth_bytes_per_s latency_s duplex";

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

/// Both ends of a wire, by their names and by their numbers.
Figures end_figures(const Wire& wire, const std::vector<std::string>& names) {
  return {{"from", names[static_cast<std::size_t>(wire.a)], "from"},
          {"to", names[static_cast<std::size_t>(wire.b)], "to"}};
}

Figures wire_figures(const Wire& wire) {
  const bool is_full = wire.duplex == Duplex::full;
  const std::string shared = is_full ? "" : ", both directions together";
  return {{"a", wire.a},
          {"b", wire.b},
          {"links", wire.count, "links"},
          {"bandwidth_bytes_per_s",
           Datum(wire.bandwidth, format(wire.bandwidth) + shared),
           "bandwidth of one"},
          {"latency_s", wire.latency},
          {"duplex", is_full ? "full" : "half"}};
}

FigureRows wire_rows(const Topology& graph) {
  const std::vector<std::string> names = labels(graph);
  return rows_of(graph.wires, [&](const Wire& wire) {
    return joined(end_figures(wire, names), wire_figures(wire));
  });
}

FigureRows switch_rows(const Topology& graph) {
  const std::vector<std::string> names = labels(graph);
  FigureRows rows;
  for (int vertex = graph.devices; vertex < graph.vertices(); ++vertex) {
    rows.push_back({{"id", vertex},
                    {"label", names[static_cast<std::size_t>(vertex)]},
                    {"reduces", graph.detail(vertex).reduces}});
  }
  return rows;
}

Datum rings_datum(const std::optional<RingPacking>& packing) {
  if (!packing) {
    return {};
  }
  return Figures{{"directed_rings", packing->directed_rings},
                 {"per_ring_bytes_per_s", packing->per_ring},
                 {"proven", packing->proven},
                 {"orders", packing->rings}};
}

void add_line(std::string& text, std::string_view name, const std::string& value) {
  text += fmt::format("  {:<11}{}\n", name, value);
}

/// All but the wires, which may be many.
Figures topology_figures(const TopologyView& view, const TopologySummary& summary) {
  const Topology& graph = view.graph;
  Datum bisection;
  if (summary.bisection) {
    bisection =
        Figures{{"bytes_per_s", summary.bisection->bandwidth}, {"how", summary.bisection->how}};
  }
  const std::string failed =
      view.named.failures.any() ? failures_text(view.named.failures) : std::string();
  return {{"name", view.named.name},
          {"title", view.named.title},
          {"family", family_name(view.named.family)},
          {"source", view.named.source},
          {"assumed", said(view.remark)},
          {"devices", graph.devices},
          {"routing", name_of(graph.routing)},
          {"failed", said(failed)},
          {"links", summary.links},
          {"least_degree", summary.least_degree},
          {"most_degree", summary.most_degree},
          {"diameter", summary.diameter},
          {"bisection", bisection},
          {"rings", rings_datum(summary.rings)},
          {"switches", switch_rows(graph)}};
}

Figures topology_headline(const TopologyView& view, const TopologySummary& summary) {
  Figures figures = {{"", view.graph.devices, "devices"},
                     {"", switches_text(view.graph), "switches"},
                     {"", summary.links, "links"},
                     {"", summary.diameter, "diameter, links"}};
  if (summary.bisection) {
    figures.push_back({"", summary.bisection->bandwidth, "bisection, one way"});
  }
  return figures;
}

/// What it is, its properties, and its links where they are not too many to read.
TextView topology_text(const TopologyView& view, const TopologySummary& summary) {
  const Topology& graph = view.graph;
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
  if (graph.routing != NetworkRouting::minimal) {
    add_line(text, "routing", std::string(name_of(graph.routing)));
  }
  if (view.named.failures.any()) {
    add_line(text, "failed", failures_text(view.named.failures));
  }
  if (view.named.places != NodePlaces{}) {
    add_line(text, "devices", "placed " + places_text(view.named.places));
  }
  if (!view.named.source.empty()) {
    add_line(text, "source", view.named.source);
  }
  if (!view.remark.empty()) {
    add_line(text, "assumed", view.remark);
  }
  return graph.wires.size() <= kMostWiresShown && !graph.wires.empty()
             ? TextView(text + "\n").table(wire_rows(graph), "llrl")
             : TextView(text);
}

}  // namespace

View topology_view(const TopologyView& view) {
  const TopologySummary summary = summarize(view.named, view.graph);
  View shown{.text = topology_text(view, summary),
             .figures = topology_figures(view, summary),
             .rows = wire_rows(view.graph),
             .columns = std::string(kWireColumns),
             .headline = topology_headline(view, summary)};
  shown.figures.push_back({"wires", Datum(objects_of(view.graph.wires, wire_figures))});
  return shown;
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
