#pragma once
// What an SVG of a topology shows, and where.

#include <optional>
#include <string>
#include <vector>

#include "titer/topology/families.hpp"

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

struct Point {
  double x = 0.0;
  double y = 0.0;
};

/// A link that leaves the picture: it goes on, or around to the other end of its row.
struct Stub {
  Point from;
  Point to;
};

struct Layout {
  std::vector<Point> places;  // of the vertices
  std::vector<Stub> stubs;
  bool arcs = false;           // wires between devices bend, as these stand in a row
  std::vector<bool> is_drawn;  // of the wires; empty: all
};
[[nodiscard]] Layout lay_out(const Drawable& drawing);

}  // namespace titer
