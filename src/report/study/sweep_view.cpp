#include "titer/report/study/sweep_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "titer/units/listed.hpp"
#include "titer/units/text.hpp"
#include "titer/view/plot_axes.hpp"
#include "titer/view/table.hpp"

namespace titer {
namespace {

constexpr std::size_t kMostSweptRows = 30;     // rows of the table
constexpr std::size_t kMostSweptReasons = 10;  // why points have no result
constexpr std::size_t kMostSweptLines = 6;     // of a chart, one for each combination of other axes
constexpr std::size_t kMostSweptPoints = 3000;
constexpr std::size_t kMostMarks = 10;  // numbers that all stand at an axis

/// A point that fits, by its row.
struct SweptRow {
  std::size_t row = 0;
  Seconds time;
};

class SweptTable {
 public:
  SweptTable(const Sweep& sweep, const CsvTable& rows) : sweep_(sweep), rows_(rows) {
    for (std::size_t row = 0; row < rows.rows(); ++row) {
      if (rows.text(row, "status") == name(PointStatus::ok)) {
        found_.push_back({row, Seconds::from_si(number(row, "iteration_time_s"))});
      }
    }
    best_ = found_;
    std::ranges::stable_sort(best_, {}, &SweptRow::time);
  }

  [[nodiscard]] View view() const {
    View view{.text = text(), .figures = tree(), .rows = {}, .columns = {}, .headline = headline()};
    if (auto plot = chart()) {
      view.plots.push_back(std::move(*plot));
    }
    return view;
  }

 private:
  [[nodiscard]] double number(std::size_t row, std::string_view column) const {
    Problems problems;
    return rows_.maybe_number(row, column, -1e300, 1e300, problems).value_or(0);
  }
  [[nodiscard]] std::string cell(std::size_t row, std::string_view column) const {
    return std::string(rows_.text(row, column));
  }

  /// "plan.tensor 4, plan.pipeline 8"
  [[nodiscard]] std::string place(std::size_t row, const std::string& but = {}) const {
    std::string text;
    for (const Axis& axis : sweep_.axes) {
      if (axis.path != but && axis.values.size() > 1) {
        add_listed(text, fmt::format("{} {}", axis.path, rows_.text(row, axis.path)));
      }
    }
    return text;
  }

  [[nodiscard]] Figures best_figures(const SweptRow& swept) const {
    Figures row;
    for (const Axis& axis : sweep_.axes) {
      row.push_back({axis.path, cell(swept.row, axis.path), axis.path});
    }
    for (const DerivedField& field : sweep_.derived) {
      row.push_back({field.name, cell(swept.row, field.name), field.name});
    }
    return joined(
        row,
        {{"iteration_time_s", swept.time, "iteration time"},
         {"mfu", Datum(number(swept.row, "mfu"), kPercent), "MFU"},
         {"memory_peak_bytes", Bytes::from_si(number(swept.row, "memory_peak_bytes")), "memory"}});
  }

  [[nodiscard]] FigureRows best_rows() const {
    FigureRows rows;
    for (std::size_t i = 0; i < std::min(best_.size(), kMostSweptRows); ++i) {
      rows.push_back(best_figures(best_[i]));
    }
    return rows;
  }

  /// "gpt3-175b on dgx-a100-80gb": what is varied.
  [[nodiscard]] std::string subject() const {
    const auto name_of = [&](std::string_view path) {
      const Value* const name = sweep_.base.document().at(path);
      return name == nullptr ? std::string() : bare_text(*name);
    };
    return fmt::format("{} on {}", name_of("model.name"), name_of("cluster.name"));
  }

  [[nodiscard]] std::string paths() const { return listed(sweep_.axes, &Axis::path); }

  [[nodiscard]] TextView text() const {
    TextView text = fmt::format("Sweep of {} along {}\n", subject(), paths());
    text.add(
        fmt::format("{}: {} of them fit\n\n", counted_text(rows_.rows(), "row"), found_.size()));
    if (!best_.empty()) {
      text.add(fmt::format("the fastest that fit: {} of {}\n",
                           std::min(best_.size(), kMostSweptRows),
                           best_.size()))
          .table(best_rows(), std::string(sweep_.axes.size() + sweep_.derived.size(), 'l'))
          .add("\n");
    }
    return text.append(reasons());
  }

  /// Why the others have no result, or do not fit.
  [[nodiscard]] TextView reasons() const {
    std::map<std::string, std::size_t> counts;
    for (std::size_t row = 0; row < rows_.rows(); ++row) {
      if (rows_.text(row, "status") != name(PointStatus::ok)) {
        ++counts[fmt::format("{}: {}", rows_.text(row, "status"), rows_.text(row, "reason"))];
      }
    }
    std::vector<std::pair<std::string, std::size_t>> sorted(counts.begin(), counts.end());
    std::ranges::stable_sort(sorted,
                             [](const auto& a, const auto& b) { return a.second > b.second; });
    std::vector<Row> lines;
    for (const auto& [reason, count] : sorted) {
      if (lines.size() < kMostSweptReasons) {
        lines.push_back({std::to_string(count), reason});
      }
    }
    if (lines.empty()) {
      return {};
    }
    return TextView(
               fmt::format("the others ({} reasons, the most frequent first)\n", sorted.size()))
        .lines(std::move(lines), "rl");
  }

  [[nodiscard]] Figures tree() const {
    return {{"subject", subject()},
            {"rows", rows_.rows()},
            {"fit", found_.size()},
            {"fastest", best_rows()}};
  }

  [[nodiscard]] Figures headline() const {
    Figures figures = {{"", rows_.rows(), "rows"}, {"", found_.size(), "rows that fit"}};
    if (!best_.empty()) {
      const SweptRow& best = best_.front();
      figures.push_back({"", best.time, "iteration time of the fastest"});
      figures.push_back({"", Datum(number(best.row, "mfu"), kPercent), "its MFU"});
      figures.push_back({"", place(best.row), "the fastest"});
    }
    return figures;
  }

  /// An axis's value as a number, if it is one or has a unit.
  [[nodiscard]] std::optional<double> number_at(std::size_t row, const Axis& axis) const {
    const std::string text = cell(row, axis.path);
    if (const auto quantity = parse_any(text)) {
      return si_of(*quantity);
    }
    Problems problems;
    const auto number = rows_.maybe_number(row, axis.path, -1e300, 1e300, problems);
    return problems.empty() ? number : std::nullopt;
  }

  /// With its unit, where its values have one.
  [[nodiscard]] PlotAxis axis_of(const Axis& axis) const {
    const std::string text = cell(best_.front().row, axis.path);
    const auto quantity = parse_any(text);
    if (!quantity) {
      return {.label = axis.path};
    }
    if (std::holds_alternative<BytesPerSecond>(*quantity)) {
      const bool is_bits = text.ends_with("bps");
      return {.label = axis.path + (is_bits ? ", Gbps" : ", GB/s"), .scale = is_bits ? 8e-9 : 1e-9};
    }
    if (std::holds_alternative<Bytes>(*quantity)) {
      return memory_axis(axis.path);
    }
    if (const auto* time = std::get_if<Seconds>(&*quantity)) {
      return time_axis(axis.path, *time);
    }
    return {.label = axis.path + ", in SI units"};
  }

  /// Of the axes of numbers the one with the most; nothing where none has several.
  [[nodiscard]] const Axis* number_axis() const {
    const Axis* longest = nullptr;
    std::size_t most = 1;
    for (const Axis& axis : sweep_.axes) {
      std::set<double> numbers;
      const bool all = std::ranges::all_of(found_, [&](const SweptRow& swept) {
        const auto number = number_at(swept.row, axis);
        numbers.insert(number.value_or(0));
        return number.has_value();
      });
      if (all && numbers.size() > most) {
        longest = &axis;
        most = numbers.size();
      }
    }
    return longest;
  }

  [[nodiscard]] PlotPoint point(const SweptRow& swept, const Axis& axis) const {
    return {.x = number_at(swept.row, axis).value_or(0),
            .y = swept.time.si(),
            .words = fmt::format("{}: {}", place(swept.row), format(swept.time))};
  }

  /// A line for each combination of the other axes where these are few, otherwise all points and
  /// the best of each value.
  [[nodiscard]] std::vector<PlotSeries> series(const Axis& axis) const {
    std::map<std::string, std::map<double, PlotPoint>> lines;
    std::map<double, PlotPoint> least;
    PlotSeries all{.name = "all that fit", .look = PlotLook::points};
    for (const SweptRow& swept : found_) {
      const PlotPoint at = point(swept, axis);
      lines[place(swept.row, axis.path)].emplace(at.x, at);
      const auto known = least.try_emplace(at.x, at).first;
      known->second = at.y < known->second.y ? at : known->second;
      all.points.push_back(at);
    }
    std::vector<PlotSeries> series;
    if (lines.size() > kMostSweptLines) {
      lines = {{"the fastest of each", std::move(least)}};
    }
    for (const auto& [name, points] : lines) {
      PlotSeries line{.name = name};
      for (const auto& [x, at] : points) {
        line.points.push_back(at);
      }
      series.push_back(std::move(line));
    }
    if (series.size() == 1 && all.points.size() > series.front().points.size() &&
        all.points.size() <= kMostSweptPoints) {
      series.push_back(std::move(all));
    }
    return series;
  }

  /// 1, 2, 4, 8: each by the same factor larger than the one before.
  [[nodiscard]] static bool are_multiplied(const std::set<double>& numbers) {
    const double factor = *std::next(numbers.begin()) / *numbers.begin();
    return numbers.size() > 2 && std::ranges::adjacent_find(numbers, [&](double a, double b) {
                                   return std::abs(b - factor * a) > 1e-6 * b;
                                 }) == numbers.end();
  }

  [[nodiscard]] std::optional<Plot> chart() const {
    const Axis* const axis = number_axis();
    if (axis == nullptr) {
      return std::nullopt;
    }
    constexpr double far = 12;  // numbers that lie so far apart are drawn by their logarithms
    PlotPlane plane{.x = axis_of(*axis),
                    .y = time_axis("iteration time", best_.back().time),
                    .series = series(*axis)};
    plane.y.logarithmic = best_.back().time > far * best_.front().time;
    plane.y.from_zero = !plane.y.logarithmic;
    std::set<double> numbers;
    for (const SweptRow& swept : found_) {
      numbers.insert(number_at(swept.row, *axis).value_or(0));
    }
    const double least = *numbers.begin();
    plane.x.logarithmic = least > 0 && (*numbers.rbegin() > far * least || are_multiplied(numbers));
    if (numbers.size() <= kMostMarks) {
      plane.x.marks = {numbers.begin(), numbers.end()};
    }
    return Plot{
        .title = "Iteration time over " + axis->path, .note = "", .chart = std::move(plane)};
  }

  const Sweep& sweep_;
  const CsvTable& rows_;
  std::vector<SweptRow> found_;  // in their order
  std::vector<SweptRow> best_;   // the fastest first
};

}  // namespace

View sweep_view(const Sweep& sweep, const CsvTable& rows) { return SweptTable(sweep, rows).view(); }

}  // namespace titer
