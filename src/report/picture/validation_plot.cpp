#include "titer/report/picture/validation_plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "report/evidence/validation_parts.hpp"
#include "titer/units/listed.hpp"
#include "titer/units/text.hpp"
#include "titer/view/svg.hpp"

namespace titer {
namespace {

/// How far predictions may be off to lie in a band, and its colour; the widest first.
struct Band {
  double error;
  std::string_view colour;
};
constexpr std::array<Band, 2> kBands = {{{0.2, "#edf2f7"}, {0.1, "#dbe5f0"}}};
constexpr double kAir = 1.2;  // factor about the least and the largest time

template <class Times>
TimeRange range_of(std::span<const Comparison> rows, Times times_of) {
  std::optional<TimeRange> range;
  for (const Comparison& row : rows) {
    if (is_drawn(row)) {
      const auto [low, high] = times_of(row);
      range = range ? TimeRange{std::min(range->low, low), std::max(range->high, high)}
                    : TimeRange{low, high};
    }
  }
  return range ? TimeRange{range->low / kAir, range->high * kAir} : TimeRange{};
}

void add_to_legend(Chart& chart, const Band& band) {
  const auto [left, middle] = chart.legend_entry(fmt::format("within {:.0f} %", 100 * band.error));
  chart.add(fmt::format(
      "<rect x=\"{}\" y=\"{}\" width=\"12\" height=\"10\" fill=\"{}\" stroke=\"#cbd5e0\"/>\n",
      tenths(left),
      tenths(middle - 5.0),
      band.colour));
}

/// A thin line over everything else.
std::string line(double x0, double y0, double x1, double y1) {
  return fmt::format("<path stroke=\"#1a202c\" d=\"M{} {}L{} {}\"/>\n",
                     tenths(x0),
                     tenths(y0),
                     tenths(x1),
                     tenths(y1));
}

double along(const Chart& chart, double share) {
  return chart.left() + share * (chart.right() - chart.left());
}
double upwards(const Chart& chart, double share) {
  return chart.bottom() - share * (chart.bottom() - chart.top());
}

}  // namespace

std::string validation_scatter_svg(const ValidationPicture& picture) {
  const TimeRange range = range_of(picture.rows, [](const Comparison& row) {
    return std::pair(std::min(*row.measured, *row.predicted),
                     std::max(*row.measured, *row.predicted));
  });
  const PointGroups groups(picture);
  Chart chart({.legend = groups.legend_width()}, picture.title, error_note(picture.rows));
  const auto x = [&](double seconds) { return along(chart, range.share(seconds)); };
  const auto y = [&](double seconds) { return upwards(chart, range.share(seconds)); };
  std::string paper;
  for (const Band& band : kBands) {
    std::string corners;
    for (const auto& [at, factor] : {std::pair(range.low, 1 - band.error),
                                     std::pair(range.high, 1 - band.error),
                                     std::pair(range.high, 1 + band.error),
                                     std::pair(range.low, 1 + band.error)}) {
      add_listed(corners, tenths(x(at)) + "," + tenths(y(at * factor)), " ");
    }
    paper += fmt::format("<polygon fill=\"{}\" points=\"{}\"/>\n", band.colour, corners);
    add_to_legend(chart, band);
  }
  for (const double mark : range.marks()) {
    chart.x_mark(x(mark), format(Seconds::from_si(mark)));
    chart.y_mark(y(mark), format(Seconds::from_si(mark)));
  }
  chart.axis_names("measured", "predicted");
  paper += groups.draw(
      chart, [&](const Comparison& row) { return std::pair(x(*row.measured), y(*row.predicted)); });
  return chart.svg(paper + line(chart.left(), chart.bottom(), chart.right(), chart.top()));
}

std::string validation_residuals_svg(const ValidationPicture& picture) {
  const TimeRange range = range_of(
      picture.rows, [](const Comparison& row) { return std::pair(*row.measured, *row.measured); });
  const std::vector<double> errors = errors_of(picture.rows);
  const ErrorRange vertical = error_range(errors);
  std::string note = error_note(picture.rows);
  if (const std::size_t outside = beyond(errors, vertical.high); outside > 0) {
    note += fmt::format("; {} farther off than {:.0f} % at the edge", outside, 100 * vertical.high);
  }
  const PointGroups groups(picture);
  Chart chart(
      {.width = 620.0, .height = 400.0, .legend = groups.legend_width()}, picture.title, note);
  const auto x = [&](double seconds) { return along(chart, range.share(seconds)); };
  const auto y = [&](double error) {
    return upwards(chart, vertical.share(std::clamp(error, vertical.low, vertical.high)));
  };
  std::string paper;
  for (const Band& band : kBands) {
    paper += fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\"/>\n",
                         tenths(chart.left()),
                         tenths(y(band.error)),
                         tenths(chart.right() - chart.left()),
                         tenths(y(-band.error) - y(band.error)),
                         band.colour);
    add_to_legend(chart, band);
  }
  for (const double mark : range.marks()) {
    chart.x_mark(x(mark), format(Seconds::from_si(mark)));
  }
  for (const double mark : vertical.marks()) {
    chart.y_mark(y(mark), percent_mark(mark));
  }
  chart.axis_names("measured", "error in %: predicted over measured, less one");
  paper += groups.draw(chart, [&](const Comparison& row) {
    return std::pair(x(*row.measured), y(*row.relative_error()));
  });
  return chart.svg(paper + line(chart.left(), y(0), chart.right(), y(0)));
}

}  // namespace titer
