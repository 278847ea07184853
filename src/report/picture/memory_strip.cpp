#include "memory_strip.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace titer {

MemoryStrips memory_in_use(const StepTimeline& timeline, Bytes capacity) {
  const Bytes unit = 1_GiB;
  MemoryStrips strips{.what = "memory in use, GiB",
                      .ranks = std::vector<std::vector<HeldPoint>>(timeline.ranks.size()),
                      .limit = capacity / unit};
  for (const MemoryPoint& point : timeline.memory) {
    strips.ranks[static_cast<std::size_t>(point.rank)].push_back({point.tick, point.in_use / unit});
  }
  return strips;
}

double most_held(const std::vector<HeldPoint>& points) {
  double most = 0.0;
  for (const HeldPoint& point : points) {
    most = std::max(most, point.held);
  }
  return most;
}

double full_strip(std::span<const TimelineView> views) {
  double full = 0.0;
  for (const TimelineView& view : views) {
    if (!view.memory) {
      continue;
    }
    full = std::max(full, view.memory->limit.value_or(0.0));
    for (const std::vector<HeldPoint>& points : view.memory->ranks) {
      full = std::max(full, most_held(points));
    }
  }
  return full;
}

std::vector<double> held_columns(const std::vector<HeldPoint>& points,
                                 Ticks makespan,
                                 int columns) {
  std::vector<double> held(static_cast<std::size_t>(columns), 0.0);
  const double width = static_cast<double>(std::max<Ticks>(makespan, 1)) / columns;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const Ticks until = i + 1 < points.size() ? points[i + 1].tick : makespan;
    // What is held for no time is not seen; whoever ends at the edge of a column is not in the
    // next.
    const auto first = static_cast<std::size_t>(static_cast<double>(points[i].tick) / width + 1e-9);
    const auto last =
        static_cast<std::size_t>(std::ceil(static_cast<double>(until) / width - 1e-9));
    for (std::size_t column = first; until > points[i].tick && column < std::min(last, held.size());
         ++column) {
      held[column] = std::max(held[column], points[i].held);
    }
  }
  return held;
}

std::string strip_text(const std::vector<double>& columns, double full) {
  constexpr std::array<std::string_view, 9> eighths = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  std::string text;
  for (const double held : columns) {
    const double share = full > 0.0 ? held / full * 8.0 : 0.0;
    const auto level = static_cast<std::size_t>(std::lround(share));
    text += eighths[held > 0.0 ? std::clamp<std::size_t>(level, 1, 8) : 0];
  }
  return text;
}

void draw_strip(Canvas& canvas,
                const Area& area,
                const std::vector<double>& columns,
                double full,
                std::string_view colour) {
  if (!(full > 0.0) || columns.empty()) {
    return;
  }
  const double foot = area.y + area.high;
  const double wide = area.wide / static_cast<double>(columns.size());
  std::vector<Point> outline = {{area.x, foot}};
  for (std::size_t begin = 0; begin < columns.size();) {
    std::size_t end = begin + 1;
    while (end < columns.size() && columns[end] == columns[begin]) {
      ++end;
    }
    const double y = foot - columns[begin] / full * area.high;
    outline.push_back({area.x + wide * static_cast<double>(begin), y});
    outline.push_back({area.x + wide * static_cast<double>(end), y});
    begin = end;
  }
  outline.push_back({area.x + area.wide, foot});
  canvas.polygon(outline, colour);
}

}  // namespace titer
