#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "report/evidence/validation_parts.hpp"
#include "timeline_picture.hpp"
#include "titer/view/svg.hpp"

namespace titer {
namespace {

constexpr double kBars = 20.0;  // from zero to the end of the axis
constexpr ChartSize kHistogramSize = {.width = 620.0, .height = 320.0};

class Histogram {
 public:
  Histogram(const ValidationPicture& picture, std::vector<double> errors)
      : picture_(picture), errors_(std::move(errors)), range_(error_range(errors_)) {
    const double bars = std::round(kBars * (range_.high - range_.low) / range_.high);
    bars_.resize(static_cast<std::size_t>(bars));
    for (const double error : errors_) {
      const double place = std::floor(range_.share(error) * bars);
      ++bars_[static_cast<std::size_t>(std::clamp(place, 0.0, bars - 1.0))];
    }
    highest_ = static_cast<double>(std::max<std::size_t>(*std::ranges::max_element(bars_), 1));
  }

  std::string svg() {
    const std::size_t outside = beyond(errors_, range_.high);
    std::string note = fmt::format("{} rows", errors_.size());
    if (outside > 0) {
      note += fmt::format(
          "; {} farther off than {:.0f} % in the outermost bars", outside, 100 * range_.high);
    }
    Chart chart(kHistogramSize, picture_.title, note);
    add_marks(chart);
    std::string paper = bars(chart);
    paper += line(chart, 0.0, "#1a202c", "");
    if (!errors_.empty()) {
      add_statistics(chart, paper);
    }
    return chart.svg(paper);
  }

 private:
  [[nodiscard]] double x(const Chart& chart, double error) const {
    return chart.left() + range_.share(error) * (chart.right() - chart.left());
  }
  [[nodiscard]] double height(double rows) const {
    return 0.94 * kHistogramSize.height * rows / highest_;
  }

  void add_marks(Chart& chart) const {
    for (const double mark : range_.marks()) {
      chart.x_mark(x(chart, mark), percent_mark(mark));
    }
    const double distance = std::max(1.0, mark_distance(highest_ / 8.0));
    for (int i = 0; i * distance <= highest_; ++i) {
      chart.y_mark(chart.bottom() - height(i * distance), fmt::format("{:.6g}", i * distance));
    }
    chart.axis_names("error in %: predicted over measured, less one", "rows");
  }

  [[nodiscard]] std::string bars(const Chart& chart) const {
    const double wide = (chart.right() - chart.left()) / static_cast<double>(bars_.size());
    std::string path;
    for (std::size_t i = 0; i < bars_.size(); ++i) {
      if (bars_[i] > 0) {
        path += fmt::format("M{} {}v-{}h{}V{}z",
                            tenths(chart.left() + wide * static_cast<double>(i) + 0.5),
                            tenths(chart.bottom()),
                            tenths(height(static_cast<double>(bars_[i]))),
                            tenths(wide - 1.0),
                            tenths(chart.bottom()));
      }
    }
    return path.empty() ? path : fmt::format("<path fill=\"#8fb0d9\" d=\"{}\"/>\n", path);
  }

  [[nodiscard]] std::string line(const Chart& chart,
                                 double error,
                                 std::string_view colour,
                                 std::string_view dashes) const {
    return fmt::format("<path stroke=\"{}\" stroke-width=\"1.6\" {} d=\"M{} {}V{}\"/>\n",
                       colour,
                       dashes,
                       tenths(x(chart, error)),
                       tenths(chart.top()),
                       tenths(chart.bottom()));
  }

  /// Lines, and what they are at the top right, where nothing else is.
  void add_statistics(Chart& chart, std::string& paper) const {
    struct Mark {
      std::string_view name;
      double error;
      std::string_view colour;
      std::string_view dashes;
    };
    double sum = 0;
    for (const double error : errors_) {
      sum += error;
    }
    const std::array<Mark, 2> marks = {
        {{"bias (mean)",
          sum / static_cast<double>(errors_.size()),
          "#c2562f",
          "stroke-dasharray=\"6 3\""},
         {"median", percentile(errors_, 0.5), "#2b7a4b", "stroke-dasharray=\"2 2\""}}};
    double at = chart.right() - 300.0;
    for (const Mark& mark : marks) {
      paper += line(chart, mark.error, mark.colour, mark.dashes);
      chart.add(fmt::format("<path stroke=\"{}\" stroke-width=\"1.6\" {} d=\"M{} {}h22\"/>\n",
                            mark.colour,
                            mark.dashes,
                            tenths(at),
                            tenths(chart.top() - 12.0)));
      chart.text(at + 28.0,
                 chart.top() - 8.0,
                 "font-size=\"11\" fill=\"#2d3748\"",
                 fmt::format("{} {:+.1f} %", mark.name, 100 * mark.error));
      at += 170.0;
    }
  }

  const ValidationPicture& picture_;
  std::vector<double> errors_;
  ErrorRange range_;
  std::vector<std::size_t> bars_;
  double highest_ = 1.0;
};

}  // namespace

std::string validation_histogram_svg(const ValidationPicture& picture) {
  return Histogram(picture, errors_of(picture.rows)).svg();
}

}  // namespace titer
