#include "sensitivity_figures.hpp"

#include "titer/units/listed.hpp"
#include "titer/units/lists.hpp"
#include "titer/view/table.hpp"

namespace titer {
namespace {

Figures gain_figures(const Gain& gain) {
  return {{"to", gain.to},
          {"outcome", gain.outcome},
          {"relative", gain.relative},
          if_any({"per_dollar", gain.per_cost})};
}

Figures effect_figures(const FigureEffect& effect) {
  const auto& [figure, elasticity] = std::tie(effect.figure, effect.elasticity);
  return {{"path", figure.path},
          if_any({"of", said(figure.owner)}),
          {"kind", name(figure.kind)},
          {"value", figure.value},
          {"elasticity", elasticity.value},
          {"elasticity_down", elasticity.down},
          {"elasticity_up", elasticity.up},
          {"derivation", name(elasticity.derivation)},
          {"within", elasticity.within},
          {"resource", name(effect.resource)},
          if_any({"tenth_better", effect.gain ? Datum(gain_figures(*effect.gain)) : Datum()})};
}

Datum move_datum(const std::optional<CountMove>& move) {
  if (!move) {
    return {};
  }
  Figures along;
  for (const Assignment& one : move->along) {
    along.push_back({one.path, one.value});
  }
  return Figures{{"to", move->to},
                 {"with", along},
                 {"outcome", move->outcome},
                 {"elasticity", move->elasticity}};
}

Datum bend_datum(const std::optional<Bend>& bend) {
  if (!bend) {
    return {};
  }
  Figures parts;
  for (const PartSlope& part : bend->parts) {
    parts.push_back(
        {std::string(part.part), Figures{{"before", part.before}, {"after", part.after}}});
  }
  return Figures{{"at", bend->at},
                 {"elasticity_before", bend->before},
                 {"elasticity_after", bend->after},
                 {"parts", parts},
                 {"last_stage", bend->last_stage}};
}

Figures settled_figures(const Settled& point) {
  return {{"part", point.part},
          {"from", point.from},
          {"upward", point.upward},
          {"rest_s", point.rest},
          {"now_s", point.now}};
}

Figures count_effect_figures(const CountEffect& effect) {
  return {{"path", effect.figure.path},
          {"value", effect.figure.value},
          {"down", move_datum(effect.down)},
          {"up", move_datum(effect.up)}};
}

Figures break_even_figures(const BreakEven& one) {
  return {{"path", one.figure.path},
          {"value", one.figure.value},
          {"settled", rows_of(one.settled, settled_figures)},
          {"bend_below", bend_datum(one.below)},
          {"bend_above", bend_datum(one.above)}};
}

Figures reach_figures(const Reach& one) {
  return {{"path", one.figure.path},
          {"value", one.figure.value},
          {"needs", one.value},
          {"outcome", one.limit}};
}

Figures target_figures(const ReachTable& table) {
  return {{"of", table.target.of.name},
          {"target", table.target.value},
          {"met", table.met},
          {"figures", rows_of(table.figures, reach_figures)}};
}

/// A row of the table: its section, the figure that it tells of, and what more.
Figures row_of(std::string_view section, const ScenarioFigure& figure, const Figures& more) {
  return joined({{"section", section}, {"path", figure.path}, {"value", figure.value}}, more);
}

Figures effect_row(std::string_view section, const FigureEffect& effect) {
  Figures row = joined({{"section", section}}, effect_figures(effect));
  if (const auto& gain = effect.gain) {
    row = joined(row, gain_figures(*gain));
    row.push_back({"gain", gain->relative});
    if (gain->per_cost) {
      row.push_back({"note", number_text(*gain->per_cost) + " of the outcome per dollar"});
    }
  }
  return row;
}

void add_counts(const CountEffect& effect, FigureRows& rows) {
  for (const auto& move : {effect.down, effect.up}) {
    if (!move) {
      continue;
    }
    const std::string along = listed(
        move->along, [](const Assignment& one) { return one.path + "=" + to_json(one.value, 0); });
    rows.push_back(row_of("count",
                          effect.figure,
                          {{"elasticity", move->elasticity},
                           {"to", move->to},
                           {"outcome", move->outcome},
                           {"note", along.empty() ? along : "with " + along}}));
  }
}

void add_break_even(const BreakEven& one, FigureRows& rows) {
  for (const Settled& settled : one.settled) {
    rows.push_back(
        row_of(settled.upward ? "settled from" : "settled below",
               one.figure,
               {{"to", settled.from}, {"outcome", settled.rest}, {"note", settled.part}}));
  }
  for (const auto& bend : {one.below, one.above}) {
    if (!bend) {
      continue;
    }
    rows.push_back(row_of("bend",
                          one.figure,
                          {{"elasticity", bend->after},
                           {"to", bend->at},
                           {"note", listed(bend->parts, &PartSlope::part, " ")}}));
  }
}

}  // namespace

Figures sensitivity_figures(const SensitivityReport& report) {
  const Sensitivity& found = report.sensitivity;
  Figures shares;
  for (const ResourceShare& share : found.shares) {
    shares.push_back({std::string(name(share.resource)), share.share});
  }
  Datum break_even;
  if (report.break_even) {
    break_even = rows_of(*report.break_even, break_even_figures);
  }
  return {{"of", found.of},
          {"outcome", found.outcome},
          {"figures", rows_of(found.figures, effect_figures)},
          {"counts", rows_of(found.counts, count_effect_figures)},
          {"shares", shares},
          {"by_cost", rows_of(found.by_cost, effect_figures)},
          {"break_even", break_even},
          {"reach", report.reach ? Datum(target_figures(*report.reach)) : Datum()},
          {"unmoved", found.unmoved},
          {"evaluations", report.probe->evaluations()}};
}

FigureRows sensitivity_rows(const SensitivityReport& report) {
  const Sensitivity& found = report.sensitivity;
  FigureRows rows = each_of(
      found.figures, [&](const FigureEffect& effect) { return effect_row("figure", effect); });
  for (const CountEffect& effect : found.counts) {
    add_counts(effect, rows);
  }
  for (const ResourceShare& share : found.shares) {
    rows.push_back(
        {{"section", "share"}, {"value", share.share}, {"resource", name(share.resource)}});
  }
  for (const FigureEffect& effect : found.by_cost) {
    rows.push_back(effect_row("cost", effect));
  }
  for (const BreakEven& one : report.break_even.value_or(std::vector<BreakEven>{})) {
    add_break_even(one, rows);
  }
  for (const Reach& one : report.reach ? report.reach->figures : std::vector<Reach>{}) {
    rows.push_back(row_of("reach", one.figure, {{"to", one.value}, {"outcome", one.limit}}));
  }
  for (const std::string& path : found.unmoved) {
    rows.push_back({{"section", "unmoved"}, {"path", path}});
  }
  return rows;
}

}  // namespace titer
