#pragma once
// Values put at paths of a document, as `--set` does.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "titer/input/document.hpp"

namespace titer {

/// One value to put into a document, and where it was given.
struct Assignment {
  std::string path;  // dotted
  Value value;
  std::string source;  // "--set plan.tensor=8"
};
/// Splits "plan.tensor=8", given with that option: the value is JSON if it parses as JSON,
/// otherwise text.
[[nodiscard]] Assignment parse_assignment(std::string_view text, std::string_view option = "--set");
[[nodiscard]] std::vector<Assignment> parse_assignments(std::span<const std::string> texts,
                                                        std::string_view option = "--set");
/// Puts the value at its path, adding objects on the way. Throws InputError where there is none.
void assign(Document& document, const Assignment& assignment);

}  // namespace titer
