#include "python_branches.hpp"

#include <array>
#include <optional>
#include <string_view>
#include <utility>

namespace titer {
namespace {

/// A value that the text has: a constant, or the name of one that is known.
std::optional<Value> known_value(std::string_view text, const PythonConstants& constants) {
  Value value = value_of(constants, text, {});
  const bool is_open = value.kind == Value::Kind::text && value.text.starts_with("$(");
  return is_open ? std::nullopt : std::optional(std::move(value));
}

bool is_true(const Value& value) {
  switch (value.kind) {
    case Value::Kind::null:
      return false;
    case Value::Kind::boolean:
      return value.boolean;
    case Value::Kind::number:
      return value.number != 0.0;
    case Value::Kind::text:
      return !value.text.empty();
    default:
      return !value.items.empty() || !value.members.empty();
  }
}

bool is_same_value(const Value& a, const Value& b) { return to_json(a, 0) == to_json(b, 0); }

std::optional<bool> compared(std::string_view left,
                             std::string_view sign,
                             std::string_view right,
                             const PythonConstants& constants) {
  const auto a = known_value(left, constants);
  const auto b = known_value(right, constants);
  if (!a || !b) {
    return std::nullopt;
  }
  if (sign == " in ") {
    bool is_among = false;
    for (const Value& item : b->items) {
      is_among = is_among || is_same_value(*a, item);
    }
    return is_among;
  }
  if (sign == " > " || sign == " >= ") {
    return sign == " > " ? a->number > b->number : a->number >= b->number;
  }
  const bool is_negated = sign == " != " || sign == " is not ";
  return is_same_value(*a, *b) != is_negated;
}

std::optional<bool> decided(std::string_view condition, const PythonConstants& constants) {
  constexpr std::array<std::string_view, 7> signs = {
      " is not ", " is ", " == ", " != ", " >= ", " > ", " in "};
  condition = without_spaces(condition);
  const bool is_joined = condition.find(" and ") != condition.npos ||
                         condition.find(" or ") != condition.npos ||
                         condition.find(" not in ") != condition.npos;
  if (is_joined) {
    return std::nullopt;
  }
  constexpr std::string_view negation = "not ";
  if (condition.starts_with(negation)) {
    const auto inner = decided(condition.substr(negation.size()), constants);
    return inner ? std::optional(!*inner) : std::nullopt;
  }
  for (const std::string_view sign : signs) {
    if (const std::size_t at = condition.find(sign); at != condition.npos) {
      return compared(condition.substr(0, at), sign, condition.substr(at + sign.size()), constants);
    }
  }
  const auto value = known_value(condition, constants);
  return value ? std::optional(is_true(*value)) : std::nullopt;
}

/// "x" of "if x:" and of "elif x:"; nothing of another statement.
std::optional<std::string_view> condition_of(std::string_view text) {
  for (const std::string_view word : {"if ", "elif "}) {
    if (text.starts_with(word) && text.ends_with(':')) {
      return text.substr(word.size(), text.size() - word.size() - 1);
    }
  }
  return std::nullopt;
}

bool goes_on(std::string_view text) { return text.starts_with("elif ") || text == "else:"; }

}  // namespace

bool PythonBranches::follows(const Statement& statement, const PythonConstants& constants) {
  while (!open_.empty() &&
         (open_.back().indent > statement.indent ||
          (open_.back().indent == statement.indent && !goes_on(statement.text)))) {
    open_.pop_back();
  }
  for (const Branch& branch : open_) {
    const bool is_own = branch.indent == statement.indent;
    if (!branch.is_taken && !is_own) {
      return false;
    }
  }
  if (condition_of(statement.text) || statement.text == "else:") {
    enter(statement, constants);
    return false;
  }
  return true;
}

void PythonBranches::enter(const Statement& statement, const PythonConstants& constants) {
  if (!goes_on(statement.text)) {
    open_.push_back({.indent = statement.indent});
  }
  if (open_.empty() || open_.back().indent != statement.indent) {
    return;  // the else of a loop
  }
  Branch& branch = open_.back();
  const auto condition = condition_of(statement.text);
  if (branch.is_done) {
    branch.is_taken = false;
    return;
  }
  const auto verdict = condition ? decided(*condition, constants) : std::optional(true);
  if (!verdict) {
    undecided_.push_back(statement);
  }
  branch.is_taken = verdict.value_or(false);
  branch.is_done = branch.is_taken;
}

}  // namespace titer
