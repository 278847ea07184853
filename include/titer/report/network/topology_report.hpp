#pragma once
// A topology as text, CSV and JSON, and as a picture: DOT for graphviz, SVG of our own.

#include <span>
#include <string>

#include "titer/topology/families.hpp"
#include "titer/view/view.hpp"

namespace titer {

/// A topology and its graph, as shown.
struct TopologyView {
  NamedTopology named;
  Topology graph;
  std::string remark;  // what was assumed to read it; "" for nothing
};

/// What it is, its properties, and its links where they are not too many to read.
[[nodiscard]] TextView topology_text(const TopologyView& view);
/// One row per wire.
[[nodiscard]] std::string topology_csv(const TopologyView& view);
/// Properties and all wires.
[[nodiscard]] Value topology_json(const TopologyView& view);
/// The whole graph, for graphviz.
[[nodiscard]] std::string topology_dot(const TopologyView& view);
/// A picture; of a large topology only a part, and a note that says which. `busy`: how long each
/// wire is; links are coloured by that where all are drawn.
[[nodiscard]] std::string topology_svg(const TopologyView& view,
                                       std::span<const Seconds> busy = {});
/// What it is, with its picture, for reports.
[[nodiscard]] View topology_view(const TopologyView& view);
/// The picture of a report.
[[nodiscard]] Drawing topology_drawing(const TopologyView& view,
                                       std::span<const Seconds> busy = {});

}  // namespace titer
