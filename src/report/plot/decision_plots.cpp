// Charts of answers that are read by whoever decides: rows of models and clusters, changes to a
// run, causes of a difference.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/step/scenario_words.hpp"
#include "report/study/capacity_figures.hpp"
#include "study_plots.hpp"
#include "titer/report/study/tune_report.hpp"
#include "titer/units/lists.hpp"
#include "titer/units/text.hpp"
#include "titer/view/plot_axes.hpp"

namespace titer {
namespace {

constexpr std::size_t kMostBars = 24;

std::string row_name(const CapacityRow& row, bool has_deadlines) {
  const CapacityCase& one = *row.of;
  return fmt::format("{} on {}{}",
                     one.model,
                     one.cluster,
                     has_deadlines && one.question && one.question->deadline
                         ? fmt::format(" by day {}", days(*one.question->deadline))
                         : "");
}

/// The rows with a plan that are drawn.
std::vector<const CapacityRow*> drawn_rows(const std::vector<CapacityRow>& rows) {
  std::vector<const CapacityRow*> drawn;
  for (const CapacityRow& row : rows) {
    if (row.point && drawn.size() < kMostBars) {
      drawn.push_back(&row);
    }
  }
  return drawn;
}

/// The one deadline of all rows; nothing where there are several or none.
std::optional<Seconds> common_deadline(const std::vector<const CapacityRow*>& rows) {
  const auto deadline = [](const CapacityRow* row) { return row->of->question->deadline; };
  const bool is_common = std::ranges::all_of(
      rows, [&](const CapacityRow* row) { return deadline(row) == deadline(rows.front()); });
  return is_common ? deadline(rows.front()) : std::nullopt;
}

PlotBars day_bars(const std::vector<const CapacityRow*>& rows) {
  const std::optional<Seconds> deadline = common_deadline(rows);
  PlotBars bars{.axis = {.label = "days", .scale = 1 / kDay.si(), .from_zero = true},
                .parts = {{.name = ""}},
                .bars = {}};
  for (const CapacityRow* row : rows) {
    const CapacityPoint& point = *row->point;
    PlotBar bar{.name = row_name(*row, !deadline),
                .values = {point.whole_time().si()},
                .words = fmt::format("{} ({} devices)", days(point.whole_time()), point.devices)};
    if (point.spread) {
      bar.range = PlotRange{.low = (point.others + point.spread->low).si(),
                            .high = (point.others + point.spread->high).si()};
    }
    bars.bars.push_back(std::move(bar));
  }
  if (deadline) {
    bars.limits.push_back({deadline->si(), fmt::format("deadline {} days", days(*deadline))});
  }
  return bars;
}

/// Nothing where no row knows what it costs.
std::optional<PlotBars> cost_bars(const std::vector<const CapacityRow*>& rows) {
  const CapacityQuestion& question = *rows.front()->of->question;  // all pay in one currency
  const auto amount = [&](double dollars) { return question.currency.amount_of(dollars); };
  const bool has_deadlines = !common_deadline(rows);
  PlotBars bars{.axis = {}, .parts = {{.name = ""}}, .bars = {}};
  double most = 0;
  for (const CapacityRow* row : rows) {
    const CapacityPoint& point = *row->point;
    if (!point.bill || !point.bill->dollars) {
      continue;
    }
    PlotBar bar{.name = row_name(*row, has_deadlines),
                .values = {amount(*point.bill->dollars)},
                .words = money_count(question, *point.bill->dollars)};
    if (point.dollars_low) {
      bar.range = PlotRange{.low = amount(*point.dollars_low), .high = amount(*point.dollars_high)};
    }
    most = std::max({most, bar.values.front(), bar.range ? bar.range->high : 0});
    bars.bars.push_back(std::move(bar));
  }
  bars.axis = count_axis(question.currency.words(), most);
  return bars.bars.empty() ? std::nullopt : std::optional(std::move(bars));
}

}  // namespace

std::vector<Plot> capacity_table_plots(const std::vector<CapacityRow>& rows) {
  const std::vector<const CapacityRow*> drawn = drawn_rows(rows);
  if (drawn.empty()) {
    return {};
  }
  const std::string note = "The marks hold 10 to 90 % of the runs.";
  std::vector<Plot> plots = {{.title = "Days", .note = note, .chart = day_bars(drawn)}};
  if (auto costs = cost_bars(drawn)) {
    plots.push_back({.title = "What it costs", .note = note, .chart = *std::move(costs)});
  }
  return plots;
}

std::vector<Plot> tune_plots(const std::vector<const Tuning*>& shown) {
  if (shown.empty()) {
    return {};
  }
  PlotBars bars{.axis = percent_axis("iteration time against now"),
                .parts = {{.name = "less", .tone = 0}, {.name = "more", .tone = 3}},
                .bars = {}};
  for (const Tuning* tuning : shown) {
    bars.bars.push_back(signed_bar(
        change_words(*tuning),
        -tuning->gain,
        fmt::format("{:+.1f} %, sure {:.0f} %", -100 * tuning->gain, 100 * tuning->odds)));
  }
  return {{.title = "What each change does",
           .note = "By how much the iteration is shorter or longer; how sure: so many of 100 such "
                   "pairs of measured runs came in that order.",
           .chart = std::move(bars)}};
}

std::vector<Plot> doctor_plots(const DoctorReport& report) {
  if (!report.measured || !report.predicted || report.causes.empty()) {
    return {};
  }
  PlotBars bars = signed_bars(
      "measured less predicted", "measured", each_of(report.causes, &DoctorCause::time));
  for (const DoctorCause& cause : report.causes) {
    if (bars.bars.size() < kMostBars) {
      bars.bars.push_back(signed_bar(cause.name, cause.time.si(), signed_text(cause.time)));
    }
  }
  return {{.title = "Where the difference is",
           .note = "What each cause adds to what was predicted.",
           .chart = std::move(bars)}};
}

}  // namespace titer
