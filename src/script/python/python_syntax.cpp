#include "titer/script/python/python_syntax.hpp"

#include <algorithm>

#include "titer/input/reader.hpp"
#include "titer/input/words.hpp"

namespace titer {
namespace {

constexpr std::size_t kMostStatements = 100'000;

/// By how many brackets one is deeper in a text after this character.
int bracket_step(char c) {
  const bool opens = std::string_view("([{").find(c) != std::string_view::npos;
  const bool closes = std::string_view(")]}").find(c) != std::string_view::npos;
  return (opens ? 1 : 0) - (closes ? 1 : 0);
}

/// Statements of a file: lines, joined where brackets and texts go on.
class Statements {
 public:
  Statements(std::string_view text, const std::string& file) : text_(text), file_(file) {}

  std::vector<Statement> all() {
    std::vector<Statement> made;
    while (next_ < text_.size()) {
      Statement one = read();
      if (made.size() == kMostStatements) {
        throw InputError(file_ + ":" + std::to_string(one.at.line) + ": has more than " +
                         std::to_string(kMostStatements) +
                         " statements; expected a program that trains a model");
      }
      if (!without_spaces(one.text).empty()) {
        one.text = std::string(without_spaces(one.text));
        made.push_back(std::move(one));
      }
    }
    return made;
  }

 private:
  Statement read() {
    Statement made;
    made.indent = take_indent();
    made.at = {.source = 0, .line = line_, .column = static_cast<int>(made.indent) + 1};
    int depth = 0;
    while (next_ < text_.size()) {
      const char c = text_[next_];
      if (c == '#') {
        next_ = std::min(text_.find('\n', next_), text_.size());
      } else if (c == '"' || c == '\'') {
        made.text += quoted(made.at);
      } else if (c == '\n' && depth == 0 && !made.text.ends_with('\\')) {
        take_line();
        return made;
      } else {
        depth = std::max(0, depth + bracket_step(c));
        take_character(made.text);
      }
    }
    if (depth > 0) {
      refuse(made.at, "a bracket of this statement is not closed");
    }
    return made;
  }

  std::size_t take_indent() {
    const std::size_t begin = next_;
    next_ = std::min(text_.find_first_not_of(" \t", begin), text_.size());
    return next_ - begin;
  }

  void take_line() {
    ++next_;
    ++line_;
  }

  /// A character of a statement; the end of a line after which it goes on is a space.
  void take_character(std::string& into) {
    const char c = text_[next_];
    if (c != '\n') {
      into += c;
      ++next_;
      return;
    }
    if (into.ends_with('\\')) {
      into.pop_back();
    }
    into += ' ';
    take_line();
  }

  /// A text in quotes; one in three of them, which is a comment, as nothing.
  std::string quoted(Origin at) {
    const std::string_view rest = text_.substr(next_);
    const std::string_view three = rest.substr(0, 3);
    const bool is_long = three == "\"\"\"" || three == "'''";
    const std::string_view mark = is_long ? three : rest.substr(0, 1);
    std::size_t end = next_ + mark.size();
    while (end < text_.size() && text_.substr(end, mark.size()) != mark) {
      end += text_[end] == '\\' ? 2 : 1;
      if (!is_long && end < text_.size() && text_[end] == '\n') {
        refuse(at, "a quote of this statement is not closed");
      }
    }
    if (end >= text_.size()) {
      refuse(at, "a quote of this statement is not closed");
    }
    const std::string_view found = text_.substr(next_, end + mark.size() - next_);
    line_ += static_cast<int>(std::ranges::count(found, '\n'));
    next_ = end + mark.size();
    return is_long ? "\"\"" : std::string(found);
  }

  [[noreturn]] void refuse(Origin at, const std::string& what) const {
    throw InputError(file_ + ":" + std::to_string(at.line) + ":" + std::to_string(at.column) +
                     ": " + what);
  }

  std::string_view text_;
  const std::string& file_;
  std::size_t next_ = 0;
  int line_ = 1;
};

}  // namespace

std::vector<Statement> python_statements(std::string_view text, const std::string& file) {
  return Statements(text, file).all();
}

std::string_view without_spaces(std::string_view text) {
  const std::size_t begin = std::min(text.find_first_not_of(" \t\r\n"), text.size());
  const std::size_t end = text.find_last_not_of(" \t\r\n") + 1;
  return text.substr(begin, std::max(begin, end) - begin);
}

std::size_t end_of_path(std::string_view text, std::size_t from) {
  while (from < text.size() && (is_of_name(text[from]) || text[from] == '.')) {
    ++from;
  }
  return from;
}

std::vector<std::size_t> places_of(std::string_view text, std::string_view word) {
  std::vector<std::size_t> places;
  int depth = 0;
  char quote = '\0';
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote != '\0') {
      i += c == '\\' ? 1 : 0;
      quote = c == quote ? '\0' : quote;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (depth == 0 && text.substr(i).starts_with(word)) {
      places.push_back(i);
    } else {
      depth += bracket_step(c);
    }
  }
  return places;
}

bool is_in_brackets(std::string_view text) {
  if (text.size() < 2 || text.front() != '(' || text.back() != ')') {
    return false;
  }
  int depth = 0;
  return std::ranges::all_of(text.substr(1, text.size() - 2), [&](char c) {
    depth += c == '(' ? 1 : (c == ')' ? -1 : 0);
    return depth >= 0;
  });
}

std::vector<std::string_view> parts_of(std::string_view text, char sign) {
  std::vector<std::string_view> parts;
  std::size_t begin = 0;
  for (const std::size_t end : places_of(text, std::string_view(&sign, 1))) {
    parts.push_back(without_spaces(text.substr(begin, end - begin)));
    begin = end + 1;
  }
  if (const std::string_view last = without_spaces(text.substr(begin)); !last.empty()) {
    parts.push_back(last);
  }
  return parts;
}

std::optional<AssignedName> assigned(std::string_view statement) {
  const std::size_t end = end_of_path(statement, 0);
  std::string_view rest = without_spaces(statement.substr(end));
  if (end == 0 || rest.empty()) {
    return std::nullopt;
  }
  const std::vector<std::size_t> equals = places_of(rest, "=");
  const bool is_plain = rest.front() == '=' || rest.front() == ':';
  if (!is_plain || equals.empty() || rest.substr(equals.front(), 2) == "==") {
    return std::nullopt;
  }
  return AssignedName{.path = std::string(statement.substr(0, end)),
                      .value = without_spaces(rest.substr(equals.front() + 1))};
}

}  // namespace titer
