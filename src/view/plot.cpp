#include "titer/view/plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "plot_drawing.hpp"
#include "plot_style.hpp"
#include "titer/units/listed.hpp"
#include "titer/view/figure.hpp"
#include "titer/view/plot_axes.hpp"
#include "titer/view/svg.hpp"
#include "titer/view/table.hpp"

namespace titer {
namespace {

constexpr std::size_t kMostSaid = 12;  // points or bars of a chart in words

/// A unit of an axis, for largest numbers from so many of it on.
struct AxisUnit {
  double size;  // in SI units
  double from;
  std::string_view name;
};
constexpr std::array<AxisUnit, 5> kTimeUnits = {{{86400, 2, ", days"},
                                                 {3600, 2, ", hours"},
                                                 {1, 2, ", s"},
                                                 {1e-3, 2, ", ms"},
                                                 {1e-6, 0, ", us"}}};
constexpr std::array<AxisUnit, 4> kCountUnits = {
    {{1e9, 1, ", billions"}, {1e6, 1, ", millions"}, {1e3, 10, ", thousands"}, {1, 0, ""}}};

template <std::size_t N>
PlotAxis axis_in(const std::array<AxisUnit, N>& units, const std::string& what, double largest) {
  const auto* const unit = std::find_if(units.begin(), units.end() - 1, [&](const AxisUnit& one) {
    return largest >= one.from * one.size;
  });
  return {.label = what + std::string(unit->name), .scale = 1 / unit->size};
}

std::string bar_words(const PlotBars& bars, const PlotBar& bar) {
  std::string parts;
  for (std::size_t i = 0; i < bar.values.size(); ++i) {
    if (bar.values[i] != 0 && !bars.parts[i].name.empty()) {
      add_listed(parts,
                 fmt::format("{} {:.4g}", bars.parts[i].name, bars.axis.scale * bar.values[i]));
    }
  }
  std::string text = bar.name;
  for (const std::string& more : {bar.words, parts}) {
    text += (text.empty() || more.empty() ? "" : ": ") + more;
  }
  return text;
}

std::string chart_words(const PlotBars& bars) {
  std::string text;
  for (std::size_t i = 0; i < std::min(bars.bars.size(), kMostSaid); ++i) {
    text += bar_words(bars, bars.bars[i]) + ". ";
  }
  for (const PlotLimit& limit : bars.limits) {
    text += limit.words + ". ";
  }
  return fmt::format("{} bars, {}. {}", bars.bars.size(), bars.axis.label, text);
}

std::string chart_words(const PlotPlane& plane) {
  std::string text;
  for (const PlotSeries& series : plane.series) {
    text += fmt::format(
        "{}{} points. ", series.name.empty() ? "" : series.name + ": ", series.points.size());
    for (std::size_t i = 0; i < std::min(series.points.size(), kMostSaid); ++i) {
      text += series.points[i].words.empty() ? "" : series.points[i].words + ". ";
    }
  }
  for (const auto& limits : {plane.x_limits, plane.y_limits}) {
    for (const PlotLimit& limit : limits) {
      text += limit.words + ". ";
    }
  }
  return fmt::format("{} over {}. {}", plane.y.label, plane.x.label, text);
}

PlotPicture picture_of(const Plot& plot) {
  return std::visit([](const auto& chart) { return draw(chart); }, plot.chart);
}

/// A paragraph in lines of a picture.
std::vector<std::string> folded_words(std::string_view words) {
  const auto most = static_cast<std::size_t>((kPlotWidth - 16) / text_width("n"));
  std::vector<std::string> lines;
  while (!words.empty()) {
    std::size_t end = words.size();
    if (width_of(words) > most) {
      end = words.rfind(' ', most);
      end = end == words.npos ? std::min(words.find(' '), words.size()) : end;
    }
    lines.emplace_back(words.substr(0, end));
    words.remove_prefix(std::min(end + 1, words.size()));
  }
  return lines;
}

}  // namespace

PlotAxis time_axis(const std::string& what, Seconds longest) {
  return axis_in(kTimeUnits, what, longest.si());
}

PlotAxis memory_axis(const std::string& what) {
  return {.label = what + ", GiB", .scale = kGibibytes.scale};
}

PlotAxis count_axis(const std::string& what, double largest) {
  return axis_in(kCountUnits, what, largest);
}

PlotAxis percent_axis(const std::string& what) { return {.label = what + ", %", .scale = 100}; }

std::string plot_words(const Plot& plot) {
  std::string text = std::visit([](const auto& chart) { return chart_words(chart); }, plot.chart);
  return text.substr(0, text.find_last_not_of(' ') + 1);
}

std::string plot_element(const Plot& plot, std::string_view id) {
  const PlotPicture picture = picture_of(plot);
  return fmt::format(
      R"(<svg class="plot" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {0:.0f} {1:.0f}" )"
      R"(role="img" aria-labelledby="{2}-title {2}-words"><title id="{2}-title">{3}</title>)"
      R"(<desc id="{2}-words">{4}</desc>)"
      "\n{5}</svg>\n",
      kPlotWidth,
      std::ceil(picture.height),
      id,
      escaped(plot.title),
      escaped(plot_words(plot)),
      picture.body);
}

std::string plot_svg(std::span<const Plot> plots) {
  PlotSheet sheet;
  double y = 8;
  std::string title;
  std::string words;
  for (const Plot& plot : plots) {
    const PlotPicture picture = picture_of(plot);
    for (const std::string& line : folded_words(plot.title)) {
      y += 16;
      sheet.text({10, y}, "title", line);
    }
    for (const std::string& line : folded_words(plot.note)) {
      y += 15;
      sheet.text({10, y}, "small", line);
    }
    y += 14;
    sheet.add(fmt::format("<g transform=\"translate(0 {})\">\n{}</g>\n", tenths(y), picture.body));
    y += std::ceil(picture.height) + 12;
    add_listed(title, plot.title, "; ");
    add_listed(words, plot_words(plot), " ");
  }
  return fmt::format(
      R"(<svg class="plot" xmlns="http://www.w3.org/2000/svg" width="{0:.0f}" height="{1:.0f}" )"
      R"(viewBox="0 0 {0:.0f} {1:.0f}" role="img" aria-labelledby="title words">)"
      "\n<title id=\"title\">{2}</title><desc id=\"words\">{3}</desc>\n<style>{4}</style>\n{5}"
      R"(<rect class="sheet" width="100%" height="100%"/>)"
      "\n{6}</svg>\n",
      kPlotWidth,
      y,
      escaped(title),
      escaped(words),
      kPlotStyle,
      kPlotDefinitions,
      sheet.body());
}

}  // namespace titer
