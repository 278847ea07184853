#pragma once
// Whether a condition of a program that is read as text holds.

#include <optional>
#include <string_view>

#include "titer/script/python/python_values.hpp"

namespace titer {

/// By the constants, and by what is true of every training on accelerators: there is one, and it
/// knows 16 bits of either kind. Empty where nothing decides.
[[nodiscard]] std::optional<bool> decided(std::string_view condition,
                                          const PythonConstants& constants);

/// Of "a if condition else b" the one that the condition chooses; any other text, and one whose
/// condition nothing decides, as it is.
[[nodiscard]] std::string_view chosen_of(std::string_view text, const PythonConstants& constants);

}  // namespace titer
