#include "expression_syntax.hpp"

#include <algorithm>
#include <vector>

#include "titer/input/expression.hpp"
#include "titer/units/blanks.hpp"

namespace titer {
namespace {

/// The first of `wanted` that no parentheses enclose, from `begin` on; npos if there is none.
std::size_t find_outside(std::string_view text, std::string_view wanted, std::size_t begin = 0) {
  std::size_t depth = 0;
  for (std::size_t i = begin; i < text.size(); ++i) {
    if (depth == 0 && wanted.find(text[i]) != std::string_view::npos) {
      return i;
    }
    depth += text[i] == '(' ? 1 : 0;
    depth -= text[i] == ')' && depth > 0 ? 1 : 0;
  }
  return std::string_view::npos;
}

/// Without parentheses around all of it.
std::string_view inside(std::string_view text) {
  text = trimmed(text);
  while (text.starts_with('(') && find_outside(text, ")", 1) == text.size() - 1) {
    text = trimmed(text.substr(1, text.size() - 2));
  }
  return text;
}

/// The ":" of the "?" that is before `begin`.
std::size_t find_otherwise(std::string_view text, std::size_t begin) {
  std::size_t open = 1;
  std::size_t at = begin;
  while (at < text.size()) {
    at = find_outside(text, "?:", at);
    if (at == std::string_view::npos || (text[at] == ':' && --open == 0)) {
      return at;
    }
    open += text[at] == '?' ? 1 : 0;
    ++at;
  }
  return std::string_view::npos;
}

}  // namespace

std::optional<std::string> refused_syntax(std::string_view text) {
  std::vector<bool> calls;  // of the open parentheses, whether they are a function's
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char letter = text[i];
    const bool before_equal = i + 1 < text.size() && text[i + 1] == '=';
    if (before_equal && std::string_view("=<>!").find(letter) != std::string_view::npos) {
      ++i;
    } else if (letter == '=') {
      return "expected an expression, not an assignment; did you mean \"==\"?";
    } else if (letter == '(') {
      const std::string_view before = trimmed(text.substr(0, i));
      calls.push_back(!before.empty() && expression_name(before.substr(before.size() - 1)) != "_");
    } else if (letter == ')' && !calls.empty()) {
      calls.pop_back();
    } else if (letter == ',' && (calls.empty() || !calls.back())) {
      return "expected one expression; a \",\" stands between the arguments of a function only";
    }
  }
  return std::nullopt;
}

std::string expression_name(std::string_view text) {
  std::string name(text);
  std::replace_if(
      name.begin(),
      name.end(),
      [](char c) { return kNameCharacters.find(c) == std::string_view::npos; },
      '_');
  return name;
}

bool is_condition(std::string_view text, const std::function<bool(std::string_view)>& is_truth) {
  text = inside(text);
  if (const std::size_t then = find_outside(text, "?"); then != std::string_view::npos) {
    const std::size_t otherwise = find_otherwise(text, then + 1);
    if (otherwise == std::string_view::npos) {
      return false;
    }
    const auto is_answer = [&](std::string_view part) {
      const std::string_view word = inside(part);
      return word == "0" || word == "1" || is_condition(word, is_truth);
    };
    return is_answer(text.substr(then + 1, otherwise - then - 1)) &&
           is_answer(text.substr(otherwise + 1));
  }
  // All operators of comparison and logic bind less than those of arithmetic.
  return find_outside(text, "=!<>&|") != std::string_view::npos || is_truth(text);
}

}  // namespace titer
