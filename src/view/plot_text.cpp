// Charts of characters: bars of blocks, lines of braille dots.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "character_sheet.hpp"
#include "plot_drawing.hpp"
#include "titer/view/table.hpp"
#include "titer/view/text_view.hpp"

namespace titer {
namespace {

constexpr std::size_t kRows = 16;  // of a plane's paper
constexpr double kTextYMarks = 4;
constexpr double kTextXMarks = 5;
constexpr double kTextBarMarks = 5;
constexpr std::size_t kWidestTextName = 24;
/// Of the parts of bars, by their tones; the last is the grey one.
constexpr std::array<std::string_view, kTones + 1> kFills = {
    "█", "▒", "▓", "░", "▚", "▞", "▤", "▥", "·"};
/// At the points of series.
constexpr std::array<std::string_view, 8> kTextMarks = {"●", "■", "▲", "◆", "○", "□", "△", "◇"};

/// Names behind their signs, in lines of that width.
std::string legend_text(const std::vector<std::pair<std::string_view, std::string>>& names,
                        std::size_t width) {
  std::string text;
  std::string line;
  for (const auto& [sign, name] : names) {
    const std::string one = fmt::format("{} {}", sign, name);
    if (!line.empty() && width_of(line) + 3 + width_of(one) > width) {
      text += "  " + line + "\n";
      line.clear();
    }
    line += (line.empty() ? "" : "   ") + one;
  }
  return line.empty() ? text : text + "  " + line + "\n";
}

/// Marks below an axis that begins at a column, and its label.
std::string axis_text(const PlotScale& scale,
                      const std::string& label,
                      std::size_t left,
                      std::size_t paper) {
  CharacterSheet sheet(left + paper, 2);
  std::size_t free = 0;
  for (const double mark : scale.marks()) {
    const std::string words = scale.mark_text(mark);
    const std::size_t at = left + place(scale.share(mark), paper);
    const std::size_t begin = at - std::min(at, width_of(words) / 2);
    if (begin >= free) {
      sheet.put_words(begin, 0, words);
      free = begin + width_of(words) + 2;
    }
  }
  const std::size_t middle = left + paper / 2;
  sheet.put_words(middle - std::min(middle, width_of(label) / 2), 1, label);
  return sheet.row(0) + "\n" + sheet.row(1) + "\n";
}

class PlaneText {
 public:
  PlaneText(const PlotPlane& plane, std::size_t width)
      : plane_(plane),
        x_(plane.x, x_numbers(plane), kTextXMarks),
        y_(plane.y, y_numbers(plane), kTextYMarks),
        left_(left_of(y_)),
        paper_(width - left_),
        sheet_(paper_, kRows) {}

  std::string text() {
    add_limits();
    std::vector<std::pair<std::string_view, std::string>> names;
    for (const PlotSeries& series : plane_.series) {
      const std::string_view mark = kTextMarks[names.size() % kTextMarks.size()];
      names.emplace_back(mark, series.name);
      for (std::size_t i = 1; series.look == PlotLook::line && i < series.points.size(); ++i) {
        add_line(series.points[i - 1], series.points[i]);
      }
      for (const PlotPoint& point : series.points) {
        add_point(point, mark);
      }
    }
    return paper() + axis_text(x_, plane_.x.label, left_, paper_) +
           (names.size() > 1 ? legend_text(names, left_ + paper_ - 2) : "");
  }

 private:
  /// Two blanks before the widest mark, one and the axis behind it.
  static std::size_t left_of(const PlotScale& y) {
    std::size_t widest = 0;
    for (const double mark : y.marks()) {
      widest = std::max(widest, width_of(y.mark_text(mark)));
    }
    return widest + 4;
  }

  [[nodiscard]] std::size_t column(double si) const { return place(x_.share(si), paper_); }
  [[nodiscard]] std::size_t row(double si) const { return kRows - 1 - place(y_.share(si), kRows); }

  void add_limits() {
    for (const PlotLimit& limit : plane_.y_limits) {
      for (std::size_t i = 0; i < paper_; i += 2) {
        sheet_.put(i, row(limit.at), "╌");
      }
      sheet_.put_words(paper_, row(limit.at), limit.words);
    }
    for (const PlotLimit& limit : plane_.x_limits) {
      const std::size_t at = column(limit.at);
      for (std::size_t i = 1; i < kRows; ++i) {
        sheet_.put(at, i, "╎");
      }
      sheet_.put_words(at - std::min(at, width_of(limit.words) / 2), 0, limit.words);
    }
  }

  /// Every dot between both, by the longer of the two ways.
  void add_line(const PlotPoint& from, const PlotPoint& to) {
    const std::size_t across = kDotsAcross * paper_;
    const std::size_t down = kDotsDown * kRows;
    const auto steps = static_cast<double>(std::max(across, down));
    for (double step = 0; step <= steps; ++step) {
      const double part = step / steps;
      sheet_.dot(place(std::lerp(x_.share(from.x), x_.share(to.x), part), across),
                 down - 1 - place(std::lerp(y_.share(from.y), y_.share(to.y), part), down));
    }
  }

  void add_point(const PlotPoint& point, std::string_view mark) {
    if (point.range) {
      sheet_.put(column(point.x), row(point.range->low), "╵");
      sheet_.put(column(point.x), row(point.range->high), "╷");
    }
    sheet_.put(column(point.x), row(point.y), mark);
    if (!point.label.empty()) {
      sheet_.put_words(column(point.x) + 1, row(point.y), point.label);
    }
  }

  /// The sheet behind its axis, with the marks of that.
  [[nodiscard]] std::string paper() const {
    std::string text = "  " + plane_.y.label + "\n";
    for (std::size_t i = 0; i < kRows; ++i) {
      std::string words;
      for (const double mark : y_.marks()) {
        words = row(mark) == i ? y_.mark_text(mark) : words;
      }
      text += fmt::format(
          "{} {}{}\n", padded(words, left_ - 2, true), words.empty() ? "│" : "┤", sheet_.row(i));
    }
    text += std::string(left_ - 1, ' ') + "└";
    for (std::size_t i = 0; i < paper_; ++i) {
      text += "─";
    }
    return text + "\n";
  }

  const PlotPlane& plane_;
  PlotScale x_;
  PlotScale y_;
  std::size_t left_;
  std::size_t paper_;
  CharacterSheet sheet_;
};

std::string text_of(const PlotPlane& plane, std::size_t width) {
  return PlaneText(plane, width).text();
}

/// How far bars of text may go, and what stands beside them.
struct BarRoom {
  std::size_t left = 2;  // of names and blanks
  std::size_t paper = 0;
};

BarRoom room_of(const PlotBars& bars, std::size_t width) {
  std::size_t names = 0;
  std::size_t behind = 0;
  for (const PlotBar& bar : bars.bars) {
    names = std::max(names, std::min(kWidestTextName, width_of(bar.name)));
    behind = std::max(behind, width_of(bar.words));
  }
  BarRoom room;
  room.left += names == 0 ? 0 : names + 1;
  const std::size_t free = width - room.left;
  room.paper = free - std::min(behind == 0 ? 0 : behind + 1, free / 2);
  return room;
}

std::string_view fill_of(const PlotBars& bars, std::size_t part) {
  return kFills[std::min<std::size_t>(tone_of(bars.parts, part).colour, kTones)];
}

/// The parts of a bar one after the other; what is below 0 to the left of where it begins.
void put_parts(CharacterSheet& sheet,
               const PlotBars& bars,
               const PlotBar& bar,
               const PlotScale& scale,
               std::size_t paper) {
  double above = 0;
  double below = 0;
  for (std::size_t part = 0; part < bar.values.size(); ++part) {
    double& from = bar.values[part] < 0 ? below : above;
    const double to = from + bar.values[part];
    const auto edge = [&](double si) {
      return static_cast<std::size_t>(
          std::lround(std::clamp(scale.share(si), 0.0, 1.0) * static_cast<double>(paper)));
    };
    for (std::size_t i = edge(std::min(from, to)); i < edge(std::max(from, to)); ++i) {
      sheet.put(i, 0, fill_of(bars, part));
    }
    from = to;
  }
}

std::string text_of(const PlotBars& bars, std::size_t width) {
  const BarRoom room = room_of(bars, width);
  const PlotScale scale(bars.axis, bar_numbers(bars), kTextBarMarks, true);
  std::string text;
  if (!bars.limits.empty()) {
    CharacterSheet heads(width, 1);
    for (const PlotLimit& limit : bars.limits) {
      const std::size_t at = room.left + place(scale.share(limit.at), room.paper);
      heads.put_words(at - std::min(at, width_of(limit.words) / 2), 0, limit.words);
    }
    text += heads.row(0) + "\n";
  }
  for (const PlotBar& bar : bars.bars) {
    CharacterSheet sheet(room.paper, 1);
    put_parts(sheet, bars, bar, scale, room.paper);
    for (const PlotLimit& limit : bars.limits) {
      sheet.put(place(scale.share(limit.at), room.paper), 0, "╎");
    }
    if (bar.range) {
      sheet.put(place(scale.share(bar.range->low), room.paper), 0, "├");
      sheet.put(place(scale.share(bar.range->high), room.paper), 0, "┤");
    }
    const std::string name =
        room.left == 2 ? ""
                       : padded(shortened(bar.name, kWidestTextName), room.left - 3, true) + " ";
    const std::string behind = shortened(bar.words, width - room.left - room.paper);
    text += bar.words.empty()
                ? fmt::format("  {}{}\n", name, sheet.row(0))
                : fmt::format("  {}{} {}\n", name, padded(sheet.row(0), room.paper), behind);
  }
  text += axis_text(scale, bars.axis.label, room.left, room.paper);
  std::vector<std::pair<std::string_view, std::string>> names;
  for (std::size_t part = 0; part < bars.parts.size(); ++part) {
    names.emplace_back(fill_of(bars, part), bars.parts[part].name);
  }
  return names.size() > 1 ? text + legend_text(names, width - 2) : text;
}

}  // namespace

std::string plot_text(std::span<const Plot> plots, std::size_t width) {
  std::string text;
  for (const Plot& plot : plots) {
    TextView heading(plot.title + "\n");
    heading.add(plot.note.empty() ? "" : "  " + plot.note + "\n");
    text += (text.empty() ? "" : "\n") + heading.write({.width = width});
    text += std::visit([&](const auto& chart) { return text_of(chart, width); }, plot.chart);
  }
  return text;
}

}  // namespace titer
