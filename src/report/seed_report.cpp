#include "titer/report/seed_report.hpp"

#include <fmt/format.h>

#include "seed_wording.hpp"
#include "titer/report/step_report.hpp"
#include "titer/report/table.hpp"
#include "titer/seeds/seed_totals.hpp"

namespace titer {
namespace {

/// "2.19 within 10 %", "at least 2".
std::string wanted(const CheckResult& result) {
  const SeedCheck& check = *result.check;
  std::string text;
  const auto add = [&](const std::string& more) { text += (text.empty() ? "" : ", ") + more; };
  if (result.expected) {
    add(shown(*result.expected));
    if (check.margin) {
      text += fmt::format(" within {}", shown(*check.margin));
    } else if (check.tolerance > 0.0) {
      text += fmt::format(" within {:.3g} %", 100 * check.tolerance);
    }
  }
  if (result.at_least) {
    add("at least " + shown(*result.at_least));
  }
  if (result.at_most) {
    add("at most " + shown(*result.at_most));
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

std::string cell(const std::optional<double>& value) { return value ? number_text(*value) : ""; }

Value check_json(const CheckResult& result) {
  const SeedCheck& check = *result.check;
  Value item = Value::make_object();
  item.add("what", Value(check.what));
  const auto add = [&](std::string_view key, const std::string& text) {
    if (!text.empty()) {
      item.add(std::string(key), Value(text));
    }
  };
  add("row", result.row);
  add("reading", reading_of(check));
  item.add("kind", Value(kind_of(check)));
  item.add("status", Value(name(result.status)));
  item.add("expression", Value(check.value));
  const auto add_number = [&](std::string_view key, const std::optional<double>& number) {
    if (number) {
      item.add(std::string(key), Value(*number));
    }
  };
  if (check.is_figure()) {
    item.add("predicted", Value(result.value));
    if (!check.over.empty()) {
      item.add("predicted_least", Value(result.least));
      item.add("predicted_most", Value(result.most));
    }
    add_number("printed", result.printed());
    add_number("printed_from", result.printed() ? std::nullopt : result.printed_from);
    add_number("printed_to", result.printed() ? std::nullopt : result.printed_to);
    item.add("ratio", Value(result.ratio));
    add_number("ratio_recorded", check.ratio);
  } else {
    item.add("value", Value(result.value));
    add_number("expected", result.expected);
    add_number("at_least", result.at_least);
    add_number("at_most", result.at_most);
    if (check.margin) {
      item.add("margin", Value(*check.margin));
    } else {
      item.add("tolerance", Value(check.tolerance));
    }
  }
  add("why", check.why);
  return item;
}

/// What the totals say, by the keys of kCheckKinds.
Value totals_json(const SeedTotals& totals) {
  const auto count = [](std::size_t number) { return Value(static_cast<std::int64_t>(number)); };
  Value root = Value::make_object();
  root.add("statements", count(totals.statements));
  Value figures = Value::make_object();
  figures.add("printed", count(totals.figures));
  for (std::size_t band = 0; band < kFigureBands.size(); ++band) {
    figures.add(fmt::format("within_{:.0f}_percent", 100 * kFigureBands[band]),
                count(totals.within[band]));
  }
  figures.add("unmet", count(totals.unmet));
  figures.add("open", count(totals.open));
  root.add("figures", std::move(figures));
  for (const auto& kind : kCheckKinds) {
    if (kind.value != CheckKind::figure) {
      Value law = Value::make_object();
      law.add("checks", count(totals.of(kind.value).checks));
      law.add("hold", count(totals.of(kind.value).hold));
      root.add(std::string(kind.name), std::move(law));
    }
  }
  return root;
}

const Row kSeedColumns = {"id",
                          "kind",
                          "status",
                          "what",
                          "row",
                          "reading",
                          "predicted",
                          "printed",
                          "printed_from",
                          "printed_to",
                          "ratio",
                          "expected",
                          "at_least",
                          "at_most",
                          "tolerance",
                          "margin",
                          "why"};

Row seed_row(const Seed& seed, const CheckResult& result) {
  const SeedCheck& check = *result.check;
  const bool figure = check.is_figure();
  return {seed.id,
          std::string(kind_of(check)),
          std::string(name(result.status)),
          check.what,
          result.row,
          reading_of(check),
          number_text(result.value),
          cell(result.printed()),
          cell(result.printed() ? std::nullopt : result.printed_from),
          cell(result.printed() ? std::nullopt : result.printed_to),
          figure ? number_text(result.ratio) : "",
          cell(result.expected),
          cell(result.at_least),
          cell(result.at_most),
          figure || check.margin ? "" : number_text(check.tolerance),
          cell(check.margin),
          check.why};
}

}  // namespace

std::string seed_csv(std::span<const SeedReport> reports) {
  std::string text = csv_line(kSeedColumns);
  for (const SeedReport& report : reports) {
    if (report.results.empty()) {
      Row cells(kSeedColumns.size());
      cells[0] = report.seed->id;
      cells[2] = name(report.status());
      cells[3] = report.seed->title;
      cells.back() = report.seed->reason;
      text += csv_line(cells);
    }
    for (const CheckResult& result : report.results) {
      text += csv_line(seed_row(*report.seed, result));
    }
  }
  return text;
}

Value seed_json(std::span<const SeedReport> reports) {
  Value root = Value::make_object();
  root.add("format_version", Value(kFormatVersion));
  root.add("totals", totals_json(seed_totals(reports)));
  Value unmet = Value::make_array();
  for (const SeedFigure& figure : figures_that_are(CheckStatus::unmet, reports)) {
    Value item = Value::make_object();
    item.add("id", Value(figure.report->seed->id));
    item.add("what", Value(figure.result->check->what));
    item.add("ratio", Value(figure.result->ratio));
    unmet.push(std::move(item));
  }
  root.add("unmet", std::move(unmet));
  Value list = Value::make_array();
  for (const SeedReport& report : reports) {
    const Seed& seed = *report.seed;
    Value item = Value::make_object();
    item.add("id", Value(seed.id));
    item.add("status", Value(name(report.status())));
    item.add("title", Value(seed.title));
    item.add("document", Value(seed.document));
    item.add("says", Value(seed.says));
    const auto add = [&](std::string_view key, const std::string& text) {
      if (!text.empty()) {
        item.add(std::string(key), Value(text));
      }
    };
    add("note", seed.note);
    add("home", seed.home);
    add("reason", seed.reason);
    Value checks = Value::make_array();
    for (const CheckResult& result : report.results) {
      checks.push(check_json(result));
    }
    item.add("checks", std::move(checks));
    Value commands = Value::make_array();
    for (const std::string& command : report.commands) {
      commands.push(Value(command));
    }
    item.add("commands", std::move(commands));
    list.push(std::move(item));
  }
  root.add("seeds", std::move(list));
  return root;
}

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

}  // namespace titer
