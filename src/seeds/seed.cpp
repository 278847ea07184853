#include "titer/seeds/seed.hpp"

#include <algorithm>
#include <cmath>

#include "titer/units/lists.hpp"

namespace titer {
namespace {

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

/// Over the nearer end of what is printed; 1 within it.
double ratio_to(double value, const CheckResult& result) {
  const auto over = [&](double printed) { return value / printed; };
  if (result.printed_from && value < *result.printed_from) {
    return over(*result.printed_from);
  }
  return result.printed_to && value > *result.printed_to ? over(*result.printed_to) : 1.0;
}

bool is_met(double ratio) { return std::abs(ratio - 1) <= kMet; }

/// Whether some choice, or something between two of them, meets what is printed.
bool may_be_met(const CheckResult& result) {
  const double low = ratio_to(result.least, result);
  const double high = ratio_to(result.most, result);
  return is_met(low) || is_met(high) || (low < 1) != (high < 1);
}

void judge_figure(const std::vector<double>& predictions, CheckResult& result) {
  for (const auto& end : {result.printed_from, result.printed_to}) {
    if (end && !(*end > 0)) {
      throw InputError(result.check->what + ": printed: expected more than 0");
    }
  }
  const auto [least, most] = std::minmax_element(predictions.begin(), predictions.end());
  result.least = *least;
  result.most = *most;
  result.ratio = ratio_to(result.value, result);
  const bool all = std::ranges::all_of(
      predictions, [&](double prediction) { return is_met(ratio_to(prediction, result)); });
  const bool open = !all && predictions.size() > 1 && may_be_met(result);
  result.status = all ? CheckStatus::met : open ? CheckStatus::open : CheckStatus::unmet;
}

CheckResult compute(const Seed& seed,
                    const SeedCheck& check,
                    const NamedNumbers& numbers,
                    std::string row) {
  const std::string where = seed.id + ": " + check.what;
  const auto number = [&](const std::string& text) {
    return evaluate_expression(text, numbers, where);
  };
  const auto maybe = [&](const std::string& text) {
    return text.empty() ? std::nullopt : std::optional(number(text));
  };
  CheckResult result{.check = &check,
                     .row = std::move(row),
                     .value = number(check.value),
                     .expected = maybe(check.expected),
                     .at_least = maybe(check.at_least),
                     .at_most = maybe(check.at_most),
                     .printed_from = maybe(check.printed_from),
                     .printed_to = maybe(check.printed_to)};
  result.least = result.most = result.value;
  if (check.is_figure()) {
    std::vector<double> predictions = {result.value};
    std::ranges::transform(check.over, std::back_inserter(predictions), number);
    judge_figure(predictions, result);
  } else {
    result.status = is_within(check, result) ? CheckStatus::holds : CheckStatus::fails;
  }
  return result;
}

}  // namespace

std::string_view name(CheckStatus status) {
  switch (status) {
    case CheckStatus::holds:
      return "holds";
    case CheckStatus::fails:
      return "fails";
    case CheckStatus::met:
      return "met";
    case CheckStatus::open:
      return "open";
    case CheckStatus::unmet:
      return "unmet";
  }
  return "";
}

std::string_view name(SeedStatus status) {
  switch (status) {
    case SeedStatus::holds:
      return "holds";
    case SeedStatus::fails:
      return "fails";
    case SeedStatus::noted:
      return "noted";
    case SeedStatus::unmet:
      return "unmet";
    case SeedStatus::open:
      return "open";
    case SeedStatus::transcribed:
      return "transcribed";
  }
  return "";
}

SeedStatus SeedReport::status() const {
  const auto any = [&](CheckStatus status) {
    return includes(results, status, &CheckResult::status);
  };
  if (results.empty()) {
    return SeedStatus::noted;
  }
  if (any(CheckStatus::fails)) {
    return SeedStatus::fails;
  }
  if (any(CheckStatus::unmet)) {
    return SeedStatus::unmet;
  }
  if (any(CheckStatus::open)) {
    return SeedStatus::open;
  }
  const bool transcribed = std::ranges::all_of(
      results, [](const CheckResult& r) { return r.check->kind == CheckKind::transcription; });
  return transcribed ? SeedStatus::transcribed : SeedStatus::holds;
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
    if (!line.empty() && !includes(known, line)) {
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
