#include <fmt/format.h>

#include <algorithm>

#include "report/study/capacity_figures.hpp"
#include "study_plots.hpp"
#include "titer/units/listed.hpp"
#include "titer/view/plot_axes.hpp"

namespace titer {
namespace {

constexpr double kFar = 8;  // times apart: numbers are drawn by their logarithms

PlotAxis devices_axis(const CapacityResult& result) {
  const double least = static_cast<double>(result.points.front().devices);
  const double most = static_cast<double>(result.points.back().devices);
  return {.label = "devices", .logarithmic = most > kFar * least};
}

std::string point_words(const CapacityQuestion& question, const CapacityPoint& point) {
  std::string text = fmt::format("{} devices: {} days", point.devices, days(point.whole_time()));
  if (point.spread) {
    text += fmt::format(" ({} to {})",
                        days(point.others + point.spread->low),
                        days(point.others + point.spread->high));
  }
  if (point.bill && point.bill->dollars) {
    text += ", " + money(question, *point.bill->dollars);
  }
  return text;
}

using MaybeRange = std::optional<PlotRange>;

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

/// What `of` makes of each point that has a plan, and what `range_of` its spread.
template <class Of, class RangeOf>
PlotSeries series_of(const CapacityQuestion& question,
                     const CapacityResult& result,
                     const Of& of,
                     const RangeOf& range_of) {
  PlotSeries series;
  for (std::size_t i = 0; i < result.points.size(); ++i) {
    const CapacityPoint& point = result.points[i];
    const std::optional<double> y = point.has_plan() ? of(point) : std::nullopt;
    if (!y) {
      continue;
    }
    series.points.push_back({.x = static_cast<double>(point.devices),
                             .y = *y,
                             .range = point.spread ? range_of(point) : MaybeRange(),
                             .words = point_words(question, point),
                             .label = standing_of(result, i)});
  }
  return series;
}

PlotRange drawn_range(const PlotSeries& series) {
  PlotRange all = {.low = series.points.front().y, .high = 0};
  for (const PlotPoint& point : series.points) {
    all.low = std::min(all.low, point.range ? point.range->low : point.y);
    all.high = std::max(all.high, point.range ? point.range->high : point.y);
  }
  return all;
}

Plot over_devices(const CapacityResult& result,
                  PlotSeries series,
                  PlotAxis axis,
                  std::vector<PlotLimit> limits) {
  const bool has_band =
      std::ranges::any_of(series.points, [](const auto& point) { return point.range.has_value(); });
  const auto [low, high] = drawn_range(series);
  axis.logarithmic = low > 0 && high > kFar * low;
  axis.from_zero = !axis.logarithmic;
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
      question,
      result,
      [](const CapacityPoint& point) { return std::optional(point.whole_time().si()); },
      [](const CapacityPoint& point) {
        return MaybeRange(
            {(point.others + point.spread->low).si(), (point.others + point.spread->high).si()});
      });
  if (times.points.empty()) {
    return plots;
  }
  times.name = "Days";
  std::vector<PlotLimit> deadline;
  if (question.deadline) {
    deadline.push_back(
        {question.deadline->si(), fmt::format("deadline {} days", days(*question.deadline))});
  }
  plots.push_back(over_devices(
      result, std::move(times), {.label = "days", .scale = 1 / kDay.si()}, std::move(deadline)));
  const auto amount = [&](double dollars) { return question.currency.amount_of(dollars); };
  PlotSeries cost = series_of(
      question,
      result,
      [&](const CapacityPoint& point) {
        return point.bill && point.bill->dollars ? std::optional(amount(*point.bill->dollars))
                                                 : std::nullopt;
      },
      [&](const CapacityPoint& point) {
        return point.dollars_low
                   ? MaybeRange({amount(*point.dollars_low), amount(*point.dollars_high)})
                   : MaybeRange();
      });
  if (!cost.points.empty()) {
    cost.name = question.currency.is_dollar() ? "Dollars" : question.currency.name;
    std::vector<PlotLimit> budget;
    if (question.budget) {
      budget.push_back(
          {amount(*question.budget), "budget " + money_count(question, *question.budget)});
    }
    PlotAxis axis = count_axis(question.currency.words(), drawn_range(cost).high);
    plots.push_back(over_devices(result, std::move(cost), std::move(axis), std::move(budget)));
  }
  return plots;
}

}  // namespace titer
