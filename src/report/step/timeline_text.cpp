#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/picture/memory_strip.hpp"
#include "report/picture/timeline_picture.hpp"
#include "titer/report/step/timeline_report.hpp"
#include "titer/units/text.hpp"
#include "titer/view/svg.hpp"

namespace titer {
namespace {

/// How a pass is written, from the most to the least room that it takes.
enum class Writing {
  numbers,  // F12
  digits,   // F2, the number's last digit
  letters,  // F, for as long as it takes
};

/// What stands in one place of a row: a pass, or two that are done together.
struct Cell {
  std::string label;
  Ticks start = 0;
  Ticks end = 0;
  bool may_be_cut = false;  // its label: what only comes along with other passes
};

std::string label_of(const Box& box, Writing writing, int chunks) {
  std::string label(1, look(box.paint).letter);
  if (box.micro_batch) {
    label += std::to_string(writing == Writing::digits ? *box.micro_batch % 10 : *box.micro_batch);
  }
  if (chunks > 1 && writing == Writing::numbers && box.micro_batch) {
    label += static_cast<char>('a' + box.chunk % 26);
  }
  return label;
}

std::vector<Cell> cells_of(const PictureRow& row, Writing writing, int chunks) {
  std::vector<Cell> cells;
  for (const Box& box : row.boxes) {
    const std::string label = label_of(box, writing, chunks);
    if (!cells.empty() && box.start < cells.back().end) {
      cells.back().label += writing == Writing::digits ? label : "+" + label;
      cells.back().end = std::max(cells.back().end, box.end);
    } else {
      const bool may_be_cut = box.paint == Paint::recompute || box.paint == Paint::optimizer;
      cells.push_back({label, box.start, box.end, may_be_cut});
    }
  }
  return cells;
}

class TextPicture {
 public:
  TextPicture(const TimelineView& view, int width, Ticks axis, double full_strip)
      : view_(view),
        picture_(picture_of(view.timeline)),
        names_(rank_names(view.timeline)),
        width_(width),
        axis_(std::max(axis, picture_.makespan)),
        full_strip_(full_strip) {
    choose_writing();
    for (const std::string& name : names_) {
      indent_ = std::max(indent_, name.size() + 2);
    }
  }

  [[nodiscard]] int columns() const { return columns_; }
  /// To more columns.
  void widen(int columns) { columns_ = columns; }

  [[nodiscard]] std::string text() const {
    std::string text = view_.title + "\n" + (view_.note.empty() ? "" : view_.note + "\n");
    if (picture_.makespan == 0) {
      return text + "nothing takes any time\n";
    }
    text += "\n" + axis();
    for (std::size_t row = 0; row < picture_.rows.size(); ++row) {
      text += names_[row] + std::string(indent_ - names_[row].size(), ' ') +
              line(picture_.rows[row]) + "\n";
      if (view_.memory) {
        text += strip(view_.memory->ranks[row]);
      }
    }
    return text + "\n" + key();
  }

 private:
  /// The first writing whose labels all have room, and the columns that it needs.
  void choose_writing() {
    if (picture_.makespan == 0) {
      return;
    }
    for (const Writing writing : {Writing::numbers, Writing::digits}) {
      double least = 0;  // columns per tick
      const double blank = writing == Writing::numbers ? 1 : 0;
      for (const PictureRow& row : picture_.rows) {
        for (const Cell& cell : cells_of(row, writing, picture_.chunks)) {
          const double letters =
              cell.may_be_cut ? 0 : static_cast<double>(cell.label.size()) + blank;
          least = std::max(least, letters / static_cast<double>(cell.end - cell.start));
        }
      }
      const double columns = least * static_cast<double>(axis_);
      if (columns <= width_ + 0.5) {
        writing_ = writing;
        columns_ = std::max(1, static_cast<int>(std::lround(columns)));
        return;
      }
    }
    writing_ = Writing::letters;
    columns_ = even_columns();
  }

  /// As many as there is room for, of which the shortest pass fills a whole number if it can.
  [[nodiscard]] int even_columns() const {
    double passes = 0;  // of the shortest kind, one after the other
    for (const PictureRow& row : picture_.rows) {
      for (const Box& box : row.boxes) {
        passes =
            std::max(passes, static_cast<double>(axis_) / static_cast<double>(box.end - box.start));
      }
    }
    const double each = std::floor(width_ / passes);
    return each < 1 ? width_ : static_cast<int>(std::lround(passes * each));
  }

  [[nodiscard]] std::size_t column(Ticks tick) const {
    return static_cast<std::size_t>(
        std::lround(static_cast<double>(tick) / static_cast<double>(axis_) * columns_));
  }

  [[nodiscard]] std::string line(const PictureRow& row) const {
    std::string text(column(picture_.makespan), '.');
    if (writing_ == Writing::letters) {
      const auto paints = columns_of(row.boxes, picture_.makespan, static_cast<int>(text.size()));
      for (std::size_t i = 0; i < paints.size(); ++i) {
        text[i] = paints[i] ? look(paints[i]->paint).letter : '.';
      }
      return text;
    }
    for (const Cell& cell : cells_of(row, writing_, picture_.chunks)) {
      const std::size_t begin = column(cell.start);
      const std::size_t size = column(cell.end) - begin;
      std::string written = cell.label.substr(0, size);
      written.resize(size, '-');
      if (writing_ == Writing::numbers && size > cell.label.size()) {
        written.back() = ' ';
      }
      text.replace(begin, size, written);
    }
    return text;
  }

  [[nodiscard]] std::string strip(const std::vector<HeldPoint>& points) const {
    const auto columns = static_cast<int>(column(picture_.makespan));
    return std::string(indent_, ' ') +
           strip_text(held_columns(points, picture_.makespan, columns), full_strip_) +
           fmt::format("  {:.4g}\n", most_held(points));
  }

  [[nodiscard]] std::string time_text(double seconds) const {
    return view_.scale == TimeScale::relative ? fmt::format("{:.6g}", seconds)
                                              : format(Seconds::from_si(seconds));
  }

  /// Times above the columns where they are.
  [[nodiscard]] std::string axis() const {
    const double whole = to_seconds(axis_).si();
    const double makespan = to_seconds(picture_.makespan).si();
    const double distance = mark_distance(whole * 14 / columns_);
    std::string marks(indent_, ' ');
    for (int i = 0; i * distance <= makespan * (1 + 1e-9); ++i) {
      const auto at =
          indent_ + static_cast<std::size_t>(std::lround(i * distance / whole * columns_));
      marks.resize(std::max(at, marks.size()), ' ');
      marks += "|" + time_text(i * distance);
    }
    return marks + "\n";
  }

  [[nodiscard]] std::string key() const {
    std::string text;
    for (std::size_t i = 0; i < kPaintCount; ++i) {
      if (picture_.used[i]) {
        text += fmt::format("{} {}, ", kPaints[i].letter, kPaints[i].name);
      }
    }
    text += ". not computing";
    if (writing_ == Writing::letters) {
      text += fmt::format("; a character is {}", time_text(to_seconds(axis_).si() / columns_));
    } else {
      text += writing_ == Writing::digits ? ", last digit of the micro-batch" : ", micro-batch";
    }
    if (picture_.chunks > 1 && writing_ == Writing::numbers) {
      text += fmt::format(", chunk a to {}", static_cast<char>('a' + (picture_.chunks - 1) % 26));
    }
    if (view_.memory) {
      const auto limit = view_.memory->limit;
      text += fmt::format("\nbelow each rank: {}{}; at the end of each line the most; █ is {:.4g}",
                          view_.memory->what,
                          limit ? fmt::format(", of {:.4g}", *limit) : "",
                          full_strip_);
    }
    return text + "\n";
  }

  const TimelineView& view_;
  Picture picture_;
  std::vector<std::string> names_;
  int width_;
  Ticks axis_;
  double full_strip_;
  Writing writing_ = Writing::letters;
  int columns_ = 0;
  std::size_t indent_ = 0;
};

}  // namespace

std::string timeline_text(const TimelineView& view, int width) {
  return timelines_text({&view, 1}, width);
}

std::string timelines_text(std::span<const TimelineView> views, int width) {
  ensure(width >= kLeastTextWidth, "a text picture needs some columns");
  Ticks axis = 0;
  const double full = full_strip(views);
  for (const TimelineView& view : views) {
    axis = std::max(axis, view.timeline.makespan);
  }
  std::vector<TextPicture> pictures;
  int columns = 0;
  for (const TimelineView& view : views) {
    columns = std::max(columns, pictures.emplace_back(view, width, axis, full).columns());
  }
  std::string text;
  for (TextPicture& picture : pictures) {
    picture.widen(columns);
    text += (text.empty() ? "" : "\n") + picture.text();
  }
  return text;
}

}  // namespace titer
