#include "titer/report/evidence/seed_report.hpp"

#include <fmt/format.h>

#include "seed_wording.hpp"
#include "titer/seeds/seed_totals.hpp"
#include "titer/units/listed.hpp"

namespace titer {
namespace {

/// "2.19 within 10 %", "at least 2".
std::string wanted(const CheckResult& result) {
  const SeedCheck& check = *result.check;
  std::string text;
  if (result.expected) {
    add_listed(text, shown(*result.expected));
    if (check.margin) {
      text += fmt::format(" within {}", shown(*check.margin));
    } else if (check.tolerance > 0.0) {
      text += fmt::format(" within {:.3g} %", 100 * check.tolerance);
    }
  }
  if (result.at_least) {
    add_listed(text, "at least " + shown(*result.at_least));
  }
  if (result.at_most) {
    add_listed(text, "at most " + shown(*result.at_most));
  }
  return text;
}

/// What is not as it should be stands out.
std::string_view loud(CheckStatus status) {
  switch (status) {
    case CheckStatus::fails:
      return "FAILS";
    case CheckStatus::unmet:
      return "UNMET";
    default:
      return name(status);
  }
}

/// What is predicted and printed, as a file of the statement has it.
Figures printed_figures(const CheckResult& result) {
  const SeedCheck& check = *result.check;
  const std::optional<double> none;
  const bool is_range = !result.printed();
  Figures figures = {{"predicted", result.value}};
  if (!check.over.empty()) {
    figures.push_back({"predicted_least", result.least});
    figures.push_back({"predicted_most", result.most});
  }
  return joined(figures,
                {if_any({"printed", result.printed()}),
                 if_any({"printed_from", is_range ? result.printed_from : none}),
                 if_any({"printed_to", is_range ? result.printed_to : none}),
                 {"ratio", result.ratio},
                 if_any({"ratio_recorded", check.ratio})});
}

/// What a law demands.
Figures law_figures(const CheckResult& result) {
  const SeedCheck& check = *result.check;
  return {{"value", result.value},
          if_any({"expected", result.expected}),
          if_any({"at_least", result.at_least}),
          if_any({"at_most", result.at_most}),
          check.margin ? Figure{"margin", check.margin} : Figure{"tolerance", check.tolerance}};
}

Figures check_figures(const CheckResult& result) {
  const SeedCheck& check = *result.check;
  const Figures head = {{"what", check.what},
                        if_any({"row", said(result.row)}),
                        if_any({"reading", said(reading_of(check))}),
                        {"kind", kind_of(check)},
                        {"status", name(result.status)},
                        {"expression", check.value}};
  return joined(joined(head, check.is_figure() ? printed_figures(result) : law_figures(result)),
                {if_any({"why", said(check.why)})});
}

/// What the totals say, by the keys of kCheckKinds.
Figures totals_figures(const SeedTotals& totals) {
  Figures figures = {{"printed", totals.figures}};
  for (std::size_t band = 0; band < kFigureBands.size(); ++band) {
    figures.push_back(
        {fmt::format("within_{:.0f}_percent", 100 * kFigureBands[band]), totals.within[band]});
  }
  figures.push_back({"unmet", totals.unmet});
  figures.push_back({"open", totals.open});
  Figures root = {{"statements", totals.statements}, {"figures", figures}};
  for (const auto& kind : kCheckKinds) {
    if (kind.value != CheckKind::figure) {
      const auto& law = totals.of(kind.value);
      root.push_back({std::string(kind.name), Figures{{"checks", law.checks}, {"hold", law.hold}}});
    }
  }
  return root;
}

Figures unmet_figures(const SeedFigure& figure) {
  return {{"id", figure.report->seed->id},
          {"what", figure.result->check->what},
          {"ratio", figure.result->ratio}};
}

Figures seed_figures(const SeedReport& report) {
  const Seed& seed = *report.seed;
  return {{"id", seed.id},
          {"status", name(report.status())},
          {"title", seed.title},
          {"document", seed.document},
          {"says", seed.says},
          if_any({"note", said(seed.note)}),
          if_any({"home", said(seed.home)}),
          if_any({"reason", said(seed.reason)}),
          {"checks", rows_of(report.results, check_figures)},
          {"commands", report.commands}};
}

void add_rows(const SeedReport& report, FigureRows& rows) {
  const Seed& seed = *report.seed;
  if (report.results.empty()) {
    rows.push_back({{"id", seed.id},
                    {"status", name(report.status())},
                    {"what", seed.title},
                    {"why", seed.reason}});
  }
  for (const CheckResult& result : report.results) {
    const Figures head = {{"id", seed.id}, {"predicted", result.value}};  // a law's value, too
    rows.push_back(joined(head, check_figures(result)));
  }
}

/// All of one.
std::string seed_text(const SeedReport& report) {
  const Seed& seed = *report.seed;
  std::string text = fmt::format("{}  {}\n\n", seed.id, seed.title);
  text += wrapped(seed.document, "  ");
  text += "\nthe document says\n" + wrapped(seed.says, "  ");
  if (!seed.note.empty()) {
    text += "\nto know\n" + wrapped(seed.note, "  ");
  }
  if (!seed.home.empty()) {
    text += "\nat home in\n  include/" + seed.home + "\n";
  }
  if (!seed.reason.empty()) {
    text += "\nnothing to compute\n" + wrapped(seed.reason, "  ");
  } else {
    text += "\nwhat is computed\n";
  }
  for (const CheckResult& result : report.results) {
    text += fmt::format("  {:5}  {}\n", loud(result.status), what_of(result));
    if (result.check->is_figure()) {
      text += wrapped(figure_line(result), "         ");
    } else {
      text += fmt::format("         {}; expected {} ({})\n",
                          shown(result.value),
                          wanted(result),
                          kind_of(*result.check));
    }
    text += wrapped(result.check->value, "         = ");
    text += wrapped(result.check->why, "         ");
  }
  if (!report.commands.empty()) {
    text += "\nto play with\n";
    for (const std::string& command : report.commands) {
      text += fmt::format("  {}\n", command);
    }
  }
  return text;
}

}  // namespace

View seed_view(std::span<const SeedReport> reports, bool in_full) {
  View view{
      .text = in_full ? TextView() : TextView(seed_list_text(reports)),
      .figures = {{"totals", totals_figures(seed_totals(reports))},
                  {"unmet", rows_of(figures_that_are(CheckStatus::unmet, reports), unmet_figures)},
                  {"seeds", rows_of(reports, seed_figures)}},
      .rows = {},
      .columns =
          "id kind status what row reading predicted printed printed_from printed_to ratio "
          "expected at_least at_most tolerance margin why"};
  for (const SeedReport& report : reports) {
    add_rows(report, view.rows);
    if (in_full) {
      view.text.add((view.text.empty() ? "" : "\n") + seed_text(report));
    }
  }
  return view;
}

}  // namespace titer
