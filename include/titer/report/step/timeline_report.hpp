#pragma once
// A timeline as a picture (text, SVG) like those of the papers on pipeline schedules, and as a
// table (CSV, JSON). Rows are ranks; a box is a pass with the number of its micro-batch.

#include <span>
#include <string>

#include "titer/input/document.hpp"
#include "titer/simulate/timeline.hpp"

namespace titer {

/// What the seconds of a timeline are.
enum class TimeScale {
  real,
  relative,  // a second stands for 1 of whatever the durations were given in
};

struct TimelineView {
  std::string title;  // "" for none, as below
  std::string note;   // a second line
  StepTimeline timeline;
  TimeScale scale = TimeScale::real;
  bool is_close = false;  // will be looked at from close by: thin boxes are boxes, too
};

/// Columns of a text picture beside the names of its rows.
inline constexpr int kLeastTextWidth = 20;
inline constexpr int kUsualTextWidth = 150;
inline constexpr int kMostTextWidth = 100'000;

/// One line per rank: what it computes, by the micro-batches' numbers where `width` has room for
/// them. REQUIRES a width of at least kLeastTextWidth.
[[nodiscard]] std::string timeline_text(const TimelineView& view, int width = kUsualTextWidth);
/// Below one another, a column of each as long as of the others.
[[nodiscard]] std::string timelines_text(std::span<const TimelineView> views, int width);
/// Computing in tall boxes, other lanes in thin rows below; few bytes for each box.
[[nodiscard]] std::string timeline_svg(const TimelineView& view);
/// Below one another, on one axis. REQUIRES one or more.
[[nodiscard]] std::string timelines_svg(std::span<const TimelineView> views);
/// One row per span, by rank, lane and start.
[[nodiscard]] std::string timeline_csv(const TimelineView& view);
/// Ranks, spans and messages.
[[nodiscard]] Value timeline_json(const TimelineView& view);

}  // namespace titer
