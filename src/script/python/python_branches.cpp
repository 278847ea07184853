#include "titer/script/python/python_branches.hpp"

#include <optional>
#include <string_view>

#include "python_conditions.hpp"

namespace titer {
namespace {

/// "x" of "if x:" and of "elif x:"; nothing of another statement.
std::optional<std::string_view> condition_of(std::string_view text) {
  for (const std::string_view word : {"if ", "elif "}) {
    if (text.starts_with(word) && text.ends_with(':')) {
      return text.substr(word.size(), text.size() - word.size() - 1);
    }
  }
  return std::nullopt;
}

bool begins_handler(std::string_view text) {
  return text == "except:" || text.starts_with("except ");
}

bool goes_on(std::string_view text) {
  return text.starts_with("elif ") || text == "else:" || text == "finally:" || begins_handler(text);
}

bool begins_body(std::string_view text) {
  return text == "try:" || goes_on(text) || condition_of(text).has_value();
}

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
  if (begins_body(statement.text)) {
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
  if (statement.text == "try:" || branch.is_tried) {
    // Nothing fails in what is read.
    branch.is_tried = true;
    branch.is_taken = !begins_handler(statement.text);
    return;
  }
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
