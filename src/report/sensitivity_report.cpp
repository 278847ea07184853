#include "titer/report/sensitivity_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "titer/report/step_report.hpp"
#include "titer/report/table.hpp"

namespace titer {
namespace {

constexpr std::size_t kMostRows = 20;   // of a table of the text
constexpr double kLeastShown = 0.0005;  // elasticity in it

std::string outcome_text(std::string_view of, double value) {
  if (of.ends_with("_s")) {
    return format(Seconds::from_si(value));
  }
  if (of.ends_with("_bytes")) {
    return format(Bytes::from_si(value));
  }
  return fmt::format("{:.4g}", value);
}

std::string signed_percent(double share) { return fmt::format("{:+.1f} %", 100.0 * share); }

std::string bar(double share) {
  constexpr double width = 40.0;
  const double part = std::clamp(std::abs(share), 0.0, 1.0);
  return std::string(static_cast<std::size_t>(std::lround(part * width)), '#');
}

/// "cluster.node.protocols.2.latency (simple)"
std::string figure_name(const ScenarioFigure& figure) {
  return figure.owner.empty() ? figure.path : fmt::format("{} ({})", figure.path, figure.owner);
}

std::string now_text(const ScenarioFigure& figure) {
  return figure_text(figure.kind, figure.value);
}

std::string shares_text(const SensitivityReport& report) {
  const Sensitivity& found = report.sensitivity;
  if (found.shares.empty()) {
    return {};
  }
  std::vector<Row> rows;
  for (const ResourceShare& share : found.shares) {
    rows.push_back({std::string(name(share.resource)),
                    fmt::format("{:.1f} %", 100.0 * share.share),
                    bar(share.share)});
  }
  return "what binds: the share of the iteration time that goes with the rates and times of "
         "each\n" +
         text_table(rows, {Align::left, Align::right, Align::left}) +
         fmt::format("  in all of it, {:.1f} % is the pipeline's bubble\n\n",
                     100.0 * report.probe->base().bubble_ratio);
}

/// "-0.711", and both sides where they are not the same.
std::string elasticity_text(const Elasticity& elasticity) {
  if (elasticity.derivation == Derivation::exact || !elasticity.down || !elasticity.up) {
    return fmt::format("{:+.3f}", elasticity.value);
  }
  return fmt::format("{:+.3f} | {:+.3f}", *elasticity.down, *elasticity.up);
}

std::string better_text(const FigureEffect& effect) {
  return effect.gain ? figure_text(effect.figure.kind, effect.gain->to) : "";
}

std::string gain_text(const FigureEffect& effect) {
  return effect.gain ? signed_percent(effect.gain->relative) : "";
}

std::string figures_text(const Sensitivity& found) {
  std::vector<Row> rows = {{"figure", "now", "elasticity", "", "a tenth better", "gains", ""}};
  std::size_t small = 0;
  for (const FigureEffect& effect : found.figures) {
    if (rows.size() > kMostRows || std::abs(effect.elasticity.value) < kLeastShown) {
      ++small;
      continue;
    }
    rows.push_back({figure_name(effect.figure),
                    now_text(effect.figure),
                    elasticity_text(effect.elasticity),
                    std::string(name(effect.elasticity.derivation)),
                    better_text(effect),
                    gain_text(effect),
                    bar(effect.elasticity.value)});
  }
  return fmt::format(
             "what it depends on: elasticity, the percent of {} for one percent more of a figure\n",
             found.of) +
         text_table(rows,
                    {Align::left,
                     Align::right,
                     Align::right,
                     Align::left,
                     Align::right,
                     Align::right,
                     Align::left}) +
         (small > 0 ? fmt::format("  and {} figures with smaller ones\n", small) : "") + "\n";
}

std::string move_text(const Sensitivity& found, const std::optional<CountMove>& move) {
  if (!move) {
    return "";
  }
  std::string text = fmt::format("{}: {} ({})",
                                 move->to,
                                 outcome_text(found.of, move->outcome),
                                 signed_percent(move->outcome / found.outcome - 1.0));
  for (const Assignment& along : move->along) {
    text += fmt::format(" with {} {}", along.path, along.value.integer);
  }
  return text;
}

std::string counts_text(const Sensitivity& found) {
  if (found.counts.empty()) {
    return {};
  }
  std::vector<Row> rows = {{"whole number", "now", "less", "more"}};
  for (const CountEffect& effect : found.counts) {
    rows.push_back({effect.figure.path,
                    now_text(effect.figure),
                    move_text(found, effect.down),
                    move_text(found, effect.up)});
  }
  return text_table(rows, {Align::left, Align::right, Align::left, Align::left}) + "\n";
}

std::string costs_text(const Sensitivity& found) {
  if (found.by_cost.empty()) {
    return {};
  }
  std::vector<Row> rows;
  for (const FigureEffect& effect : found.by_cost) {
    rows.push_back({effect.figure.path,
                    better_text(effect),
                    gain_text(effect),
                    fmt::format("{:.4g} % per 1000 $", 1e5 * *effect.gain->per_cost)});
  }
  return "where the next dollar goes: what a tenth better gains for what it costs\n" +
         text_table(rows, {Align::left, Align::right, Align::right, Align::right}) + "\n";
}

std::string settled_text(const ScenarioFigure& figure, const Settled& settled) {
  const std::string from = fmt::format(
      "from {} {}", figure_text(figure.kind, settled.from), settled.upward ? "up" : "down");
  if (settled.part == "iteration_time") {
    return fmt::format("{} more of it gains nothing: {} are left", from, format(settled.rest));
  }
  const std::string now =
      settled.now == Seconds{} ? "as now" : fmt::format("now {}", format(settled.now));
  return settled.rest == Seconds{}
             ? fmt::format("{} {} is hidden completely ({})", from, settled.part, now)
             : fmt::format("{} {} stays at {} ({})", from, settled.part, format(settled.rest), now);
}

/// What becomes of a part's dependence on a figure beyond a bend.
std::string_view change_of(const PartSlope& part) {
  constexpr double none = 0.001;
  if (std::abs(part.before) < none) {
    return "it begins to count for";
  }
  if (std::abs(part.after) < none) {
    return "it no longer counts for";
  }
  return std::abs(part.after) > std::abs(part.before) ? "it counts more for" : "it counts less for";
}

/// "it no longer counts for data_comm, bubble; it counts more for forward"
std::string parts_of_bend(const Bend& bend) {
  std::vector<std::string> changes;  // in the order of their largest part
  std::vector<std::string_view> kinds;
  for (const PartSlope& part : bend.parts) {
    const std::string_view kind = change_of(part);
    const auto known = std::find(kinds.begin(), kinds.end(), kind);
    if (known == kinds.end()) {
      kinds.push_back(kind);
      changes.push_back(fmt::format("; {} {}", kind, part.part));
    } else {
      changes[static_cast<std::size_t>(known - kinds.begin())] += fmt::format(", {}", part.part);
    }
  }
  return fmt::format("{}", fmt::join(changes, ""));
}

std::string bend_text(const ScenarioFigure& figure, const Bend& bend) {
  std::string text = fmt::format("{} {} its elasticity is {:+.3f}{}",
                                 bend.at < figure.value ? "below" : "above",
                                 figure_text(figure.kind, bend.at),
                                 bend.after,
                                 parts_of_bend(bend));
  return bend.last_stage ? text + fmt::format("; stage {} finishes last", *bend.last_stage) : text;
}

std::string break_even_text(const SensitivityReport& report) {
  if (!report.break_even) {
    return "break-even points are looked for in closed form only\n\n";
  }
  std::string text =
      fmt::format("break-even points, from 1/{0:g} to {0:g} times each rate\n", kBreakEvenRange);
  for (const BreakEven& one : *report.break_even) {
    text += fmt::format("  {}, now {}\n", figure_name(one.figure), now_text(one.figure));
    for (const Settled& settled : one.settled) {
      text += "    " + settled_text(one.figure, settled) + "\n";
    }
    for (const auto& bend : {one.below, one.above}) {
      text += bend ? "    " + bend_text(one.figure, *bend) + "\n" : "";
    }
  }
  return text + (report.break_even->empty() ? "  none\n\n" : "\n");
}

std::string reach_text(const SensitivityReport& report) {
  if (!report.reach) {
    return {};
  }
  const ReachTable& table = *report.reach;
  const std::string_view of = table.target.of.name;
  const std::string target = outcome_text(of, table.target.value);
  std::string text =
      table.met
          ? fmt::format("{} {} is met already; how bad each may become by itself\n", of, target)
          : fmt::format("{} {}: what it needs of each by itself\n", of, target);
  std::vector<Row> rows;
  std::vector<Row> failed;
  for (const Reach& one : table.figures) {
    if (one.value && rows.size() < kMostRows) {
      rows.push_back({figure_name(one.figure),
                      now_text(one.figure),
                      figure_text(one.figure.kind, *one.value),
                      fmt::format("{:.2f} times", *one.value / one.figure.value)});
    } else if (!one.value && !table.met && failed.size() < 5) {
      failed.push_back({figure_name(one.figure), outcome_text(of, one.limit)});
    }
  }
  text += text_table(rows, {Align::left, Align::right, Align::right, Align::right});
  text += rows.empty() && !table.met ? "  no figure meets it alone\n" : "";
  if (!failed.empty()) {
    text += "  cannot be reached by these alone; the limit of each\n" +
            text_table(failed, {Align::left, Align::right}, "    ");
  }
  return text + "\n";
}

}  // namespace

std::string sensitivity_text(const SensitivityReport& report) {
  const Sensitivity& found = report.sensitivity;
  return fmt::format("{}\n{} {}\n\n",
                     step_title(report.probe->scenario()),
                     found.of,
                     outcome_text(found.of, found.outcome)) +
         shares_text(report) + figures_text(found) + counts_text(found) + costs_text(found) +
         break_even_text(report) + reach_text(report) +
         fmt::format("{} figures make no difference here; {} evaluations\n",
                     found.unmoved.size(),
                     report.probe->evaluations());
}

}  // namespace titer
