#pragma once
// What tests of texts ask.

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "titer/input/document.hpp"
#include "titer/input/input_error.hpp"

namespace titer::testing {

/// As JSON; "absent" where there is none.
inline std::string member(const Value& object, std::string_view key) {
  const Value* const found = object.find(key);
  return found == nullptr ? "absent" : to_json(*found, 0);
}

inline bool any_has(const std::vector<std::string>& lines, std::string_view part) {
  return std::any_of(lines.begin(), lines.end(), [&](const std::string& line) {
    return line.find(part) != std::string::npos;
  });
}

/// The first line of what an import is refused with.
template <class Import>
std::string refusal_of(const Import& import) {
  try {
    static_cast<void>(import());
  } catch (const InputError& error) {
    return error.lines.front();
  }
  return "not refused";
}

}  // namespace titer::testing
