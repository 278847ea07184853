#pragma once
// The frame of a chart in SVG: a heading, a square of paper with its axes, a legend beside it.

#include <string>
#include <string_view>
#include <utility>

namespace titer {

struct ChartSize {
  double width = 520.0;  // of the paper
  double height = 520.0;
  double legend = 0.0;  // width, right of the paper
};

/// Collects the elements of a chart. Places on the paper are in pixels of the picture.
class Chart {
 public:
  Chart(ChartSize size, std::string_view title, std::string_view note);

  [[nodiscard]] double left() const { return left_; }
  [[nodiscard]] double top() const { return top_; }
  [[nodiscard]] double right() const { return left_ + size_.width; }
  [[nodiscard]] double bottom() const { return top_ + size_.height; }

  void add(std::string_view element) { body_ += element; }
  void text(double x, double y, std::string_view attributes, std::string_view words);
  /// A mark on an axis, with a thin line across the paper.
  void x_mark(double x, std::string_view label);
  void y_mark(double y, std::string_view label);
  void axis_names(std::string_view of_x, std::string_view of_y);
  /// Where the next entry of the legend is; its words go 18 to the right of it.
  [[nodiscard]] std::pair<double, double> legend_entry(std::string_view words);

  /// The picture; `on_paper` are elements that are cut off at the edges of the paper.
  [[nodiscard]] std::string svg(std::string_view on_paper) const;

 private:
  ChartSize size_;
  double left_ = 84.0;
  double top_ = 58.0;
  std::string body_;
  double next_entry_ = top_ + 8.0;
};

}  // namespace titer
