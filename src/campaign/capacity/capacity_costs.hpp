#pragma once
// What a question of capacity says of prices, power and money, and what follows for its devices.

#include <optional>
#include <string>

#include "titer/campaign/capacity.hpp"

namespace titer {

/// Files by their names, and what stands in place of figures of theirs.
struct WrittenCosts {
  std::string prices{};
  std::string prices_against{};
  std::string grid{};
  std::optional<Currency> asked_currency{};
  std::optional<double> dollars_per_hour{};
  std::optional<Watts> power{};
};

/// Prices and powers, before anything is computed with them; amounts of the question, in dollars.
/// Throws InputError.
void load_costs(const WrittenCosts& written, CapacityQuestion& question);

/// Servers that a cloud takes back fail, and are there again sooner than those that are repaired:
/// the nodes that are missing are as many as with the mean of both times. Throws InputError where
/// nothing says how often others fail.
void add_spot(CapacityQuestion& question);

}  // namespace titer
