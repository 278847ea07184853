#pragma once
// A topology as it is read, and as a picture: DOT for graphviz, SVG of our own.

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

/// What it is, its properties, and its links, in text where they are not too many to read; a row
/// for each wire.
[[nodiscard]] View topology_view(const TopologyView& view);
/// The whole graph, for graphviz.
[[nodiscard]] std::string topology_dot(const TopologyView& view);
/// A picture; of a large topology only a part, and a note that says which. `busy`: how long each
/// wire is; links are coloured by that where all are drawn.
[[nodiscard]] std::string topology_svg(const TopologyView& view,
                                       std::span<const Seconds> busy = {});
/// The picture of a report.
[[nodiscard]] Drawing topology_drawing(const TopologyView& view,
                                       std::span<const Seconds> busy = {});

}  // namespace titer
