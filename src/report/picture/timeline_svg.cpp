#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "timeline_picture.hpp"
#include "titer/report/step/timeline_report.hpp"
#include "titer/units/text.hpp"
#include "titer/view/svg.hpp"

namespace titer {
namespace {

constexpr double kTimelineMargin = 14.0;
constexpr double kLeastWidth = 560.0;  // of the part that shows time
constexpr double kMostWidth = 1200.0;
constexpr double kNameLetter = 6.2;  // at the size of the rows' names
constexpr double kDigit = 5.6;       // at the size of the numbers in boxes
constexpr double kLaneHeight = 5.0;  // of what goes on beside the computing
constexpr double kThin = 1.5;        // where most boxes are thinner, columns are painted instead
constexpr std::size_t kMostBoxes = 5000;  // of a row, which is columns if it has more
constexpr std::string_view kIdleColour = "#eceff3";

/// How much white is mixed into the colour of a chunk: the first is dark, the last is light.
double lightness(int chunk, int chunks) { return chunks < 2 ? 0.0 : 0.62 * chunk / (chunks - 1); }

std::string shade(std::string_view colour, double white) {
  std::string text = "#";
  for (std::size_t i = 1; i < colour.size(); i += 2) {
    const int part = std::stoi(std::string(colour.substr(i, 2)), nullptr, 16);
    text += fmt::format("{:02x}", static_cast<int>(std::lround(part + white * (255 - part))));
  }
  return text;
}

/// What timelines below one another have in common.
struct TimelineFrame {
  double left = 0.0;
  double width = 0.0;  // of the part that shows time
  Ticks makespan = 1;  // that it stands for
};

class TimelineDrawing {
 public:
  explicit TimelineDrawing(const TimelineView& view)
      : view_(view), picture_(picture_of(view.timeline)), names_(rank_names(view.timeline)) {
    const std::size_t rows = picture_.rows.size();
    box_height_ = rows <= 16 ? 22.0 : rows <= 32 ? 15.0 : 9.0;
    lanes_ = static_cast<int>(std::count(picture_.lanes.begin(), picture_.lanes.end(), true));
    row_height_ = box_height_ + kLaneHeight * lanes_ + (lanes_ > 0 ? 8.0 : 4.0);
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
  double add_rows(const TimelineFrame& frame, double y) {
    left_ = frame.left;
    width_ = frame.width;
    axis_ = frame.makespan;
    per_tick_ = width_ / static_cast<double>(axis_);
    if (!view_.title.empty()) {
      y += 26.0;
      add_text({kTimelineMargin, y, "font-size=\"15\" font-weight=\"bold\" fill=\"#1a202c\""},
               view_.title);
    }
    if (!view_.note.empty()) {
      y += 18.0;
      add_text({kTimelineMargin, y, "font-size=\"12\" fill=\"#4a5568\""}, view_.note);
    }
    top_ = y + 14.0;
    for (std::size_t row = 0; row < picture_.rows.size(); ++row) {
      add_row(row);
    }
    return top_ + row_height_ * static_cast<double>(picture_.rows.size());
  }
  /// The axis and what colours mean, below the rows; returns how wide and high all of it is.
  std::pair<double, double> add_end() {
    add_axis();
    flush();
    add_legend();
    return {std::max(left_ + width_ + 2 * kTimelineMargin, legend_width_), height_};
  }
  /// Rows that others follow.
  void end_rows() { flush(); }
  /// Chunks and colours of other timelines, which have the same shades and one legend.
  void explain_also(const TimelineDrawing& other) {
    picture_.chunks = std::max(picture_.chunks, other.picture_.chunks);
    for (std::size_t i = 0; i < kPaintCount; ++i) {
      picture_.used[i] = picture_.used[i] || other.picture_.used[i];
    }
  }
  [[nodiscard]] const std::string& body() const { return body_; }

 private:
  struct TextStyle {
    double x = 0.0;
    double y = 0.0;
    std::string_view attributes;
  };
  void add_text(const TextStyle& style, std::string_view text) {
    body_ += fmt::format("<text x=\"{}\" y=\"{}\" {}>{}</text>\n",
                         tenths(style.x),
                         tenths(style.y),
                         style.attributes,
                         escaped(text));
  }

  static double number_width(const Box& box) {
    return kDigit * static_cast<double>(std::to_string(box.micro_batch.value_or(0)).size());
  }
  [[nodiscard]] double own_width() const {
    return picture_.makespan == axis_ ? width_ : per_tick_ * static_cast<double>(makespan());
  }
  [[nodiscard]] double x(Ticks tick) const { return left_ + per_tick_ * static_cast<double>(tick); }

  /// Adds a rectangle to the path of its colour; all of one colour are one element.
  void add_rectangle(const std::string& colour, double x0, double x1, double y, double height) {
    // A little air to the right of a box that can spare it.
    const double wide = x1 - x0 - std::min(0.8, 0.15 * (x1 - x0));
    paths_[colour] += fmt::format(
        "M{} {}h{}v{}h-{}z", tenths(x0), tenths(y), tenths(wide), tenths(height), tenths(wide));
  }

  void add_row(std::size_t index) {
    const PictureRow& row = picture_.rows[index];
    const double y = top_ + row_height_ * static_cast<double>(index);
    body_ += fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\"/>\n",
                         tenths(left_),
                         tenths(y),
                         tenths(own_width()),
                         tenths(box_height_),
                         kIdleColour);
    add_text({kTimelineMargin, y + box_height_ / 2 + 4.0, "font-size=\"11\" fill=\"#2d3748\""},
             names_[index]);
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
        add_lane(row.beside[lane], std::string(kLaneColours[lane]), lane_y);
        lane_y += kLaneHeight;
      }
    }
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
    return shade(look(paint).colour, lightness(chunk, picture_.chunks));
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
        const double x0 = left_ + wide * static_cast<double>(begin);
        const std::string size = tenths(wide * static_cast<double>(end - begin));
        paths_[colour(paints[begin]->paint, paints[begin]->chunk)] +=
            fmt::format("M{} {}h{}v{}h-{}z", tenths(x0), tenths(y), size, box_height_, size);
      }
      begin = end;
    }
  }

  void add_box(const Box& box, double y) {
    const bool is_half = box.height != Height::whole;
    const double high = is_half ? (box_height_ - 0.6) / 2 : box_height_;
    const double top = box.height == Height::lower ? y + box_height_ - high : y;
    add_rectangle(colour(box.paint, box.chunk), x(box.start), x(box.end), top, high);
    const double wide = x(box.end) - x(box.start);
    if (!box.micro_batch || wide < number_width(box) + 1.5 || high < 8.0) {
      return;
    }
    const bool is_light = lightness(box.chunk, picture_.chunks) > 0.35;
    const std::string_view ink = is_light ? "#1a202c" : "#fff";
    numbers_[std::string(ink)] += fmt::format("<text x=\"{}\" y=\"{}\">{}</text>\n",
                                              tenths((x(box.start) + x(box.end)) / 2 - 0.4),
                                              tenths(top + high / 2 + 3.6),
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

  /// Writes what was gathered by colour.
  void flush() {
    for (const auto& [paint, path] : paths_) {
      body_ += fmt::format("<path fill=\"{}\" d=\"{}\"/>\n", paint, path);
    }
    for (const auto& [ink, texts] : numbers_) {
      body_ += fmt::format(
          "<g fill=\"{}\" font-size=\"10\" text-anchor=\"middle\">\n{}</g>\n", ink, texts);
    }
  }

  void add_axis() {
    const double y = top_ + row_height_ * static_cast<double>(picture_.rows.size()) + 2.0;
    const double makespan = to_seconds(axis_).si();
    const bool is_real = view_.scale == TimeScale::real;
    const double unit = !is_real || makespan >= 2.0 ? 1.0 : makespan >= 2e-3 ? 1e-3 : 1e-6;
    const std::string_view unit_name = unit == 1.0 ? "s" : unit == 1e-3 ? "ms" : "us";
    const double distance = mark_distance(makespan / unit * 60.0 / width_);
    std::string marks;
    for (int i = 0; i * distance <= makespan / unit * (1 + 1e-9); ++i) {
      const double at = left_ + i * distance * unit / makespan * width_;
      marks += fmt::format("M{} {}v4", tenths(at), tenths(y));
      add_text({at, y + 15.0, "font-size=\"10\" text-anchor=\"middle\" fill=\"#4a5568\""},
               fmt::format("{:.6g}", i * distance));
    }
    body_ += fmt::format("<path stroke=\"#4a5568\" fill=\"none\" d=\"M{} {}h{}{}\"/>\n",
                         tenths(left_),
                         tenths(y),
                         tenths(width_),
                         marks);
    add_text({kTimelineMargin, y + 15.0, "font-size=\"10\" fill=\"#4a5568\""},
             is_real ? fmt::format("time, {}", unit_name) : "time");
    height_ = y + 40.0;
  }

  void add_swatch(double& at, const std::string& fill, double high) {
    body_ += fmt::format("<rect x=\"{}\" y=\"{}\" width=\"13\" height=\"{}\" fill=\"{}\"/>\n",
                         tenths(at),
                         tenths(height_ - 4.5 - high / 2),
                         tenths(high),
                         fill);
    at += 14.0;
  }
  void add_label(double& at, std::string_view label) {
    add_text({at + 3.0, height_, "font-size=\"11\" fill=\"#2d3748\""}, label);
    at += 22.0 + kNameLetter * static_cast<double>(label.size());
    legend_width_ = std::max(legend_width_, at);
  }

  void add_legend() {
    double at = left_;
    for (std::size_t i = 0; i < kPaintCount; ++i) {
      const auto paint = static_cast<Paint>(i);
      if (!picture_.used[i]) {
        continue;
      }
      const int shades = paint == Paint::optimizer ? 1 : picture_.chunks;
      for (int chunk = 0; chunk < shades; ++chunk) {
        add_swatch(at, colour(paint, chunk), 11.0);
      }
      add_label(at, look(paint).name);
    }
    add_swatch(at, std::string(kIdleColour), 11.0);
    add_label(at, "not computing");
    if (picture_.chunks > 1) {
      add_text({at + 3.0, height_, "font-size=\"11\" fill=\"#4a5568\""},
               fmt::format("dark to light: chunk 0 to {}", picture_.chunks - 1));
      legend_width_ = std::max(legend_width_, at + 30 * kNameLetter);
    }
    if (lanes_ > 0) {
      add_lane_legend();
    }
    height_ += 14.0;
  }

  void add_lane_legend() {
    height_ += 18.0;
    double at = left_;
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      if (picture_.lanes[lane]) {
        add_swatch(at, std::string(kLaneColours[lane]), kLaneHeight - 1.0);
        add_label(at, kLaneNames[lane]);
      }
    }
  }

  const TimelineView& view_;
  Picture picture_;
  std::vector<std::string> names_;
  std::map<std::string, std::string> paths_;    // by colour
  std::map<std::string, std::string> numbers_;  // by colour
  std::string body_;
  int lanes_ = 0;  // drawn below each row
  double box_height_ = 0.0;
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

std::string timeline_svg(const TimelineView& view) { return timelines_svg({&view, 1}); }

std::string timelines_svg(std::span<const TimelineView> views) {
  std::vector<TimelineDrawing> drawings(views.begin(), views.end());
  TimelineFrame frame;
  double needed = 0.0;
  for (const TimelineDrawing& drawing : drawings) {
    frame.left = std::max(frame.left, drawing.left());
    frame.makespan = std::max(frame.makespan, drawing.makespan());
    needed = std::max(needed, drawing.needed());
  }
  frame.width = std::clamp(needed * static_cast<double>(frame.makespan), kLeastWidth, kMostWidth);
  for (const TimelineDrawing& drawing : drawings) {
    drawings.back().explain_also(drawing);
  }
  std::string body;
  double y = 0.0;
  for (TimelineDrawing& drawing : drawings) {
    drawing.explain_also(drawings.back());
    y = drawing.add_rows(frame, y);
    if (&drawing != &drawings.back()) {
      drawing.end_rows();
      body += drawing.body();
      y += kTimelineMargin;
    }
  }
  const auto [wide, high] = drawings.back().add_end();
  return fmt::format(
             "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
             "viewBox=\"0 0 {0:.0f} {1:.0f}\" font-family=\"Helvetica,Arial,sans-serif\">\n"
             "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n",
             wide,
             high) +
         body + drawings.back().body() + "</svg>\n";
}

}  // namespace titer
