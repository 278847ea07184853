#include "titer/study/seed.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "titer/input/csv.hpp"
#include "titer/input/read_document.hpp"

namespace titer {
namespace {

constexpr std::string_view kSeedFolder = "configs/seeds";
/// The kinds of statements: an id's letter, and the folder of its files.
struct SeedKind {
  char letter;
  std::string_view folder;
};
constexpr std::array<SeedKind, 6> kSeedKinds = {{{'S', "systems"},
                                                 {'H', "hardware"},
                                                 {'E', "equations"},
                                                 {'D', "data"},
                                                 {'F', "findings"},
                                                 {'T', "traps"}}};

/// "E12a" as (kind, 12, "a"), to sort by.
struct SeedOrder {
  std::size_t kind = 0;
  int number = 0;
  std::string rest;
  friend auto operator<=>(const SeedOrder&, const SeedOrder&) = default;
};

SeedOrder order_of(const std::string& id) {
  SeedOrder order;
  const auto* const kind = std::find_if(
      kSeedKinds.begin(), kSeedKinds.end(), [&](const auto& k) { return k.letter == id.front(); });
  order.kind = static_cast<std::size_t>(kind - kSeedKinds.begin());
  const char* const end = id.data() + id.size();
  const auto [rest, error] = std::from_chars(id.data() + 1, end, order.number);
  order.rest = error == std::errc() ? std::string(rest, end) : id;
  return order;
}

std::filesystem::path folder_of(char letter) {
  for (const SeedKind& kind : kSeedKinds) {
    if (kind.letter == letter) {
      return data_root() / kSeedFolder / kind.folder;
    }
  }
  return {};
}

/// An expression, or a number.
std::string read_expression(Reader& in, std::string_view key) {
  const Value* value = in.raw(key);
  if (value == nullptr || value->kind == Value::Kind::null) {
    return {};
  }
  return value->kind == Value::Kind::text ? value->text : to_json(*value, 0);
}

SeedCheck read_check(Reader in) {
  SeedCheck check;
  check.what = in.text("what");
  check.value = read_expression(in, "value");
  check.expected = read_expression(in, "expected");
  check.tolerance = in.maybe_number("tolerance", 0.0, 10.0).value_or(0.0);
  check.margin = in.maybe_number("margin", 0.0, 1e300);
  check.at_least = read_expression(in, "at_least");
  check.at_most = read_expression(in, "at_most");
  check.why = in.maybe_text("why").value_or("");
  check.each = in.maybe_text("each").value_or("");
  check.reading = in.maybe_choice<Reading>("reading", kReadings);
  if (check.value.empty()) {
    in.fail("value", "expected an expression over the answers");
  }
  if (check.expected.empty() && check.at_least.empty() && check.at_most.empty()) {
    in.fail("value", "expected \"expected\", \"at_least\" or \"at_most\" beside it");
  }
  if (check.tolerance > 0.0 && check.why.empty()) {
    in.fail("why", "expected the reason of the tolerance");
  }
  in.finish();
  return check;
}

/// The questions of a file, each case by itself.
std::vector<AskedQuestion> read_questions(const Value* questions,
                                          const Document& document,
                                          const std::filesystem::path& folder) {
  std::vector<AskedQuestion> asked;
  if (questions == nullptr) {
    return asked;
  }
  for (const auto& [name, question] : questions->members) {
    for (auto& [of_case, value] : cases_of(question)) {
      Document one{.root = std::move(value), .sources = document.sources};
      asked.push_back({of_case.empty() ? name : join_path(name, of_case),
                       read_document(one, [&](Reader& in) { return read_question(in, folder); })});
    }
  }
  return asked;
}

Seed read_seed(const Document& document, const std::filesystem::path& folder) {
  Problems problems;
  Reader in(document, problems);
  Seed seed;
  seed.id = in.text("id");
  seed.title = in.text("title");
  seed.document = in.text("document");
  seed.says = in.text("says");
  seed.note = in.maybe_text("note").value_or("");
  seed.home = in.maybe_text("home").value_or("");
  seed.reason = in.maybe_text("reason").value_or("");
  const Value* questions = in.raw("questions");
  if (in.has("checks")) {
    for (const Reader& check : in.objects("checks")) {
      seed.checks.push_back(read_check(check));
    }
  }
  if (seed.checks.empty() == seed.reason.empty()) {
    in.fail("", "expected either \"checks\" or the \"reason\" why there is nothing to compute");
  }
  in.finish();
  problems.raise();
  seed.questions = read_questions(questions, document, folder);
  return seed;
}

/// The rows of a table, to be checked one by one.
struct RowNames {
  std::string row;
  NamedNumbers numbers;
};
std::vector<RowNames> rows_of(const Seed& seed, const std::string& table) {
  for (const AskedQuestion& asked : seed.questions) {
    const auto* question = std::get_if<TableQuestion>(&asked.question);
    if (asked.name != table || question == nullptr) {
      continue;
    }
    std::vector<RowNames> rows;
    for (const NamedNumber& number : question->answer()) {
      const std::size_t dot = number.name.find('.');
      const std::string row = number.name.substr(0, dot);
      if (rows.empty() || rows.back().row != row) {
        rows.push_back({row, {}});
      }
      rows.back().numbers.push_back({"row" + number.name.substr(dot), number.value});
    }
    return rows;
  }
  throw InputError(seed.id + ": each: " + table + ": expected the name of a question for a table");
}

bool is_within(const SeedCheck& check, const CheckResult& result) {
  // A last digit of a double is no difference.
  const auto rounding = [](double bound) { return 1e-12 * std::abs(bound); };
  if (result.expected) {
    const double most = check.margin.value_or(check.tolerance * std::abs(*result.expected));
    if (std::abs(result.value - *result.expected) > most + rounding(*result.expected)) {
      return false;
    }
  }
  return (!result.at_least || result.value >= *result.at_least - rounding(*result.at_least)) &&
         (!result.at_most || result.value <= *result.at_most + rounding(*result.at_most));
}

CheckResult compute(const Seed& seed,
                    const SeedCheck& check,
                    const NamedNumbers& numbers,
                    std::string row) {
  const std::string where = seed.id + ": " + check.what;
  const auto maybe = [&](const std::string& text) {
    return text.empty() ? std::nullopt : std::optional(evaluate_expression(text, numbers, where));
  };
  CheckResult result{.check = &check,
                     .row = std::move(row),
                     .value = evaluate_expression(check.value, numbers, where),
                     .expected = maybe(check.expected),
                     .at_least = maybe(check.at_least),
                     .at_most = maybe(check.at_most)};
  result.holds = is_within(check, result);
  return result;
}

}  // namespace

std::string_view name(SeedStatus status) {
  switch (status) {
    case SeedStatus::holds:
      return "holds";
    case SeedStatus::fails:
      return "fails";
    case SeedStatus::noted:
      return "noted";
  }
  return "";
}

SeedStatus SeedReport::status() const {
  if (results.empty()) {
    return SeedStatus::noted;
  }
  const bool all =
      std::all_of(results.begin(), results.end(), [](const CheckResult& r) { return r.holds; });
  return all ? SeedStatus::holds : SeedStatus::fails;
}

std::vector<std::string> seed_ids() {
  std::vector<std::string> ids;
  for (const SeedKind& kind : kSeedKinds) {
    std::error_code missing;
    for (const auto& entry : std::filesystem::directory_iterator(folder_of(kind.letter), missing)) {
      if (entry.path().extension() == ".json") {
        ids.push_back(entry.path().stem().string());
      }
    }
  }
  std::sort(ids.begin(), ids.end(), [](const std::string& a, const std::string& b) {
    return order_of(a) < order_of(b);
  });
  return ids;
}

Seed load_seed(std::string_view id) {
  if (id.ends_with(".json")) {
    const std::filesystem::path file(id);
    return read_seed(load_json(file), file.parent_path());
  }
  const std::vector<std::string> ids = seed_ids();
  if (std::find(ids.begin(), ids.end(), id) == ids.end()) {
    const std::vector<std::string_view> known(ids.begin(), ids.end());
    const std::string_view near = closest(id, known);
    throw InputError(std::string(id) + ": expected a statement of the seeds, such as F33" +
                     (near.empty() ? std::string() : "; did you mean " + std::string(near) + "?"));
  }
  const std::filesystem::path folder = folder_of(id.front());
  Seed seed = read_seed(load_json(folder / (std::string(id) + ".json")), folder);
  if (seed.id != id) {
    throw InputError(std::string(id) + ".json: id: " + seed.id + ": expected the file's name");
  }
  return seed;
}

SeedReport run_seed(const Seed& seed) {
  SeedReport report;
  report.seed = &seed;
  NamedNumbers numbers;
  for (const AskedQuestion& asked : seed.questions) {
    for (NamedNumber& number : answer(asked.question)) {
      numbers.push_back({asked.name + "." + number.name, number.value});
    }
    const std::string line = command(asked.question);
    const auto& known = report.commands;
    if (!line.empty() && std::find(known.begin(), known.end(), line) == known.end()) {
      report.commands.push_back(line);
    }
  }
  for (const SeedCheck& check : seed.checks) {
    if (check.each.empty()) {
      report.results.push_back(compute(seed, check, numbers, ""));
      continue;
    }
    for (const RowNames& row : rows_of(seed, check.each)) {
      NamedNumbers with_row = numbers;
      with_row.insert(with_row.end(), row.numbers.begin(), row.numbers.end());
      report.results.push_back(compute(seed, check, with_row, row.row));
    }
  }
  return report;
}

}  // namespace titer
