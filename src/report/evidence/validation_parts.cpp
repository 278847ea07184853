#include "validation_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "titer/view/svg.hpp"

namespace titer {
namespace {

constexpr std::array<double, 5> kRanges = {0.1, 0.2, 0.5, 1.0, 2.0};
constexpr double kMostBeyond = 0.02;  // share of the rows that a range may leave out

constexpr std::array<std::string_view, 10> kGroupColours = {"#2f66ad",
                                                            "#c2562f",
                                                            "#3a8f57",
                                                            "#8662b8",
                                                            "#d29a2d",
                                                            "#2a9fa8",
                                                            "#b8408a",
                                                            "#6b7689",
                                                            "#7a5a2e",
                                                            "#d64545"};
/// After the colours come the shapes: disks, squares, rings.
constexpr std::size_t kShapes = 3;
constexpr std::size_t kMostGroups = kGroupColours.size() * kShapes - 1;  // the last is for others
constexpr std::string_view kOthers = "others";
constexpr std::size_t kCrowd = 3000;   // points, which are small if there are more
constexpr double kLegendLetter = 6.1;  // of the legend

}  // namespace

std::vector<double> errors_of(std::span<const Comparison> rows) {
  std::vector<double> errors;
  for (const Comparison& row : rows) {
    if (const auto error = row.relative_error()) {
      errors.push_back(*error);
    }
  }
  return errors;
}

std::size_t beyond(const std::vector<double>& errors, double range) {
  return static_cast<std::size_t>(
      std::ranges::count_if(errors, [&](double error) { return std::abs(error) > range; }));
}

ErrorRange error_range(const std::vector<double>& errors) {
  const double allowed = kMostBeyond * static_cast<double>(errors.size());
  const auto* const found = std::ranges::find_if(
      kRanges, [&](double range) { return static_cast<double>(beyond(errors, range)) <= allowed; });
  const double high = found != kRanges.end() ? *found : kRanges.back();
  return {.low = -std::min(high, 1.0), .high = high};
}

std::vector<double> ErrorRange::marks() const {
  std::vector<double> marks;
  for (int i = -5; i <= 5; ++i) {
    const double mark = high * i / 5.0;
    if (mark >= low) {
      marks.push_back(mark);
    }
  }
  return marks;
}

std::string percent_mark(double error) {
  return error == 0 ? "0" : fmt::format("{:+.3g}", 100 * error);
}

double TimeRange::share(double seconds) const {
  return std::log(seconds / low) / std::log(high / low);
}

std::vector<double> TimeRange::marks() const {
  const double decades = std::log10(high / low);
  std::vector<double> steps = {1.0};
  if (decades < 0.8) {
    steps = {1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0};
  } else if (decades < 3.5) {
    steps = {1.0, 2.0, 5.0};
  }
  const int every = decades < 13 ? 1 : 2;  // power
  std::vector<double> marks;
  const int first = static_cast<int>(std::floor(std::log10(low)));
  const int last = static_cast<int>(std::ceil(std::log10(high)));
  for (int power = first; power <= last; power += every) {
    for (const double step : steps) {
      const double mark = step * std::pow(10.0, power);
      if (mark >= low && mark <= high) {
        marks.push_back(mark);
      }
    }
  }
  return marks;
}

bool is_drawn(const Comparison& row) {
  return row.measured && row.predicted && *row.measured > 0 && *row.predicted > 0;
}

std::string error_note(std::span<const Comparison> rows) {
  const auto groups = group_statistics(rows, GroupBy::all);
  const ErrorStatistics& errors = groups.front().time;
  if (errors.n == 0) {
    return "no row has a time measured and predicted";
  }
  return fmt::format("{} row{}: mean error {:.1f} %, median {:.1f} %, bias {:+.1f} %",
                     errors.n,
                     errors.n == 1 ? "" : "s",
                     100 * *errors.mean,
                     100 * *errors.median,
                     100 * *errors.bias);
}

PointGroups::PointGroups(const ValidationPicture& picture) : picture_(picture) {
  std::size_t points = 0;
  for (const Comparison& row : picture.rows) {
    if (is_drawn(row)) {
      ++groups_[group_name(row, picture.by)];
      ++points;
    }
  }
  is_crowded_ = points > kCrowd;
  while (groups_.size() > kMostGroups) {
    const auto least = std::ranges::min_element(groups_, [](const auto& a, const auto& b) {
      return std::pair(a.first == kOthers, a.second) < std::pair(b.first == kOthers, b.second);
    });
    const std::size_t rows = least->second;
    groups_.erase(least);
    groups_[std::string(kOthers)] += rows;
  }
}

double PointGroups::legend_width() const {
  std::size_t longest = 12;
  for (const auto& [name, count] : groups_) {
    longest = std::max(longest, name.size() + std::to_string(count).size() + 3);
  }
  return 30.0 + kLegendLetter * static_cast<double>(longest);
}

std::string PointGroups::group_of(const Comparison& row) const {
  std::string name = group_name(row, picture_.by);
  return groups_.contains(name) ? name : std::string(kOthers);
}

/// To half pixels, or to whole ones where points are many.
int PointGroups::grid(double pixels) const {
  return static_cast<int>(is_crowded_ ? 2 * std::lround(pixels) : std::lround(2 * pixels));
}

std::string PointGroups::draw(
    Chart& chart, const std::function<std::pair<double, double>(const Comparison&)>& place) const {
  std::map<std::string, Places> points;
  for (const Comparison& row : picture_.rows) {
    if (is_drawn(row)) {
      const auto [x, y] = place(row);
      points[group_of(row)].emplace(grid(x), grid(y));
    }
  }
  std::vector<std::pair<std::size_t, std::string>> drawn;
  for (const auto& [name, count] : groups_) {
    const std::size_t style = drawn.size();
    drawn.emplace_back(count, markers(points[name], style, is_crowded_ ? 0.6 : 1.0));
    const auto [left, middle] = chart.legend_entry(fmt::format("{} ({})", name, count));
    const Places sample = {{static_cast<int>(2 * left) + 12, static_cast<int>(2 * middle)}};
    chart.add(markers(sample, style, 1.0));
  }
  std::ranges::stable_sort(drawn, [](const auto& a, const auto& b) { return a.first > b.first; });
  std::string elements;
  for (const auto& [count, element] : drawn) {
    elements += element;
  }
  return elements;
}

/// Points are lines of next to no length with thick ends.
std::string PointGroups::markers(const Places& at, std::size_t style, double size) {
  std::string path;
  for (const auto& [twice_x, twice_y] : at) {
    path += fmt::format("M{} {}h.01", tenths(twice_x / 2.0), tenths(twice_y / 2.0));
  }
  const auto stroke = [&](std::string_view cap, double width, std::string_view colour) {
    return fmt::format(
        "<path fill=\"none\" stroke=\"{}\" stroke-width=\"{}\" stroke-linecap=\"{}\" "
        "d=\"{}\"/>\n",
        colour,
        tenths(size * width),
        cap,
        path);
  };
  const std::string_view colour = kGroupColours[style % kGroupColours.size()];
  switch (style / kGroupColours.size()) {
    case 0:
      return stroke("round", 5.0, colour);
    case 1:
      return stroke("square", 4.4, colour);
    default:
      return stroke("round", 6.4, colour) + stroke("round", 3.0, "#ffffff");
  }
}

}  // namespace titer
