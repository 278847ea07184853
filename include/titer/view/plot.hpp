#pragma once
// A chart as data: what is drawn, not how. Pictures in files and in reports follow from it.

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace titer {

/// What is counted along an axis.
struct PlotAxis {
  std::string label = {};    // with the unit: "time, s"
  double scale = 1;          // of the numbers drawn, in SI units, to those at the axis
  bool logarithmic = false;  // all of its numbers are above 0
  bool from_zero = false;    // whatever the least number is
  /// Which numbers stand at it, in SI units, where only these have a meaning; otherwise round ones.
  std::vector<double> marks = {};
};

struct PlotRange {
  double low = 0;
  double high = 0;
};

/// A number that something is held against, drawn as a line across: a capacity, a deadline.
struct PlotLimit {
  double at = 0;
  std::string words = {};
};

struct PlotPoint {
  double x = 0;
  double y = 0;
  std::optional<PlotRange> range = {};  // of y
  std::string words = {};               // what people read of it
  std::string label = {};               // stands beside it
};
enum class PlotLook { line, points };
struct PlotSeries {
  std::string name;
  PlotLook look = PlotLook::line;
  std::vector<PlotPoint> points = {};  // of a line: from left to right
};
/// Points and lines over two axes.
struct PlotPlane {
  PlotAxis x;
  PlotAxis y;
  std::vector<PlotSeries> series;
  std::vector<PlotLimit> x_limits = {};
  std::vector<PlotLimit> y_limits = {};
};

/// A part of bars. Of those with the same tone all pictures have the same colour.
struct PlotPart {
  std::string name;
  std::optional<std::size_t> tone = {};  // its place among the parts, unless it says another
};
inline constexpr std::size_t kTones = 8;
inline constexpr std::size_t kGreyTone = kTones;  // for what is idle, or the rest
struct PlotBar {
  std::string name;
  std::vector<double> values;           // of the parts, in their order; below 0 to the left
  std::string words = {};               // stands behind it
  std::optional<PlotRange> range = {};  // of its end
};
/// Bars from left to right, one below the other, each of parts in a row.
struct PlotBars {
  PlotAxis axis;
  std::vector<PlotPart> parts;
  std::vector<PlotBar> bars;
  std::vector<PlotLimit> limits = {};
};

struct Plot {
  std::string title;
  std::string note = {};  // what has to be known to read it
  std::variant<PlotPlane, PlotBars> chart;
};

/// What a chart says, in sentences, for those who do not see it.
[[nodiscard]] std::string plot_words(const Plot& plot);

/// Charts as an SVG file of their own, one below the other, light or dark as its reader is.
[[nodiscard]] std::string plot_svg(std::span<const Plot> plots);

/// The same of characters, for terminals: lines of at most that width.
[[nodiscard]] std::string plot_text(std::span<const Plot> plots, std::size_t width = 80);

}  // namespace titer
