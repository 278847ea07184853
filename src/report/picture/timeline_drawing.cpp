#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "canvas.hpp"
#include "legend.hpp"
#include "memory_strip.hpp"
#include "palette.hpp"
#include "timeline_picture.hpp"
#include "titer/units/text.hpp"
#include "titer/view/svg.hpp"

namespace titer {
namespace {

constexpr double kTimelineMargin = 14.0;
constexpr double kLeastWidth = 560.0;  // of the part that shows time
constexpr double kMostWidth = 1200.0;
constexpr double kDigit = 5.6;       // at the size of the numbers in boxes
constexpr double kLaneHeight = 5.0;  // of what goes on beside the computing
constexpr double kThin = 1.5;        // where most boxes are thinner, columns are painted instead
constexpr std::size_t kMostBoxes = 5000;  // of a row, which is columns if it has more
constexpr double kPeakRoom = 30.0;        // for numbers to the right of strips
constexpr std::string_view kStripGround = "#f6f7f9";
constexpr std::string_view kLimitColour = "#b02a37";

/// What timelines below one another have in common.
struct TimelineFrame {
  double left = 0.0;
  double width = 0.0;  // of the part that shows time
  Ticks makespan = 1;  // that it stands for
  double held = 0.0;   // that a full strip of memory stands for
};

class TimelineDrawing {
 public:
  TimelineDrawing(const TimelineView& view, Palette palette)
      : view_(view),
        palette_(palette),
        picture_(picture_of(view.timeline)),
        names_(rank_names(view.timeline)) {
    const std::size_t rows = picture_.rows.size();
    box_height_ = rows <= 16 ? 22.0 : rows <= 32 ? 15.0 : 9.0;
    lanes_ = static_cast<int>(std::ranges::count(picture_.lanes, true));
    row_height_ = box_height_ + kLaneHeight * lanes_ + (lanes_ > 0 ? 8.0 : 4.0);
    if (view.memory) {
      strip_height_ = 0.6 * box_height_;
      row_height_ += strip_height_ + 4.0;
    }
    for (const std::string& name : names_) {
      left_ = std::max(left_, 2 * kTimelineMargin + kNameLetter * static_cast<double>(name.size()));
    }
  }

  [[nodiscard]] double left() const { return left_; }
  [[nodiscard]] Ticks makespan() const { return std::max<Ticks>(picture_.makespan, 1); }
  /// Pixels for a tick with which the number in every box has room.
  [[nodiscard]] double needed() const {
    double needed = 0.0;
    for (const PictureRow& row : picture_.rows) {
      for (const Box& box : row.boxes) {
        if (box.micro_batch) {
          needed = std::max(needed,
                            (number_width(box) + 5.0) / static_cast<double>(box.end - box.start));
        }
      }
    }
    return needed;
  }

  /// Title and rows from `y` on; returns where they end.
  double add_rows(Canvas& canvas, const TimelineFrame& frame, double y) {
    canvas_ = &canvas;
    full_strip_ = frame.held;
    left_ = frame.left;
    width_ = frame.width;
    axis_ = frame.makespan;
    per_tick_ = width_ / static_cast<double>(axis_);
    if (!view_.title.empty()) {
      y += 26.0;
      canvas.text(
          {kTimelineMargin, y}, {.size = 15.0, .colour = "#1a202c", .is_bold = true}, view_.title);
    }
    if (!view_.note.empty()) {
      y += 18.0;
      canvas.text({kTimelineMargin, y}, {.size = 12.0, .colour = kQuietInk}, view_.note);
    }
    top_ = y + 14.0;
    for (std::size_t row = 0; row < picture_.rows.size(); ++row) {
      add_row(row);
    }
    canvas.flush();
    return top_ + row_height_ * static_cast<double>(picture_.rows.size());
  }
  /// The axis and what colours mean, below the rows; returns how wide and high all of it is.
  std::pair<double, double> add_end() {
    add_axis();
    add_legend();
    const double right = view_.memory ? kPeakRoom : 0.0;
    return {std::max(left_ + width_ + 2 * kTimelineMargin + right, legend_width_), height_};
  }
  /// Chunks and colours of other timelines, which have the same shades and one legend.
  void explain_also(const TimelineDrawing& other) {
    picture_.chunks = std::max(picture_.chunks, other.picture_.chunks);
    for (std::size_t i = 0; i < kPaintCount; ++i) {
      picture_.used[i] = picture_.used[i] || other.picture_.used[i];
    }
  }

 private:
  static double number_width(const Box& box) {
    return kDigit * static_cast<double>(std::to_string(box.micro_batch.value_or(0)).size());
  }
  [[nodiscard]] double own_width() const {
    return picture_.makespan == axis_ ? width_ : per_tick_ * static_cast<double>(makespan());
  }
  [[nodiscard]] double x(Ticks tick) const { return left_ + per_tick_ * static_cast<double>(tick); }

  void add_rectangle(const std::string& colour, double x0, double x1, double y, double height) {
    // A little air to the right of a box that can spare it.
    const double wide = x1 - x0 - std::min(0.8, 0.15 * (x1 - x0));
    canvas_->box({x0, y, wide, height}, colour);
  }

  void add_row(std::size_t index) {
    const PictureRow& row = picture_.rows[index];
    const double y = top_ + row_height_ * static_cast<double>(index);
    canvas_->ground({left_, y, own_width(), box_height_}, kIdleColour);
    canvas_->text({kTimelineMargin, y + box_height_ / 2 + 4.0}, {}, names_[index]);
    if (is_dense(row.boxes)) {
      add_columns(row.boxes, y);
    } else {
      for (const Box& box : row.boxes) {
        add_box(box, y);
      }
    }
    double lane_y = y + box_height_ + 1.0;
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      if (picture_.lanes[lane]) {
        add_lane(row.beside[lane], colour_of_lane(lane), lane_y);
        lane_y += kLaneHeight;
      }
    }
    if (view_.memory) {
      add_strip(view_.memory->ranks[index], lane_y + 1.0);
    }
  }

  void add_strip(const std::vector<HeldPoint>& points, double y) {
    const Area area = {left_, y, own_width(), strip_height_};
    canvas_->ground(area, kStripGround);
    const int columns = std::max(1, static_cast<int>(std::lround(area.wide)));
    draw_strip(*canvas_,
               area,
               held_columns(points, makespan(), columns),
               full_strip_,
               memory_colour(palette_));
    const auto limit = view_.memory->limit;
    if (limit && *limit < full_strip_) {
      const double at = y + strip_height_ * (1.0 - *limit / full_strip_);
      canvas_->line({left_, at}, {left_ + area.wide, at}, kLimitColour, true);
    }
    canvas_->text({left_ + area.wide + 4.0, y + strip_height_ / 2 + 3.5},
                  {.size = 10.0, .colour = kQuietInk},
                  fmt::format("{:.4g}", most_held(points)));
  }

  /// Whether most of the time is in boxes too thin to be seen apart.
  [[nodiscard]] bool is_dense(const std::vector<Box>& boxes) const {
    Ticks thin = 0;  // more than in others
    for (const Box& box : boxes) {
      const Ticks time = box.end - box.start;
      thin += per_tick_ * static_cast<double>(time) < kThin ? time : -time;
    }
    return (thin > 0 && !view_.is_close) || boxes.size() > kMostBoxes;
  }

  [[nodiscard]] std::string colour(Paint paint, int chunk) const {
    return pass_colour(palette_, paint, chunk, picture_.chunks);
  }
  [[nodiscard]] std::string colour_of_lane(std::size_t lane) const {
    return lane_colour(palette_, static_cast<DeviceLane>(lane));
  }

  /// Neighbouring columns of one colour are one rectangle.
  void add_columns(const std::vector<Box>& boxes, double y) {
    const int columns = std::max(1, static_cast<int>(own_width()));
    const auto paints = columns_of(boxes, picture_.makespan, columns);
    const double wide = own_width() / columns;
    for (std::size_t begin = 0; begin < paints.size();) {
      std::size_t end = begin + 1;
      while (end < paints.size() && paints[end] == paints[begin]) {
        ++end;
      }
      if (paints[begin]) {
        canvas_->box({left_ + wide * static_cast<double>(begin),
                      y,
                      wide * static_cast<double>(end - begin),
                      box_height_},
                     colour(paints[begin]->paint, paints[begin]->chunk));
      }
      begin = end;
    }
  }

  void add_box(const Box& box, double y) {
    const bool is_half = box.height != Height::whole;
    const double high = is_half ? (box_height_ - 0.6) / 2 : box_height_;
    const double top = box.height == Height::lower ? y + box_height_ - high : y;
    const std::string fill = colour(box.paint, box.chunk);
    add_rectangle(fill, x(box.start), x(box.end), top, high);
    const double wide = x(box.end) - x(box.start);
    if (!box.micro_batch || wide < number_width(box) + 1.5 || high < 8.0) {
      return;
    }
    canvas_->number({(x(box.start) + x(box.end)) / 2 - 0.4, top + high / 2 + 3.6},
                    ink_on(fill),
                    *box.micro_batch);
  }

  /// Thin boxes; those that follow within half a pixel are one.
  void add_lane(const std::vector<Box>& boxes, const std::string& lane_colour, double y) {
    for (std::size_t begin = 0; begin < boxes.size();) {
      double end = x(boxes[begin].end);
      std::size_t next = begin + 1;
      while (next < boxes.size() && x(boxes[next].end) - x(boxes[begin].start) < 1.0 &&
             x(boxes[next].start) - end < 0.5) {
        end = std::max(end, x(boxes[next].end));
        ++next;
      }
      const double start = x(boxes[begin].start);
      add_rectangle(lane_colour, start, std::max(end, start + 0.6), y, kLaneHeight - 1.0);
      begin = next;
    }
  }

  void add_axis() {
    const double y = top_ + row_height_ * static_cast<double>(picture_.rows.size()) + 2.0;
    const double makespan = to_seconds(axis_).si();
    const bool is_real = view_.scale == TimeScale::real;
    const double unit = !is_real || makespan >= 2.0 ? 1.0 : makespan >= 2e-3 ? 1e-3 : 1e-6;
    const std::string_view unit_name = unit == 1.0 ? "s" : unit == 1e-3 ? "ms" : "us";
    const double distance = mark_distance(makespan / unit * 60.0 / width_);
    canvas_->line({left_, y}, {left_ + width_, y}, kQuietInk, false);
    for (int i = 0; i * distance <= makespan / unit * (1 + 1e-9); ++i) {
      const double at = left_ + i * distance * unit / makespan * width_;
      canvas_->line({at, y}, {at, y + 4.0}, kQuietInk, false);
      canvas_->text({at, y + 15.0},
                    {.size = 10.0, .colour = kQuietInk, .is_centred = true},
                    fmt::format("{:.6g}", i * distance));
    }
    canvas_->text({kTimelineMargin, y + 15.0},
                  {.size = 10.0, .colour = kQuietInk},
                  is_real ? fmt::format("time, {}", unit_name) : "time");
    height_ = y + 40.0;
  }

  void add_legend() {
    Legend legend(*canvas_, {left_, height_});
    for (std::size_t i = 0; i < kPaintCount; ++i) {
      const auto paint = static_cast<Paint>(i);
      if (!picture_.used[i]) {
        continue;
      }
      const int shades = paint == Paint::optimizer ? 1 : picture_.chunks;
      for (int chunk = 0; chunk < shades; ++chunk) {
        legend.add_swatch(colour(paint, chunk), 11.0);
      }
      legend.add_label(look(paint).name);
    }
    legend.add_swatch(kIdleColour, 11.0);
    legend.add_label("not computing");
    if (picture_.chunks > 1) {
      legend.add_remark(fmt::format("dark to light: chunk 0 to {}", picture_.chunks - 1));
    }
    if (lanes_ > 0) {
      add_lanes_to(legend);
    }
    if (view_.memory) {
      add_memory_to(legend, *view_.memory);
    }
    legend_width_ = legend.end().x;
    height_ = legend.end().y + 14.0;
  }

  void add_lanes_to(Legend& legend) const {
    legend.begin_row();
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      if (picture_.lanes[lane]) {
        legend.add_swatch(colour_of_lane(lane), kLaneHeight - 1.0);
        legend.add_label(kLaneNames[lane]);
      }
    }
  }

  void add_memory_to(Legend& legend, const MemoryStrips& memory) const {
    legend.begin_row();
    legend.add_swatch(memory_colour(palette_), 9.0);
    legend.add_label(fmt::format("{}{}: the most at the end of each strip; a full one is {:.4g}",
                                 memory.what,
                                 memory.limit ? fmt::format(", of {:.4g}", *memory.limit) : "",
                                 full_strip_));
  }

  const TimelineView& view_;
  Palette palette_;
  Picture picture_;
  std::vector<std::string> names_;
  Canvas* canvas_ = nullptr;
  int lanes_ = 0;  // drawn below each row
  double box_height_ = 0.0;
  double strip_height_ = 0.0;  // of memory, below lanes
  double full_strip_ = 0.0;    // what it stands for
  double row_height_ = 0.0;
  double left_ = 0.0;
  double top_ = 0.0;
  double width_ = 0.0;
  Ticks axis_ = 1;
  double per_tick_ = 0.0;
  double height_ = 0.0;
  double legend_width_ = 0.0;
};

}  // namespace

std::string timelines_picture(std::span<const TimelineView> views, const PictureStyle& style) {
  std::vector<TimelineDrawing> drawings;
  drawings.reserve(views.size());
  TimelineFrame frame;
  frame.held = full_strip(views);
  double needed = 0.0;
  for (const TimelineView& view : views) {
    const TimelineDrawing& drawing = drawings.emplace_back(view, style.palette);
    frame.left = std::max(frame.left, drawing.left());
    frame.makespan = std::max(frame.makespan, drawing.makespan());
    needed = std::max(needed, drawing.needed());
  }
  frame.width = std::clamp(needed * static_cast<double>(frame.makespan), kLeastWidth, kMostWidth);
  for (const TimelineDrawing& drawing : drawings) {
    drawings.back().explain_also(drawing);
  }
  const std::unique_ptr<Canvas> canvas = make_canvas(style.format);
  double y = 0.0;
  for (TimelineDrawing& drawing : drawings) {
    drawing.explain_also(drawings.back());
    y = drawing.add_rows(*canvas, frame, y) + kTimelineMargin;
  }
  const auto [wide, high] = drawings.back().add_end();
  return canvas->file(wide, high);
}

}  // namespace titer
