#pragma once
// What an SVG of a topology shows, and where.

#include <optional>
#include <string>
#include <vector>

#include "titer/topology/families.hpp"
#include "titer/topology/family/torus.hpp"
#include "titer/view/point.hpp"

namespace titer {

/// A topology that is small enough to draw, and what was left out.
struct Drawable {
  NodeTopology family;
  Topology graph;
  std::vector<std::string> names;  // of the vertices
  std::string note;                // "" where nothing was left out
  std::optional<Torus> whole;      // that the family is a corner of
};
[[nodiscard]] Drawable drawable(const NodeTopology& family, const Topology& graph);

/// A link that leaves the picture: it goes on, or around to the other end of its row.
struct Stub {
  Point from;
  Point to;
};

/// What belongs together, on a part of a circle: a band behind it, and its name outside.
struct GroupBand {
  Point from;
  Point to;
  double radius = 0.0;
  double width = 0.0;
  Point label;
  std::string name;
};

struct Layout {
  std::vector<Point> places;  // of the vertices
  std::vector<Stub> stubs;
  std::vector<GroupBand> bands = {};
  std::vector<std::optional<Point>> bends = {};  // of the wires: towards there; empty: none bends
  bool arcs = false;           // wires between devices bend, as these stand in a row
  std::vector<bool> is_drawn;  // of the wires; empty: all
};
[[nodiscard]] Layout lay_out(const Drawable& drawing);

/// How far a wire bends down between devices that stand so far apart in a row.
[[nodiscard]] double arc_depth(double span);
/// What all of a layout is within.
struct Frame {
  Point low;
  Point high;
};
[[nodiscard]] Frame frame_of(const Layout& layout, const Topology& graph);
void move(Layout& layout, Point by);

}  // namespace titer
