// How large a layout is, and where it begins.

#include <algorithm>
#include <cmath>

#include "topology_drawing.hpp"

namespace titer {

double arc_depth(double span) { return std::min(0.32 * std::abs(span), 190.0); }

Frame frame_of(const Layout& layout, const Topology& graph) {
  Frame frame{.low = layout.places.front(), .high = layout.places.front()};
  const auto include = [&](Point point) {
    frame.low = {std::min(frame.low.x, point.x), std::min(frame.low.y, point.y)};
    frame.high = {std::max(frame.high.x, point.x), std::max(frame.high.y, point.y)};
  };
  std::ranges::for_each(layout.places, include);
  for (const Stub& stub : layout.stubs) {
    include(stub.to);
  }
  for (const GroupBand& band : layout.bands) {
    include(band.label);
  }
  for (const Wire& wire : graph.wires) {
    if (layout.arcs && std::max(wire.a, wire.b) < graph.devices) {
      const Point a = layout.places[static_cast<std::size_t>(wire.a)];
      const Point b = layout.places[static_cast<std::size_t>(wire.b)];
      frame.high.y = std::max(frame.high.y, a.y + arc_depth(a.x - b.x));
    }
  }
  return frame;
}

void move(Layout& layout, Point by) {
  const auto shift = [&](Point& point) { point = {point.x + by.x, point.y + by.y}; };
  std::ranges::for_each(layout.places, shift);
  for (Stub& stub : layout.stubs) {
    shift(stub.from);
    shift(stub.to);
  }
  for (GroupBand& band : layout.bands) {
    shift(band.from);
    shift(band.to);
    shift(band.label);
  }
  for (std::optional<Point>& bend : layout.bends) {
    if (bend) {
      shift(*bend);
    }
  }
}

}  // namespace titer
