#pragma once
// In which money amounts of a file are written and answers given. Everything is computed in
// dollars; another currency has a rate that its file states, with the date of it.

#include <optional>
#include <string>
#include <string_view>

#include "titer/hardware/evidence.hpp"
#include "titer/input/fields.hpp"

namespace titer {

struct Currency {
  std::string name = "USD";  // of three capitals, by ISO 4217
  double dollars = 1;        // that one of it is
  std::string date{};        // when it was

  [[nodiscard]] bool is_dollar() const { return name == "USD"; }
  [[nodiscard]] double amount_of(double of_dollars) const { return of_dollars / dollars; }
  [[nodiscard]] std::string words() const { return is_dollar() ? "dollars" : name; }
};

/// "EUR, each 1.08 dollars (2026-10)"
[[nodiscard]] std::string rate_words(const Currency& currency);

/// Whether a text begins with a year, as "2025-06".
[[nodiscard]] bool is_date(std::string_view text);

/// {"name": "EUR", "dollars": 1.08, "date": "2026-10"}, or the same as "EUR=1.08@2026-10". Empty
/// where the key is not there. The source of its rate is noted in `evidence`, where there is one.
[[nodiscard]] std::optional<Currency> read_currency(std::string_view key,
                                                    Reader& in,
                                                    EvidenceList* evidence = nullptr);
[[nodiscard]] Value currency_schema();

/// Throws InputError where both are the same currency at different rates. `whose`: the second.
void demand_one_rate(const Currency& first, std::string_view whose, const Currency& second);

}  // namespace titer
