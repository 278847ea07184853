#pragma once
// Statements of Python as texts.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "titer/input/document.hpp"

namespace titer {

struct Statement {
  std::string text;  // without comments, on one line
  std::size_t indent = 0;
  Origin at{};
};

/// Of a file; lines are joined where brackets go on. Throws InputError with the place of a bracket
/// or a quote that is not closed.
[[nodiscard]] std::vector<Statement> python_statements(std::string_view text,
                                                       const std::string& file);

[[nodiscard]] std::string_view without_spaces(std::string_view text);
/// One past the name there, with dots.
[[nodiscard]] std::size_t end_of_path(std::string_view text, std::size_t from);
/// Whether one pair of brackets is around all of it.
[[nodiscard]] bool is_in_brackets(std::string_view text);
/// The places of a sign, or of a word, outside brackets and quotes.
[[nodiscard]] std::vector<std::size_t> places_of(std::string_view text, std::string_view word);
/// What stands between these.
[[nodiscard]] std::vector<std::string_view> parts_of(std::string_view text, char sign);

struct AssignedName {
  std::string path;
  std::string_view value;
};
/// "path = value" or "path: type = value".
[[nodiscard]] std::optional<AssignedName> assigned(std::string_view statement);

}  // namespace titer
