#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/study/capacity_figures.hpp"
#include "study_plots.hpp"
#include "titer/units/listed.hpp"

namespace titer {
namespace {

/// Numbers of devices that lie far apart are drawn by their logarithms.
PlotAxis devices_axis(const CapacityResult& result) {
  constexpr double far = 8;
  const double least = static_cast<double>(result.points.front().devices);
  const double most = static_cast<double>(result.points.back().devices);
  return {.label = "devices", .logarithmic = most > far * least};
}

std::string point_words(const CapacityPoint& point) {
  std::string text = fmt::format("{} devices: {} days", point.devices, days(point.time));
  if (point.spread) {
    text += fmt::format(" ({} to {})", days(point.spread->low), days(point.spread->high));
  }
  if (point.bill && point.bill->dollars) {
    text += fmt::format(", {} dollars", short_count(*point.bill->dollars));
  }
  return text;
}

/// "fewest", "cheapest": what an answer names a point for.
std::string standing_of(const CapacityResult& result, std::size_t index) {
  std::string text;
  for (const auto& [point, name] : {std::pair(result.fewest, "fewest"),
                                    std::pair(result.cheapest, "cheapest"),
                                    std::pair(result.fastest, "fastest")}) {
    if (point == index) {
      add_listed(text, name);
    }
  }
  return text;
}

template <class Of>
PlotSeries series_of(const CapacityResult& result, const std::string& name, const Of& of) {
  PlotSeries series{.name = name};
  for (std::size_t i = 0; i < result.points.size(); ++i) {
    const CapacityPoint& point = result.points[i];
    const std::optional<double> y = point.has_plan() ? of(point) : std::nullopt;
    if (!y) {
      continue;
    }
    PlotPoint at{.x = static_cast<double>(point.devices),
                 .y = *y,
                 .words = point_words(point),
                 .label = standing_of(result, i)};
    if (point.spread) {  // what goes with the time goes with its spread
      at.range =
          PlotRange{*y * (point.spread->low / point.time), *y * (point.spread->high / point.time)};
    }
    series.points.push_back(std::move(at));
  }
  return series;
}

double largest_of(const PlotSeries& series) {
  double most = 0;
  for (const PlotPoint& point : series.points) {
    most = std::max(most, point.range ? point.range->high : point.y);
  }
  return most;
}

Plot over_devices(const CapacityResult& result,
                  PlotSeries series,
                  PlotAxis axis,
                  std::vector<PlotLimit> limits) {
  const bool has_band = std::any_of(series.points.begin(),
                                    series.points.end(),
                                    [](const auto& point) { return point.range.has_value(); });
  axis.from_zero = true;
  return {.title = series.name + " over devices",
          .note = has_band ? "The band holds 10 to 90 % of simulated runs." : "",
          .chart = PlotPlane{.x = devices_axis(result),
                             .y = std::move(axis),
                             .series = {std::move(series)},
                             .y_limits = std::move(limits)}};
}

}  // namespace

std::vector<Plot> capacity_plots(const CapacityQuestion& question, const CapacityResult& result) {
  std::vector<Plot> plots;
  PlotSeries times = series_of(
      result, "Days", [](const CapacityPoint& point) { return std::optional(point.time.si()); });
  if (times.points.empty()) {
    return plots;
  }
  std::vector<PlotLimit> deadline;
  if (question.deadline) {
    deadline.push_back(
        {question.deadline->si(), fmt::format("deadline {} days", days(*question.deadline))});
  }
  const double day = 86400;
  plots.push_back(over_devices(
      result, std::move(times), {.label = "days", .scale = 1 / day}, std::move(deadline)));
  PlotSeries dollars = series_of(result, "Dollars", [](const CapacityPoint& point) {
    return point.bill ? point.bill->dollars : std::nullopt;
  });
  if (!dollars.points.empty()) {
    std::vector<PlotLimit> budget;
    if (question.budget) {
      budget.push_back({*question.budget, fmt::format("budget {}", short_count(*question.budget))});
    }
    PlotAxis axis = count_axis("dollars", largest_of(dollars));
    plots.push_back(over_devices(result, std::move(dollars), std::move(axis), std::move(budget)));
  }
  return plots;
}

}  // namespace titer
