#pragma once
// How checks of seeds are worded, in the list of all and in full.

#include <span>
#include <string>
#include <string_view>

#include "titer/seeds/seed.hpp"
#include "titer/view/text_view.hpp"

namespace titer {

/// In lines of at most so many characters, each after the indent.
[[nodiscard]] std::string wrapped(std::string_view text, std::string_view indent);
/// Six digits are enough to read.
[[nodiscard]] std::string shown(double value);
[[nodiscard]] std::string reading_of(const SeedCheck& check);
[[nodiscard]] std::string_view kind_of(const SeedCheck& check);
/// With its row and reading.
[[nodiscard]] std::string what_of(const CheckResult& result);
/// "predicted 0.0012 for 0.172 printed: 144 times too low".
[[nodiscard]] std::string figure_line(const CheckResult& result);

/// Totals, what is unmet and open, and a line for each statement.
[[nodiscard]] TextView seed_list_text(std::span<const SeedReport> reports);

}  // namespace titer
