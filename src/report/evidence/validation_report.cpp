#include "titer/report/evidence/validation_report.hpp"
#include "titer/units/quantity.hpp"
#include "titer/view/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace titer {
namespace {

constexpr std::size_t kMostReasons = 20;  // listed in text

constexpr NumberStyle kErrorPercent = {.format = "{:.1f}"};
constexpr NumberStyle kSignedErrorPercent = {.format = "{:+.1f}"};
constexpr NumberStyle kRankStyle = {.format = "{:.3f}"};

/// A figure of a group by its JSON name, its heading in text, and how it is written.
struct GroupFigure {
  std::string_view name;
  std::string_view heading;
  std::optional<double> ErrorStatistics::*value;
  double scale;  // of percent 100
  NumberStyle style;
};
constexpr std::array<GroupFigure, 9> kFigures = {
    {{"bias_pct", "bias %", &ErrorStatistics::bias, 100, kSignedErrorPercent},
     {"median_error_pct", "", &ErrorStatistics::median_signed, 100, kSignedErrorPercent},
     {"median_ape_pct", "median %", &ErrorStatistics::median, 100, kErrorPercent},
     {"mape_pct", "mean %", &ErrorStatistics::mean, 100, kErrorPercent},
     {"p90_ape_pct", "p90 %", &ErrorStatistics::p90, 100, kErrorPercent},
     {"max_ape_pct", "max %", &ErrorStatistics::most, 100, kErrorPercent},
     {"spearman", "rank corr.", &ErrorStatistics::spearman, 1, kRankStyle},
     {"regret_pct", "regret %", &ErrorStatistics::regret, 100, kErrorPercent},
     {"coverage80", "in 80 % bars", &ErrorStatistics::coverage80, 1, {.format = "{:.2f}"}}}};

Datum scaled(const std::optional<double>& value, double scale) {
  return value ? Datum(scale * *value) : Datum();
}

Figures error_figures(const ErrorStatistics& errors) {
  Figures figures = {{"n", errors.n, "n"}, {"skipped", errors.skipped, "skipped"}};
  for (const GroupFigure& figure : kFigures) {
    figures.push_back({std::string(figure.name),
                       Datum(scaled(errors.*figure.value, figure.scale), figure.style),
                       std::string(figure.heading)});
  }
  return joined(figures, {{"sweeps", errors.sweeps}});
}

/// A column of nothing is left out.
TextView groups_text(std::span<const GroupStatistics> groups,
                     ErrorStatistics GroupStatistics::*of) {
  FigureRows rows;
  for (const GroupStatistics& group : groups) {
    if ((group.*of).n + (group.*of).skipped > 0) {
      rows.push_back(joined({{"", group.name, "group"}}, error_figures(group.*of)));
      for (Figure& figure : rows.back()) {
        figure.if_any = true;
      }
    }
  }
  return TextView().table(rows);
}

Datum time_of(const std::optional<double>& time) { return {time, kUnitsOf<Seconds>}; }
Datum memory_of(const std::optional<double>& memory) { return {memory, kUnitsOf<Bytes>}; }

/// A row by the names that CSV and JSON share, and as people read it.
Figures comparison_figures(const Comparison& row) {
  const std::optional<double> error = row.relative_error();
  std::optional<double> memory_error;
  if (row.memory_measured && row.memory_predicted) {
    memory_error = *row.memory_predicted / *row.memory_measured - 1.0;
  }
  const auto of_interval = [&](double Interval::*end) {
    return row.interval ? Datum(row.interval.value().*end) : Datum();
  };
  return {{"case_id", row.case_id, "row"},
          {"family", row.family, "family"},
          {"chip", row.chip, "chip"},
          {"stack", row.stack},
          {"grade", row.grade},
          {"sweep", row.sweep},
          {"measured_s", time_of(row.measured), "measured"},
          {"predicted_s", time_of(row.predicted), "predicted"},
          {"error_pct", Datum(scaled(error, 100), kSignedErrorPercent), "error %"},
          {"ape_pct", error ? Datum(100 * std::abs(*error)) : Datum()},
          {"low_s", of_interval(&Interval::low)},
          {"high_s", of_interval(&Interval::high)},
          {"memory_measured_bytes", memory_of(row.memory_measured)},
          {"memory_predicted_bytes", memory_of(row.memory_predicted)},
          {"memory_error_pct", scaled(memory_error, 100)},
          {"peak_bytes", memory_of(row.peak)},
          {"fits", row.fits ? Datum(*row.fits) : Datum()},
          {"skip_reason", skip_reason(row)}};
}

TextView worst_text(const ValidationView& view) {
  std::vector<const Comparison*> compared;
  for (const Comparison& row : view.rows) {
    if (row.relative_error()) {
      compared.push_back(&row);
    }
  }
  const std::size_t shown = std::min(view.worst, compared.size());
  if (shown == 0) {
    return {};
  }
  std::ranges::stable_sort(compared, [](const Comparison* a, const Comparison* b) {
    return std::abs(*a->relative_error()) > std::abs(*b->relative_error());
  });
  compared.resize(shown);
  return TextView(fmt::format("\nfarthest off: {}\n", counted_text(shown, "row")))
      .table(rows_of(compared, [](const Comparison* row) { return comparison_figures(*row); }),
             "lllrrr");
}

Figures decision_counts(const SweepDecision& decision) {
  return {{"rows", decision.rows, "rows"},
          {"plans", decision.plans, "plans"},
          {"pairs", decision.pairs, "pairs"},
          {"pairs_in_order", decision.right, "in order"},
          {"kendall", Datum(decision.kendall(), kRankStyle), "Kendall"},
          {"regret_pct", Datum(100.0 * decision.regret, kErrorPercent), "regret %"}};
}

Figures decision_figures(const SweepDecision& decision) {
  return joined(joined({{"family", decision.family, "family"}, {"chip", decision.chip, "chip"}},
                       decision_counts(decision)),
                {{"chosen", decision.chosen, "predicted fastest"}, {"best", decision.best, "was"}});
}

/// Of all sweeps, then a line for each.
Figures decisions_figures(std::span<const SweepDecision> decisions) {
  return joined(joined({{"sweeps", decisions.size()}}, decision_counts(all_decisions(decisions))),
                {{"of_each", rows_of(decisions, decision_figures)}});
}

TextView decisions_text(const ValidationView& view) {
  if (view.decisions.empty()) {
    return {};
  }
  const SweepDecision all = all_decisions(view.decisions);
  std::vector<SweepDecision> worst(view.decisions.begin(), view.decisions.end());
  std::ranges::stable_sort(worst, std::ranges::greater(), &SweepDecision::regret);
  const auto kept = static_cast<std::size_t>(std::ranges::count_if(
      worst, [](const SweepDecision& one) { return one.regret <= kToldApart; }));
  TextView text = fmt::format(
      "\nplans: {} of {} plans or more that differ in plan or micro-batch alone\n"
      "  of {} pairs more than {:.0f} % apart {:g} in order: Kendall {:.3f}\n"
      "  the plan predicted fastest takes {:.1f} % more than the best on average, {:.1f} % at "
      "most; "
      "in {} no more than {:.0f} %\n",
      counted_text(view.decisions.size(), "sweep"),
      kLeastOfDecision,
      all.pairs,
      100.0 * kToldApart,
      all.right,
      all.kendall().value_or(0.0),
      100.0 * all.regret,
      100.0 * worst.front().regret,
      kept,
      100.0 * kToldApart);
  worst.resize(std::min(worst.size(), view.worst));
  return worst.empty() ? text
                       : text.add("\n").table(rows_of(worst, decision_figures), "llrrrrrrll");
}

TextView reasons_text(const GroupStatistics& all) {
  if (all.reasons.empty()) {
    return {};
  }
  std::vector<Row> table;
  std::size_t rest = 0;
  for (const SkipReason& reason : all.reasons) {
    if (table.size() < kMostReasons) {
      table.push_back({std::to_string(reason.rows), reason.reason});
    } else {
      rest += reason.rows;
    }
  }
  if (rest > 0) {
    table.push_back({std::to_string(rest),
                     fmt::format("for {}, which csv and json list",
                                 counted_text(all.reasons.size() - kMostReasons, "other reason"))});
  }
  return TextView(fmt::format("\nskipped: {}\n", counted_text(all.time.skipped, "row")))
      .lines(table, "rl");
}

TextView rows_text(std::span<const Comparison> rows) {
  const bool with_memory = std::ranges::any_of(
      rows, [](const Comparison& row) { return row.memory_measured.has_value(); });
  const auto figures = [&](const Comparison& row) {
    return joined(comparison_figures(row),
                  {{"", memory_of(row.memory_measured), with_memory ? "memory" : ""},
                   {"", memory_of(row.memory_predicted), with_memory ? "predicted" : ""},
                   {"", skip_reason(row), "skipped because"}});
  };
  return TextView("\nrows\n").table(rows_of(rows, figures), with_memory ? "lllrrrrrl" : "lllrrrl");
}

Figures group_figures(const GroupStatistics& group) {
  Figures reasons;
  for (const SkipReason& reason : group.reasons) {
    reasons.push_back({reason.reason, reason.rows});
  }
  return joined(joined({{"group", group.name}}, error_figures(group.time)),
                {{"memory", error_figures(group.memory)}, {"skip_reasons", reasons}});
}

/// "median error", "-7.3 %": headings say percent, here figures do.
Figures error_headline(const ErrorStatistics& errors) {
  constexpr std::string_view percent = " %";
  Figures headline = {{"", errors.n, "rows compared"}, {"", errors.skipped, "rows skipped"}};
  for (const GroupFigure& figure : kFigures) {
    const Datum datum(scaled(errors.*figure.value, figure.scale), figure.style);
    if (figure.heading.empty() || !datum.exists()) {
      continue;
    }
    const bool in_percent = figure.heading.ends_with(percent);
    const bool is_error = figure.name.find("ape") != figure.name.npos;
    std::string label(figure.heading);
    label.resize(label.size() - (in_percent ? percent.size() : 0));
    headline.push_back({"",
                        datum.words() + (in_percent ? std::string(percent) : ""),
                        label + (is_error ? " error" : "")});
  }
  return headline;
}

}  // namespace

TextView validation_text(const ValidationView& view) {
  const GroupStatistics& all = view.groups.front();
  TextView text = fmt::format("{}: {} compared, {} skipped\n\ntime\n",
                              counted_text(view.rows.size(), "row"),
                              all.time.n,
                              all.time.skipped);
  text.append(groups_text(view.groups, &GroupStatistics::time));
  if (all.memory.n + all.memory.skipped > 0) {
    text.add("\nmemory\n").append(groups_text(view.groups, &GroupStatistics::memory));
  }
  text.append(decisions_text(view)).append(worst_text(view)).append(reasons_text(all));
  return view.every_row ? text.append(rows_text(view.rows)) : text;
}

std::string validation_csv(std::span<const Comparison> rows, const Figures& asked) {
  const auto line = [&](const Figures& figures, const auto& cell) {
    Row cells;
    std::ranges::transform(joined(asked, figures), std::back_inserter(cells), cell);
    return csv_line(cells);
  };
  std::string text = line(comparison_figures({}), &Figure::key);
  for (const Comparison& row : rows) {
    text += line(comparison_figures(row),
                 [](const Figure& figure) { return csv_cell(figure.datum.value()); });
  }
  return text;
}

View validation_view(const ValidationView& view, const ValidationPicture& picture) {
  View report{.text = validation_text(view),
              .figures = {{"groups", rows_of(view.groups, group_figures)},
                          {"decisions", decisions_figures(view.decisions)}},
              .rows = {},
              .columns = {},
              .title = "Predictions beside measurements: " + picture.title,
              .headline = error_headline(view.groups.front().time)};
  report.drawings = {
      {.title = "Predicted over measured times", .svg = validation_scatter_svg(picture)},
      {.title = "Errors over measured times", .svg = validation_residuals_svg(picture)},
      {.title = "How many rows have which error", .svg = validation_histogram_svg(picture)}};
  return report;
}

// Rows are written one by one: a tree of all of them would need a hundred times their memory.
std::string validation_json(const ValidationView& view) {
  std::string text = "{\n  \"format_version\": 1,\n  \"groups\": [";
  std::string_view between = "\n    ";
  for (const GroupStatistics& group : view.groups) {
    text += fmt::format("{}{}", between, to_json(json_of(group_figures(group)), 0));
    between = ",\n    ";
  }
  text += fmt::format("\n  ],\n  \"decisions\": {},\n  \"rows\": [",
                      to_json(json_of(decisions_figures(view.decisions)), 0));
  between = "\n    ";
  for (const Comparison& row : view.rows) {
    text += fmt::format("{}{}", between, to_json(json_of(comparison_figures(row)), 0));
    between = ",\n    ";
  }
  return text + "\n  ]\n}\n";
}

}  // namespace titer
