#include "titer/campaign/currency.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "titer/units/number_text.hpp"

namespace titer {
namespace {

constexpr Range kRate = {1e-6, 1e6};
constexpr std::string_view kCurrencyPattern = "^[A-Z]{3}=[0-9.eE+-]+@[0-9]{4}.*$";

constexpr std::array kCurrencyFields = {
    fields::text<&Currency::name>("name", "three capitals, such as `EUR`").needed(),
    fields::number<&Currency::dollars>("dollars", kRate, "that one of it is").needed(),
    fields::text<&Currency::date>("date", "of this rate, such as `2026-10`").needed()};

bool is_code(std::string_view name) {
  return name.size() == 3 &&
         std::ranges::all_of(name, [](char letter) { return letter >= 'A' && letter <= 'Z'; });
}

/// Empty where it is sound.
std::string problem_of(const Currency& currency) {
  if (!is_code(currency.name)) {
    return "expected a currency of three capitals, such as EUR";
  }
  if (currency.is_dollar() && currency.dollars != 1) {
    return "expected 1: a dollar is one dollar";
  }
  return is_date(currency.date) ? "" : "expected the date of the rate, such as 2026-10";
}

/// Of "EUR=1.08@2026-10".
std::optional<Currency> parse_currency(std::string_view text) {
  const std::size_t equals = text.find('=');
  const std::size_t at = text.find('@');
  if (equals == std::string_view::npos || at == std::string_view::npos || at < equals) {
    return std::nullopt;
  }
  Currency currency{.name = std::string(text.substr(0, equals)),
                    .date = std::string(text.substr(at + 1))};
  const auto dollars = number_of_text<double>(text.substr(equals + 1, at - equals - 1));
  currency.dollars = dollars.value_or(currency.dollars);
  const bool is_rate = dollars && *dollars >= kRate.least && *dollars <= kRate.most;
  return is_rate && problem_of(currency).empty() ? std::optional(currency) : std::nullopt;
}

Currency read_object(Reader in, EvidenceList* evidence) {
  Currency currency;
  for (const Field<Currency>& field : kCurrencyFields) {
    field.read(field, in, currency);
  }
  if (evidence != nullptr && in.has("dollars")) {
    evidence->note(in, "dollars", "currency.dollars");
  }
  if (in.has("name") && in.has("dollars") && in.has("date")) {
    if (const std::string problem = problem_of(currency); !problem.empty()) {
      in.fail("", problem);
    }
  }
  in.finish();
  return currency;
}

}  // namespace

std::string rate_words(const Currency& currency) {
  return currency.is_dollar()
             ? currency.words()
             : fmt::format(
                   "{}, each {:g} dollars ({})", currency.name, currency.dollars, currency.date);
}

bool is_date(std::string_view text) {
  return text.size() >= 4 &&
         std::all_of(text.begin(), text.begin() + 4, [](char c) { return c >= '0' && c <= '9'; });
}

std::optional<Currency> read_currency(std::string_view key, Reader& in, EvidenceList* evidence) {
  const Value* written = in.raw(key);
  if (written == nullptr) {
    return std::nullopt;
  }
  if (written->kind != Value::Kind::text) {
    return read_object(in.object(key), evidence);
  }
  auto currency = parse_currency(written->text);
  if (!currency) {
    in.fail(key,
            "expected a currency, what one of it is in dollars and the date of that, such as "
            "\"EUR=1.08@2026-10\"");
  }
  return currency;
}

Value currency_schema() {
  return schema::either(
      {schema_of<Currency>(kCurrencyFields), schema::text_like(kCurrencyPattern)});
}

void demand_one_rate(const Currency& first, std::string_view whose, const Currency& second) {
  if (first.name == second.name && first.dollars != second.dollars) {
    throw InputError(fmt::format("{}: {}: expected the rate of the other prices, {}",
                                 whose,
                                 rate_words(second),
                                 rate_words(first)));
  }
}

}  // namespace titer
