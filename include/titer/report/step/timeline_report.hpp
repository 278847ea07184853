#pragma once
// A timeline as a picture (text, SVG, PDF, TikZ) like those of the papers on pipeline schedules,
// and as a table (CSV, JSON). Rows are ranks; a box is a pass with the number of its micro-batch.

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "titer/input/document.hpp"
#include "titer/simulate/timeline.hpp"

namespace titer {

/// What the seconds of a timeline are.
enum class TimeScale {
  real,
  relative,  // a second stands for 1 of whatever the durations were given in
};

/// What a rank holds from `tick` on.
struct HeldPoint {
  Ticks tick = 0;
  double held = 0.0;
};

/// Drawn below what each rank does.
struct MemoryStrips {
  std::string what;                           // "memory in use, GB"
  std::vector<std::vector<HeldPoint>> ranks;  // by tick
  std::optional<double> limit{};              // what there is room for
};
/// Of the bytes that were recorded. REQUIRES a step with memory.
[[nodiscard]] MemoryStrips memory_in_use(const StepTimeline& timeline, Bytes capacity);

struct TimelineView {
  std::string title;  // "" for none, as below
  std::string note;   // a second line
  StepTimeline timeline;
  TimeScale scale = TimeScale::real;
  bool is_close = false;  // will be looked at from close by: thin boxes are boxes, too
  std::optional<MemoryStrips> memory{};
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

enum class PictureFormat {
  svg,
  pdf,   // one page, in Helvetica, which it does not hold
  tikz,  // a tikzpicture for LaTeX, in the document's fonts
};
enum class Palette {
  usual,
  safe,  // for those who tell few colours apart
  grey,
};
struct PictureStyle {
  PictureFormat format = PictureFormat::svg;
  Palette palette = Palette::usual;
};
/// Computing in tall boxes, other lanes in thin rows below; few bytes for each box. Several
/// timelines below one another, on one axis. REQUIRES one or more.
[[nodiscard]] std::string timelines_picture(std::span<const TimelineView> views,
                                            const PictureStyle& style = {});
[[nodiscard]] inline std::string timeline_picture(const TimelineView& view,
                                                  const PictureStyle& style = {}) {
  return timelines_picture({&view, 1}, style);
}
/// One row per span, by rank, lane and start.
[[nodiscard]] std::string timeline_csv(const TimelineView& view);
/// Ranks, spans and messages.
[[nodiscard]] Value timeline_json(const TimelineView& view);

}  // namespace titer
