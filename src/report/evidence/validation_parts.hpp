#pragma once
// What the pictures of validation share: the ranges of their axes, and points in colours of groups.

#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "report/picture/chart.hpp"
#include "titer/report/picture/validation_plot.hpp"

namespace titer {

/// Signed errors of the rows that have one.
[[nodiscard]] std::vector<double> errors_of(std::span<const Comparison> rows);

/// Of an axis of errors. None is below -1: predictions are no less than nothing.
struct ErrorRange {
  double low = -0.1;
  double high = 0.1;

  [[nodiscard]] double share(double error) const { return (error - low) / (high - low); }
  [[nodiscard]] std::vector<double> marks() const;
};
/// Of 10 %, 20 %, 50 %, 100 % and 200 % to both sides of zero the least that holds 98 % of the
/// errors; else the largest.
[[nodiscard]] ErrorRange error_range(const std::vector<double>& errors);
/// How many lie outside of it.
[[nodiscard]] std::size_t beyond(const std::vector<double>& errors, double range);
/// "+20", "0": an error in percent.
[[nodiscard]] std::string percent_mark(double error);

/// Of a logarithmic axis of times, in seconds.
struct TimeRange {
  double low = 0.1;
  double high = 10.0;

  [[nodiscard]] double share(double seconds) const;
  /// Powers of ten, and between them where there is room.
  [[nodiscard]] std::vector<double> marks() const;
};

/// Whether the row has a place on axes of times.
[[nodiscard]] bool is_drawn(const Comparison& row);

/// "984 rows: mean error 16.3 %, median 13.2 %, bias -11.5 %".
[[nodiscard]] std::string error_note(std::span<const Comparison> rows);

/// The groups of the rows that are drawn, each with a colour and a shape. If there are more than
/// looks, the smallest are one: "others".
class PointGroups {
 public:
  explicit PointGroups(const ValidationPicture& picture);

  [[nodiscard]] double legend_width() const;
  /// Puts the groups into the legend and returns the points as elements for the paper; the largest
  /// groups come first, so that small ones are not hidden. `place`: in pixels of the picture.
  [[nodiscard]] std::string draw(
      Chart& chart, const std::function<std::pair<double, double>(const Comparison&)>& place) const;

 private:
  /// In half pixels, so that points on each other are drawn once.
  using Places = std::set<std::pair<int, int>>;

  [[nodiscard]] static std::string markers(const Places& at, std::size_t style, double size);
  [[nodiscard]] std::string group_of(const Comparison& row) const;
  [[nodiscard]] int grid(double pixels) const;

  const ValidationPicture& picture_;
  std::map<std::string, std::size_t> groups_;  // with their rows
  bool is_crowded_ = false;
};

}  // namespace titer
