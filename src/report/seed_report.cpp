#include "titer/report/seed_report.hpp"

#include <fmt/format.h>

#include "titer/report/step_report.hpp"
#include "titer/report/table.hpp"

namespace titer {
namespace {

constexpr std::size_t kTextWidth = 96;

/// In lines of at most so many characters, each after the indent.
std::string wrapped(std::string_view text, std::string_view indent) {
  std::string lines;
  std::string line;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    if (!line.empty() && indent.size() + line.size() + 1 + word.size() > kTextWidth) {
      lines += fmt::format("{}{}\n", indent, line);
      line.clear();
    }
    line += (line.empty() ? "" : " ") + std::string(word);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return line.empty() ? lines : lines + fmt::format("{}{}\n", indent, line);
}

/// Six digits are enough to read.
std::string shown(double value) { return fmt::format("{:.6g}", value); }

std::string reading_of(const SeedCheck& check) {
  return check.reading ? std::string(kReadings[static_cast<std::size_t>(*check.reading)].name) : "";
}

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

std::string what_of(const CheckResult& result) {
  const std::string reading = reading_of(*result.check);
  return result.check->what + (result.row.empty() ? "" : " [" + result.row + "]") +
         (reading.empty() ? "" : " (" + reading + " reading)");
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
  item.add("expression", Value(check.value));
  item.add("value", Value(result.value));
  const auto add_number = [&](std::string_view key, const std::optional<double>& number) {
    if (number) {
      item.add(std::string(key), Value(*number));
    }
  };
  add_number("expected", result.expected);
  add_number("at_least", result.at_least);
  add_number("at_most", result.at_most);
  if (check.margin) {
    item.add("margin", Value(*check.margin));
  } else {
    item.add("tolerance", Value(check.tolerance));
  }
  add("why", check.why);
  item.add("holds", Value(result.holds));
  return item;
}

}  // namespace

std::string seed_list_text(std::span<const SeedReport> reports) {
  std::vector<Row> rows = {{"id", "status", "checks", "what it says"}};
  for (const SeedReport& report : reports) {
    rows.push_back({report.seed->id,
                    std::string(name(report.status())),
                    std::to_string(report.results.size()),
                    report.seed->title});
  }
  return text_table(rows, {Align::left, Align::left, Align::right, Align::left}, "");
}

std::string seed_csv(std::span<const SeedReport> reports) {
  std::string text = csv_line({"id",
                               "status",
                               "what",
                               "row",
                               "reading",
                               "value",
                               "expected",
                               "at_least",
                               "at_most",
                               "tolerance",
                               "margin",
                               "holds",
                               "why"});
  for (const SeedReport& report : reports) {
    const std::string status(name(report.status()));
    if (report.results.empty()) {
      text += csv_line({report.seed->id,
                        status,
                        report.seed->title,
                        "",
                        "",
                        "",
                        "",
                        "",
                        "",
                        "",
                        "",
                        "",
                        report.seed->reason});
    }
    for (const CheckResult& result : report.results) {
      const SeedCheck& check = *result.check;
      text += csv_line({report.seed->id,
                        status,
                        check.what,
                        result.row,
                        reading_of(check),
                        number_text(result.value),
                        cell(result.expected),
                        cell(result.at_least),
                        cell(result.at_most),
                        check.margin ? "" : number_text(check.tolerance),
                        cell(check.margin),
                        result.holds ? "true" : "false",
                        check.why});
    }
  }
  return text;
}

Value seed_json(std::span<const SeedReport> reports) {
  Value root = Value::make_object();
  root.add("format_version", Value(kFormatVersion));
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
    text += fmt::format("  {}  {}\n", result.holds ? "holds" : "FAILS", what_of(result));
    text += fmt::format("         {}; expected {}\n", shown(result.value), wanted(result));
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
