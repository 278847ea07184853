#pragma once
// Charts drawn: axes, marks and words as elements of SVG.

#include <string>
#include <string_view>
#include <vector>

#include "titer/view/plot.hpp"
#include "titer/view/point.hpp"

namespace titer {

inline constexpr double kPlotWidth = 480;

/// Numbers along an axis, and where they stand on it.
class PlotScale {
 public:
  /// For an axis with about so many marks that holds all of these numbers, in SI units.
  /// `is_tight`: it ends where they do, not at a mark.
  PlotScale(const PlotAxis& axis,
            const std::vector<double>& numbers,
            double marks,
            bool is_tight = false);

  /// From 0 at its begin to 1 at its end.
  [[nodiscard]] double share(double si) const;
  /// In SI units.
  [[nodiscard]] const std::vector<double>& marks() const { return marks_; }
  [[nodiscard]] std::string mark_text(double si) const;

 private:
  void count_evenly(double low, double high, double marks);
  void count_by_powers(double low, double high, double marks);

  double scale_ = 1;
  bool logarithmic_ = false;
  bool is_tight_ = false;
  double low_ = 0;  // of the axis, in its own unit
  double high_ = 1;
  std::vector<double> marks_;
};

/// Elements of a picture, one after the other.
class PlotSheet {
 public:
  /// `classes`: of the style.
  void text(Point at, std::string_view classes, std::string_view words);
  void rectangle(Point at, Point size, std::string_view classes);
  void path(std::string_view classes, const std::string& d);
  void add(std::string_view element) { body_ += element; }
  /// What follows until the end is read as these words.
  void begin_mark(std::string_view words);
  void end_mark() { body_ += "</g>\n"; }
  /// Names beside their colours, in as many rows as they need; how high these are.
  double legend(const std::vector<PlotPart>& parts, Point at);

  [[nodiscard]] const std::string& body() const { return body_; }

 private:
  std::string body_;
};

/// About how wide words are at the size of a picture's text.
[[nodiscard]] double text_width(std::string_view words);
/// The colour of a part, and whether it is hatched.
struct PlotTone {
  std::size_t colour = 0;
  bool hatched = false;
};
[[nodiscard]] PlotTone tone_of(const std::vector<PlotPart>& parts, std::size_t part);
/// "M12 7.5": a point of a path.
[[nodiscard]] std::string path_to(char how, Point at);

/// All numbers that an axis of a chart has to hold.
[[nodiscard]] std::vector<double> x_numbers(const PlotPlane& plane);
[[nodiscard]] std::vector<double> y_numbers(const PlotPlane& plane);
[[nodiscard]] std::vector<double> bar_numbers(const PlotBars& bars);

/// The elements of a chart, kPlotWidth wide.
struct PlotPicture {
  double height = 0;
  std::string body{};
};
[[nodiscard]] PlotPicture draw(const PlotPlane& plane);
[[nodiscard]] PlotPicture draw(const PlotBars& bars);

/// What is referred to by pictures: once in a document.
inline constexpr std::string_view kPlotDefinitions =
    R"(<defs><pattern id="hatched" width="6" height="6" patternUnits="userSpaceOnUse" )"
    R"~(patternTransform="rotate(45)"><path class="hatch" d="M0 0V6"/></pattern></defs>)~"
    "\n";
/// With what says to those who do not see it what it is. `id`: of the picture in its document.
[[nodiscard]] std::string plot_element(const Plot& plot, std::string_view id);

}  // namespace titer
