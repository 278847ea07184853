#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "plot_drawing.hpp"
#include "titer/view/svg.hpp"

namespace titer {
namespace {

constexpr double kThick = 20;        // of a bar
constexpr double kThickest = 34;     // of one by itself
constexpr double kNameLine = 16;     // of a name above its bar
constexpr double kWidestName = 110;  // of one to the left of it
constexpr double kAxisMarks = 5;
constexpr double kLimitLine = 17;
constexpr double kRangeBelow = 16;
constexpr double kBehind = 6;  // between a bar and its words

double sum_above(const PlotBar& bar) {
  return std::accumulate(bar.values.begin(), bar.values.end(), 0.0, [](double sum, double value) {
    return sum + std::max(value, 0.0);
  });
}
double sum_below(const PlotBar& bar) {
  return std::accumulate(bar.values.begin(), bar.values.end(), 0.0, [](double sum, double value) {
    return sum + std::min(value, 0.0);
  });
}

template <class Of>
double widest(const PlotBars& bars, const Of& of) {
  double width = 0;
  for (const PlotBar& bar : bars.bars) {
    width = std::max(width, text_width(of(bar)));
  }
  return width;
}

class BarsDrawing {
 public:
  explicit BarsDrawing(const PlotBars& bars)
      : bars_(bars), scale_(bars.axis, bar_numbers(bars), kAxisMarks, true) {
    const double names = widest(bars, [](const PlotBar& bar) { return bar.name; });
    names_above_ = names > kWidestName;
    left_ = names_above_ || names == 0 ? 8 : 1.06 * names + 12;
    thick_ = bars.bars.size() == 1 ? kThickest : kThick;
    right_ = kPlotWidth - 14 - room_behind();
    step_ = thick_ + (names_above_ ? kNameLine + 6 : 7);
    top_ = bars.limits.empty() ? 6 : kLimitLine + 4;
    // Of a single bar, which has names inside, the range stands below.
    range_below_ = bars.bars.size() == 1 && bars.bars.front().range ? kRangeBelow : 0;
    bottom_ = top_ + range_below_ + step_ * static_cast<double>(bars.bars.size()) + 2;
  }

  PlotPicture picture() {
    add_axis();
    for (std::size_t i = 0; i < bars_.bars.size(); ++i) {
      add_bar(bars_.bars[i],
              top_ + step_ * static_cast<double>(i) + (names_above_ ? kNameLine : 2));
    }
    for (const PlotLimit& limit : bars_.limits) {
      add_limit(limit);
    }
    for (const auto& [place, words] : words_) {
      sheet_.text(place, "behind label", words);  // over what goes through them
    }
    double height = bottom_ + 36;
    if (bars_.parts.size() > 1) {
      height += sheet_.legend(bars_.parts, {8, height + 16}) + 6;
    }
    return {.height = height + 2, .body = sheet_.body()};
  }

 private:
  /// Behind the longest bar there is room for its words, and behind a limit that would go through
  /// those of a bar: on an axis as short as words may make it.
  [[nodiscard]] double room_behind() const {
    const double whole = kPlotWidth - 14 - left_;
    const double least =
        whole - widest(bars_, [](const PlotBar& bar) { return bar.words; }) - kBehind;
    double room = 0;
    for (const PlotBar& bar : bars_.bars) {
      double end = bar.range ? std::max(sum_above(bar), bar.range->high) : sum_above(bar);
      for (const PlotLimit& limit : bars_.limits) {
        const double between = (scale_.share(limit.at) - scale_.share(end)) * least;
        end = is_in_words(bar, between) ? limit.at : end;
      }
      room = std::max(room, text_width(bar.words) + kBehind - (1 - scale_.share(end)) * whole);
    }
    return room;
  }
  /// Whether what stands so far behind the end of a bar goes through its words there.
  [[nodiscard]] static bool is_in_words(const PlotBar& bar, double behind) {
    return behind > 0 && behind < text_width(bar.words) + 2 * kBehind;
  }
  [[nodiscard]] double x(double si) const { return left_ + scale_.share(si) * (right_ - left_); }

  void add_axis() {
    for (const double mark : scale_.marks()) {
      sheet_.path("grid", fmt::format("M{} {}V{}", tenths(x(mark)), tenths(top_), tenths(bottom_)));
      sheet_.text({x(mark), bottom_ + 15}, "small mid", scale_.mark_text(mark));
    }
    add_middle((left_ + right_) / 2, bottom_ + 31, bars_.axis.label);
  }

  void add_bar(const PlotBar& bar, double y) {
    if (names_above_) {
      sheet_.text({left_, y - 4}, "name", bar.name);
    } else if (!bar.name.empty()) {
      sheet_.text({left_ - 7, y + thick_ / 2 + 4}, "end", bar.name);
    }
    double above = 0;
    double below = 0;
    for (std::size_t part = 0; part < bar.values.size(); ++part) {
      const double value = bar.values[part];
      double& from = value < 0 ? below : above;
      add_part(bar, part, std::pair(from, from + value), y);
      from += value;
    }
    double end = x(above);
    if (bar.range) {
      add_range(*bar.range, y);
      end = range_below_ > 0 ? end : std::max(end, x(bar.range->high));
    }
    for (const PlotLimit& limit : bars_.limits) {
      end = is_in_words(bar, x(limit.at) - end) ? x(limit.at) : end;
    }
    if (!bar.words.empty()) {
      words_.push_back({{end + kBehind, y + thick_ / 2 + 4}, bar.words});
    }
  }

  void add_part(const PlotBar& bar, std::size_t part, std::pair<double, double> ends, double y) {
    const double from = x(std::min(ends.first, ends.second));
    const double width = x(std::max(ends.first, ends.second)) - from;
    if (width <= 0) {
      return;
    }
    const std::string& name = bars_.parts[part].name;
    const PlotTone tone = tone_of(bars_.parts, part);
    sheet_.begin_mark(fmt::format("{}{}{}: {:.4g}",
                                  bar.name,
                                  bar.name.empty() || name.empty() ? "" : ", ",
                                  name,
                                  bars_.axis.scale * (ends.second - ends.first)));
    sheet_.rectangle({from, y}, {width, thick_}, fmt::format("part t{}", tone.colour));
    if (tone.hatched) {
      sheet_.add(
          fmt::format(R"~(<rect x="{}" y="{}" width="{}" height="{}" fill="url(#hatched)"/>)~",
                      tenths(from),
                      tenths(y),
                      tenths(width),
                      tenths(thick_)));
    }
    const bool has_room = bars_.bars.size() == 1 && width > text_width(name) + 6;
    if (has_room && !tone.hatched) {
      sheet_.text(
          {from + width / 2, y + thick_ / 2 + 4}, fmt::format("on on{} mid", tone.colour), name);
    }
    sheet_.end_mark();
  }

  void add_range(const PlotRange& range, double y) {
    const double middle = range_below_ > 0 ? y + thick_ + range_below_ - 6 : y + thick_ / 2;
    const std::string low = tenths(x(range.low));
    const std::string high = tenths(x(range.high));
    sheet_.path("range",
                fmt::format("M{0} {3}V{4}M{0} {2}H{1}M{1} {3}V{4}",
                            low,
                            high,
                            tenths(middle),
                            tenths(middle - 6),
                            tenths(middle + 6)));
  }

  /// Words about a place, or as near as the picture's edges let them.
  void add_middle(double at, double y, const std::string& words) {
    const double half = text_width(words) / 2;
    const double middle = std::clamp(at, half + 2, std::max(half + 2, kPlotWidth - half - 2));
    sheet_.text({middle, y}, "small mid", words);
  }

  void add_limit(const PlotLimit& limit) {
    const double at = x(limit.at);
    sheet_.path("limit", fmt::format("M{} {}V{}", tenths(at), tenths(top_ - 4), tenths(bottom_)));
    add_middle(at, top_ - 8, limit.words);
  }

  const PlotBars& bars_;
  PlotScale scale_;
  PlotSheet sheet_;
  std::vector<std::pair<Point, std::string>> words_;
  bool names_above_ = false;
  double left_ = 0;
  double right_ = 0;
  double top_ = 0;
  double bottom_ = 0;
  double thick_ = 0;
  double step_ = 0;
  double range_below_ = 0;
};

}  // namespace

std::vector<double> bar_numbers(const PlotBars& bars) {
  std::vector<double> numbers = {0};
  for (const PlotBar& bar : bars.bars) {
    numbers.insert(numbers.end(), {sum_above(bar), sum_below(bar)});
    if (bar.range) {
      numbers.insert(numbers.end(), {bar.range->low, bar.range->high});
    }
  }
  for (const PlotLimit& limit : bars.limits) {
    numbers.push_back(limit.at);
  }
  return numbers;
}

PlotPicture draw(const PlotBars& bars) { return BarsDrawing(bars).picture(); }

}  // namespace titer
