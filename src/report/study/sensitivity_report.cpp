#include "titer/report/study/sensitivity_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/plot/study_plots.hpp"
#include "report/step/scenario_words.hpp"
#include "sensitivity_figures.hpp"
#include "titer/report/step/step_report.hpp"
#include "titer/units/listed.hpp"
#include "titer/units/text.hpp"
#include "titer/view/table.hpp"

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

/// "cluster.node.protocols.2.latency (simple)"
std::string figure_name(const ScenarioFigure& figure) {
  return figure.owner.empty() ? figure.path : fmt::format("{} ({})", figure.path, figure.owner);
}

std::string now_text(const ScenarioFigure& figure) {
  return figure_text(figure.kind, figure.value);
}

TextView shares_text(const SensitivityReport& report) {
  const Sensitivity& found = report.sensitivity;
  if (found.shares.empty()) {
    return {};
  }
  const StepResult& base = report.probe->base();
  std::vector<Row> rows;
  for (const ResourceShare& share : found.shares) {
    rows.push_back({std::string(name(share.resource)),
                    percent_text(share.share),
                    bar_text(std::abs(share.share))});
  }
  return TextView(
             "what binds: the share of the iteration time that goes with the rates and times "
             "of each\n")
      .lines(rows, "lrb")
      .add(fmt::format("  in all of it, {:.1f} % is the pipeline's bubble\n\n",
                       100.0 * (base.breakdown.bubble / base.iteration_time)));
}

/// "-0.711", and both sides where they are not the same.
std::string elasticity_text(const Elasticity& elasticity) {
  if (elasticity.derivation == Derivation::exact || !elasticity.down || !elasticity.up) {
    return fmt::format("{:+.3f}", elasticity.value);
  }
  return fmt::format("{:+.3f} | {:+.3f}", *elasticity.down, *elasticity.up);
}

/// What a tenth better is, and what it gains.
Datum better(const FigureEffect& effect) {
  return effect.gain ? figure_text(effect.figure.kind, effect.gain->to) : "";
}
Datum gain(const FigureEffect& effect) {
  return effect.gain ? Datum(effect.gain->relative, kSignedPercent) : "";
}

Figures read_effect(const FigureEffect& effect) {
  return {{"", figure_name(effect.figure), "figure"},
          {"", now_text(effect.figure), "now"},
          {"", elasticity_text(effect.elasticity), "elasticity"},
          {"", name(effect.elasticity.derivation), kNoHeading},
          {"", better(effect), "a tenth better"},
          {"", gain(effect), "gains"},
          {"", bar_text(std::abs(effect.elasticity.value)), kNoHeading}};
}

TextView figures_text(const Sensitivity& found) {
  FigureRows rows;
  std::size_t small = 0;
  for (const FigureEffect& effect : found.figures) {
    if (rows.size() >= kMostRows || std::abs(effect.elasticity.value) < kLeastShown) {
      ++small;
    } else {
      rows.push_back(read_effect(effect));
    }
  }
  return TextView(fmt::format(
                      "what it depends on: elasticity, the percent of {} for one percent more of a "
                      "figure\n",
                      found.of))
      .table(rows, "lrrlrrb")
      .add(small > 0 ? fmt::format("  and {} figures with smaller ones\n\n", small) : "\n");
}

std::string move_text(const Sensitivity& found, const std::optional<CountMove>& move) {
  if (!move) {
    return "";
  }
  std::string text = fmt::format("{}: {} ({:+.1f} %)",
                                 move->to,
                                 outcome_text(found.of, move->outcome),
                                 100.0 * (move->outcome / found.outcome - 1.0));
  for (const Assignment& along : move->along) {
    text += fmt::format(" with {} {}", along.path, along.value.integer);
  }
  return text;
}

TextView counts_text(const Sensitivity& found) {
  const auto figures = [&](const CountEffect& effect) {
    return Figures{{"", effect.figure.path, "whole number"},
                   {"", now_text(effect.figure), "now"},
                   {"", move_text(found, effect.down), "less"},
                   {"", move_text(found, effect.up), "more"}};
  };
  TextView text;
  return text.table(rows_of(found.counts, figures), "lrll").add(found.counts.empty() ? "" : "\n");
}

TextView costs_text(const Sensitivity& found) {
  if (found.by_cost.empty()) {
    return {};
  }
  std::vector<Row> rows;
  for (const FigureEffect& effect : found.by_cost) {
    rows.push_back({effect.figure.path,
                    better(effect).words(),
                    gain(effect).words(),
                    fmt::format("{:.4g} % per 1000 $", 1e5 * *effect.gain->per_cost)});
  }
  return TextView("where the next dollar goes: what a tenth better gains for what it costs\n")
      .lines(rows)
      .add("\n");
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
    const auto known = std::ranges::find(kinds, kind);
    if (known == kinds.end()) {
      kinds.push_back(kind);
      changes.push_back(fmt::format("; {} {}", kind, part.part));
    } else {
      changes[static_cast<std::size_t>(known - kinds.begin())] += fmt::format(", {}", part.part);
    }
  }
  return listed(changes, "");
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

TextView reach_text(const SensitivityReport& report) {
  if (!report.reach) {
    return {};
  }
  const ReachTable& table = *report.reach;
  const std::string_view of = table.target.of.name;
  const std::string target = outcome_text(of, table.target.value);
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
  TextView text = fmt::format(
      fmt::runtime(table.met ? "{} {} is met already; how bad each may become by itself\n"
                             : "{} {}: what it needs of each by itself\n"),
      of,
      target);
  text.lines(rows).add(rows.empty() && !table.met ? "  no figure meets it alone\n" : "");
  if (!failed.empty()) {
    text.add("  cannot be reached by these alone; the limit of each\n").lines(failed, "l", "    ");
  }
  return text.add("\n");
}

Figures sensitivity_headline(const Sensitivity& found) {
  Figures figures = {{"", outcome_text(found.of, found.outcome), found.of}};
  if (!found.shares.empty()) {
    const ResourceShare& most = found.shares.front();
    figures.push_back(
        {"",
         fmt::format("{} ({} of the time)", name(most.resource), percent_text(most.share)),
         "what binds most"});
  }
  const auto best =
      std::ranges::max_element(found.figures, [](const FigureEffect& a, const FigureEffect& b) {
        return (a.gain ? a.gain->relative : 0) < (b.gain ? b.gain->relative : 0);
      });
  if (best != found.figures.end() && best->gain) {
    figures.push_back({"",
                       fmt::format("{} ({} gains {})",
                                   figure_name(best->figure),
                                   better(*best).words(),
                                   percent_text(best->gain->relative)),
                       "a tenth better of this gains most"});
  }
  return figures;
}

}  // namespace

View sensitivity_view(const SensitivityReport& report) {
  const Sensitivity& found = report.sensitivity;
  TextView text = fmt::format("{}basis: {}\n{} {}\n\n",
                              step_heading(report.probe->scenario()),
                              evidence_words(report.probe->base()),
                              found.of,
                              outcome_text(found.of, found.outcome));
  text.append(shares_text(report)).append(figures_text(found)).append(counts_text(found));
  text.append(costs_text(found)).add(break_even_text(report)).append(reach_text(report));
  text.add(fmt::format("{} figures make no difference here; {} evaluations\n",
                       found.unmoved.size(),
                       report.probe->evaluations()));
  return {.text = std::move(text),
          .figures = sensitivity_figures(report),
          .rows = sensitivity_rows(report),
          .columns =
              "section path value elasticity elasticity_down elasticity_up derivation "
              "resource to outcome gain note",
          .headline = sensitivity_headline(found),
          .plots = sensitivity_plots(found)};
}

}  // namespace titer
