#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "plot_drawing.hpp"
#include "titer/view/svg.hpp"
#include "titer/view/table.hpp"

namespace titer {
namespace {

constexpr double kTextLetter = 6.9;  // width of one
constexpr double kLegendLine = 18;
constexpr double kSwatch = 11;

/// "0.5", "1500", "20k", "3M".
std::string mark_number(double number) {
  constexpr std::array<std::pair<double, std::string_view>, 5> sizes = {
      {{1e15, "P"}, {1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}}};
  if (std::abs(number) >= 1e4) {
    for (const auto& [size, name] : sizes) {
      if (std::abs(number) >= size * (1 - 1e-9)) {
        return fmt::format("{:.4g}{}", number / size, name);
      }
    }
  }
  return std::abs(number) < 1e-12 ? "0" : fmt::format("{:.4g}", number);
}

}  // namespace

PlotScale::PlotScale(const PlotAxis& axis,
                     const std::vector<double>& numbers,
                     double marks,
                     bool is_tight)
    : scale_(axis.scale), logarithmic_(axis.logarithmic), is_tight_(is_tight) {
  double low = axis.from_zero || numbers.empty() ? 0 : numbers.front() * scale_;
  double high = numbers.empty() ? 1 : low;
  for (const double number : numbers) {
    low = std::min(low, number * scale_);
    high = std::max(high, number * scale_);
  }
  if (logarithmic_) {
    count_by_powers(low, high, marks);
  } else {
    count_evenly(low, high, marks);
  }
  if (!axis.marks.empty()) {
    marks_ = axis.marks;
  }
}

void PlotScale::count_evenly(double low, double high, double marks) {
  if (high <= low) {
    const double air = low == 0 ? 1 : 0.1 * std::abs(low);
    low -= low == 0 ? 0 : air;
    high += air;
  }
  const double distance = mark_distance((high - low) / marks);
  const double first = std::floor(low / distance + 1e-9);
  const double last = std::ceil(high / distance - 1e-9);
  low_ = is_tight_ ? low : distance * first;
  high_ = is_tight_ ? high : distance * last;
  for (double i = first; i <= last; ++i) {
    if (const double mark = i * distance;
        mark >= low_ - 1e-9 * distance && mark <= high_ + 1e-9 * distance) {
      marks_.push_back(mark / scale_);
    }
  }
}

void PlotScale::count_by_powers(double low, double high, double marks) {
  constexpr double air = 1.15;
  low_ = low / air;
  high_ = high * air;
  const double decades = std::log10(high_ / low_);
  const double every = std::max(1.0, std::ceil(decades / (1.5 * marks)));
  const std::vector<double> steps =
      decades < marks / 2 ? std::vector<double>{1, 2, 5} : std::vector<double>{1};
  const double first = std::floor(std::log10(low_));
  for (double power = first; power <= std::log10(high_); power += every) {
    for (const double step : steps) {
      const double mark = step * std::pow(10.0, power);
      if (mark >= low_ && mark <= high_) {
        marks_.push_back(mark / scale_);
      }
    }
  }
}

double PlotScale::share(double si) const {
  const double at = si * scale_;
  return logarithmic_ ? std::log(at / low_) / std::log(high_ / low_) : (at - low_) / (high_ - low_);
}

std::string PlotScale::mark_text(double si) const { return mark_number(si * scale_); }

void PlotSheet::text(Point at, std::string_view classes, std::string_view words) {
  body_ += fmt::format(R"(<text x="{}" y="{}" class="{}">{}</text>)",
                       tenths(at.x),
                       tenths(at.y),
                       classes,
                       escaped(words));
  body_ += '\n';
}

void PlotSheet::rectangle(Point at, Point size, std::string_view classes) {
  body_ += fmt::format(R"(<rect x="{}" y="{}" width="{}" height="{}" class="{}"/>)",
                       tenths(at.x),
                       tenths(at.y),
                       tenths(size.x),
                       tenths(size.y),
                       classes);
  body_ += '\n';
}

void PlotSheet::path(std::string_view classes, const std::string& d) {
  body_ += fmt::format(R"(<path class="{}" d="{}"/>)", classes, d);
  body_ += '\n';
}

void PlotSheet::begin_mark(std::string_view words) {
  body_ += fmt::format(R"(<g class="mark"><title>{}</title>)", escaped(words));
}

double PlotSheet::legend(const std::vector<PlotPart>& parts, Point at) {
  const double left = at.x;
  const double top = at.y;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const double width = kSwatch + 6 + text_width(parts[i].name) + 14;
    if (at.x > left && at.x + width > kPlotWidth) {
      at = {left, at.y + kLegendLine};
    }
    const PlotTone tone = tone_of(parts, i);
    const Point swatch = {at.x, at.y - kSwatch + 2};
    rectangle(swatch, {kSwatch, kSwatch}, fmt::format("t{}", tone.colour));
    if (tone.hatched) {
      body_ += fmt::format(R"~(<rect x="{}" y="{}" width="{}" height="{}" fill="url(#hatched)"/>)~",
                           tenths(swatch.x),
                           tenths(swatch.y),
                           kSwatch,
                           kSwatch);
    }
    text({at.x + kSwatch + 6, at.y}, "small", parts[i].name);
    at.x += width;
  }
  return at.y - top + kLegendLine;
}

double text_width(std::string_view words) {
  return kTextLetter * static_cast<double>(width_of(words));
}

PlotTone tone_of(const std::vector<PlotPart>& parts, std::size_t part) {
  const std::size_t tone = parts[part].tone.value_or(part % kTones);
  return {.colour = tone > kGreyTone ? tone - kGreyTone - 1 : tone, .hatched = tone > kGreyTone};
}

std::string path_to(char how, Point at) { return how + tenths(at.x) + " " + tenths(at.y); }

}  // namespace titer
