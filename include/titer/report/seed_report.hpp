#pragma once
// What the seeds say and what is computed of it, as text, CSV and JSON.

#include <span>
#include <string>

#include "titer/input/document.hpp"
#include "titer/seeds/seed.hpp"

namespace titer {

/// How many printed figures are met and laws hold; what is unmet, the worst first; one line per
/// statement.
[[nodiscard]] std::string seed_list_text(std::span<const SeedReport> reports);
/// One row per check: id, kind, status, what, reading, predicted, printed, their ratio, bounds of
/// laws, why.
[[nodiscard]] std::string seed_csv(std::span<const SeedReport> reports);
[[nodiscard]] Value seed_json(std::span<const SeedReport> reports);
/// All of one: what the document says, what is computed, the tolerance and why, what to type.
[[nodiscard]] std::string seed_text(const SeedReport& report);

}  // namespace titer
