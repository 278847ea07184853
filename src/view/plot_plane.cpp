#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "plot_drawing.hpp"
#include "titer/view/svg.hpp"

namespace titer {
namespace {

constexpr double kPaper = 236;  // its height
constexpr double kXMarks = 6;
constexpr double kYMarks = 5;
constexpr double kRadius = 4.2;  // of a mark
constexpr double kLabelHeight = 11;
constexpr double kMark = 5;  // of a point, to either side
/// Lines of series are told apart by these, too.
constexpr std::array<std::string_view, 4> kDashes = {"", "7 3", "2 3", "9 3 2 3"};

/// All numbers of one direction, of points and limits.
template <class Of>
std::vector<double> along(const PlotPlane& plane,
                          const std::vector<PlotLimit>& limits,
                          const Of& of) {
  std::vector<double> numbers;
  for (const PlotSeries& series : plane.series) {
    for (const PlotPoint& point : series.points) {
      of(point, numbers);
    }
  }
  for (const PlotLimit& limit : limits) {
    numbers.push_back(limit.at);
  }
  return numbers;
}

/// Around a point: disk, square, triangle, diamond.
std::string shape(std::size_t kind, Point at) {
  constexpr double r = kRadius;
  switch (kind % 4) {
    case 1:
      return path_to('M', {at.x - r + 0.5, at.y - r + 0.5}) +
             fmt::format("h{0}v{0}h-{0}z", 2 * r - 1);
    case 2:
      return path_to('M', {at.x, at.y - r}) + path_to('L', {at.x + r, at.y + r - 1}) +
             path_to('L', {at.x - r, at.y + r - 1}) + "z";
    case 3:
      return path_to('M', {at.x, at.y - r - 0.5}) +
             fmt::format("l{0} {0}l-{0} {0}l-{0} -{0}z", r + 0.5);
    default:
      return path_to('M', {at.x - r, at.y}) +
             fmt::format("a{0} {0} 0 1 0 {1} 0a{0} {0} 0 1 0 -{1} 0z", r, 2 * r);
  }
}

class PlaneDrawing {
 public:
  explicit PlaneDrawing(const PlotPlane& plane)
      : plane_(plane),
        x_(plane.x, x_numbers(plane), kXMarks),
        y_(plane.y, y_numbers(plane), kYMarks) {
    for (const double mark : y_.marks()) {
      left_ = std::max(left_, text_width(y_.mark_text(mark)) + 14);
    }
    top_ = plane.x_limits.empty() ? 24 : 40;
    bottom_ = top_ + kPaper;
  }

  PlotPicture picture() {
    add_axes();
    for (std::size_t i = 0; i < plane_.series.size(); ++i) {
      add_series(plane_.series[i], i);
    }
    add_limits();
    double height = bottom_ + 38;
    if (plane_.series.size() > 1) {
      height += add_legend(height + 16) + 6;
    }
    return {.height = height + 2, .body = sheet_.body()};
  }

 private:
  [[nodiscard]] Point place(double x, double y) const {
    return {left_ + x_.share(x) * (right_ - left_), bottom_ - y_.share(y) * (bottom_ - top_)};
  }

  void add_axes() {
    sheet_.text({4, 12}, "small", plane_.y.label);
    for (const double mark : y_.marks()) {
      const double y = bottom_ - y_.share(mark) * (bottom_ - top_);
      sheet_.path("grid", fmt::format("M{} {}H{}", tenths(left_), tenths(y), tenths(right_)));
      sheet_.text({left_ - 6, y + 4}, "small end", y_.mark_text(mark));
    }
    double free = -1e9;  // where the next mark's words may begin
    for (const double mark : x_.marks()) {
      const double x = left_ + x_.share(mark) * (right_ - left_);
      const std::string words = x_.mark_text(mark);
      sheet_.path("grid", fmt::format("M{} {}V{}", tenths(x), tenths(top_), tenths(bottom_)));
      if (x - text_width(words) / 2 >= free) {
        sheet_.text({x, bottom_ + 16}, "small mid", words);
        free = x + text_width(words) / 2 + 6;
      }
    }
    sheet_.path("axis", fmt::format("M{} {}H{}", tenths(left_), tenths(bottom_), tenths(right_)));
    sheet_.text({(left_ + right_) / 2, bottom_ + 33}, "small mid", plane_.x.label);
  }

  void add_series(const PlotSeries& series, std::size_t index) {
    const std::size_t tone = index % kTones;
    if (series.look == PlotLook::line) {
      add_band(series, tone);
      std::string d;
      for (const PlotPoint& point : series.points) {
        d += path_to(d.empty() ? 'M' : 'L', place(point.x, point.y));
      }
      sheet_.add(fmt::format(
          R"(<path class="line l{}" stroke-dasharray="{}" d="{}"/>)",
          tone,
          kDashes[index % kDashes.size()].empty() ? "none" : kDashes[index % kDashes.size()],
          d));
    }
    for (std::size_t i = 0; i < series.points.size(); ++i) {
      add_point(i, series, index);
    }
  }

  /// Between the ends of the ranges of all points that have one.
  void add_band(const PlotSeries& series, std::size_t tone) {
    std::string d;
    for (const PlotPoint& point : series.points) {
      if (point.range) {
        d += path_to(d.empty() ? 'M' : 'L', place(point.x, point.range->low));
      }
    }
    for (auto point = series.points.rbegin(); point != series.points.rend(); ++point) {
      if (point->range) {
        d += path_to('L', place(point->x, point->range->high));
      }
    }
    if (!d.empty()) {
      sheet_.path(fmt::format("band t{}", tone), d + "z");
    }
  }

  void add_point(std::size_t number, const PlotSeries& series, std::size_t index) {
    const std::size_t tone = index % kTones;
    const PlotPoint& point = series.points[number];
    const Point at = place(point.x, point.y);
    sheet_.begin_mark(point.words.empty() ? series.name : point.words);
    if (point.range && series.look == PlotLook::points) {
      sheet_.path(fmt::format("line l{}", tone),
                  path_to('M', place(point.x, point.range->low)) +
                      path_to('L', place(point.x, point.range->high)));
    }
    sheet_.path(fmt::format("part t{}", tone), shape(index, at));
    sheet_.end_mark();
    taken_.push_back({.left = at.x - kMark, .right = at.x + kMark, .base = at.y + kMark});
    if (!point.label.empty()) {
      const bool is_line = series.look == PlotLook::line;
      const bool rises =
          is_line && number + 1 < series.points.size() && series.points[number + 1].y > point.y;
      const bool has_fallen = is_line && number > 0 && series.points[number - 1].y > point.y;
      add_point_label(at, point.label, {.rises = rises, .has_fallen = has_fallen});
    }
  }

  [[nodiscard]] double height_of(const PlotLimit& limit) const {
    return bottom_ - y_.share(limit.at) * (bottom_ - top_);
  }

  /// Of a line at a point: whether it goes up to the right of it, and came down from the left.
  struct Course {
    bool rises = false;
    bool has_fallen = false;
  };
  /// Above the point, or below it where a limit or the line goes through; to its left where the
  /// line rises, or the paper ends.
  void add_point_label(Point at, const std::string& label, Course course) {
    constexpr double above = 6;
    constexpr double below = 15;
    const bool is_crossed = std::ranges::any_of(plane_.y_limits, [&](const PlotLimit& limit) {
      return std::abs(height_of(limit) - (at.y - above - kLabelHeight / 2)) < kLabelHeight;
    });
    const double width = text_width(label);
    const bool is_left = at.x + 8 + width > right_ || (course.rises && at.x - 8 - width > left_);
    const Point place = {at.x + (is_left ? -8.0 : 8.0),
                         is_crossed || (is_left && course.has_fallen)
                             ? std::min(at.y + below, bottom_ - 2)
                             : at.y - above};
    sheet_.text(place, is_left ? "small label end" : "small label", label);
    taken_.push_back({.left = is_left ? place.x - width : place.x,
                      .right = is_left ? place.x : place.x + width,
                      .base = place.y});
  }

  /// At the right, or at the left where a point or its label is in its way.
  void add_limit_label(double y, const std::string& words) {
    const double left = right_ - 2 - text_width(words);
    const bool is_taken = std::ranges::any_of(taken_, [&](const Taken& place) {
      return place.right > left && std::abs(place.base - y) < kLabelHeight;
    });
    sheet_.text({is_taken ? left_ + 4 : right_ - 2, y},
                is_taken ? "small label" : "small label end",
                words);
  }

  void add_limits() {
    for (const PlotLimit& limit : plane_.y_limits) {
      const double y = height_of(limit);
      sheet_.path("limit", fmt::format("M{} {}H{}", tenths(left_), tenths(y), tenths(right_)));
      add_limit_label(y - 5, limit.words);
    }
    for (const PlotLimit& limit : plane_.x_limits) {
      const double x = left_ + x_.share(limit.at) * (right_ - left_);
      sheet_.path("limit", fmt::format("M{} {}V{}", tenths(x), tenths(top_), tenths(bottom_)));
      const bool is_right = x > (left_ + right_) / 2;
      sheet_.text({x + (is_right ? 2.0 : -2.0), top_ - 5},
                  is_right ? "small label end" : "small label",
                  limit.words);
    }
  }

  double add_legend(double y) {
    double x = 8;
    const double top = y;
    for (std::size_t i = 0; i < plane_.series.size(); ++i) {
      const double width = 30 + text_width(plane_.series[i].name) + 14;
      if (x > 8 && x + width > kPlotWidth) {
        x = 8;
        y += 18;
      }
      const std::size_t tone = i % kTones;
      if (plane_.series[i].look == PlotLook::line) {
        sheet_.add(
            fmt::format(R"(<path class="line l{}" stroke-dasharray="{}" d="M{} {}h22"/>)",
                        tone,
                        kDashes[i % kDashes.size()].empty() ? "none" : kDashes[i % kDashes.size()],
                        tenths(x),
                        tenths(y - 4)));
      }
      sheet_.path(fmt::format("part t{}", tone), shape(i, {x + 11, y - 4}));
      sheet_.text({x + 28, y}, "small", plane_.series[i].name);
      x += width;
    }
    return y - top + 18;
  }

  /// A point's mark, or the words beside it: from left to right on their base line.
  struct Taken {
    double left = 0;
    double right = 0;
    double base = 0;
  };

  const PlotPlane& plane_;
  std::vector<Taken> taken_;
  PlotScale x_;
  PlotScale y_;
  PlotSheet sheet_;
  double left_ = 0;
  double right_ = kPlotWidth - 16;
  double top_ = 0;
  double bottom_ = 0;
};

}  // namespace

std::vector<double> x_numbers(const PlotPlane& plane) {
  return along(plane, plane.x_limits, [](const PlotPoint& point, std::vector<double>& numbers) {
    numbers.push_back(point.x);
  });
}
std::vector<double> y_numbers(const PlotPlane& plane) {
  return along(plane, plane.y_limits, [](const PlotPoint& point, std::vector<double>& numbers) {
    numbers.push_back(point.y);
    if (point.range) {
      numbers.insert(numbers.end(), {point.range->low, point.range->high});
    }
  });
}

PlotPicture draw(const PlotPlane& plane) { return PlaneDrawing(plane).picture(); }

}  // namespace titer
