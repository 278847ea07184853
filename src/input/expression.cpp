#include "titer/input/expression.hpp"

#include <muParser.h>

#include <algorithm>
#include <cmath>

#include "titer/input/reader.hpp"

namespace titer {
namespace {

constexpr std::string_view kNameCharacters =
    "0123456789_.abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

std::string message(const mu::Parser::exception_type& error, std::span<const NamedNumber> names) {
  if (error.GetCode() != mu::ecUNASSIGNABLE_TOKEN) {
    return "expected an expression; " + error.GetMsg();
  }
  std::vector<std::string_view> known;
  known.reserve(names.size());
  for (const NamedNumber& number : names) {
    known.emplace_back(number.name);
  }
  const std::string_view near = closest(error.GetToken(), known);
  return "expected known names, found " + error.GetToken() +
         (near.empty() ? std::string() : "; did you mean \"" + std::string(near) + "\"?");
}

/// Knows the names that may be meant in the text.
mu::Parser parser_of(const std::string& text, std::span<const NamedNumber> names) {
  mu::Parser parser;
  parser.DefineNameChars(std::string(kNameCharacters).c_str());
  parser.DefineFun("floor", [](double x) { return std::floor(x); });
  parser.DefineFun("ceil", [](double x) { return std::ceil(x); });
  for (const NamedNumber& number : names) {
    if (text.find(number.name) != std::string::npos) {
      parser.DefineConst(number.name, number.value);
    }
  }
  return parser;
}

}  // namespace

std::string expression_name(std::string_view text) {
  std::string name(text);
  std::replace_if(
      name.begin(),
      name.end(),
      [](char c) { return kNameCharacters.find(c) == std::string_view::npos; },
      '_');
  return name;
}

double evaluate_expression(const std::string& text,
                           std::span<const NamedNumber> names,
                           std::string_view where) {
  try {
    mu::Parser parser = parser_of(text, names);
    parser.SetExpr(text);
    const double value = parser.Eval();
    if (!std::isfinite(value)) {
      throw InputError(std::string(where) + ": " + text + ": expected a finite value");
    }
    return value;
  } catch (const mu::Parser::exception_type& error) {
    throw InputError(std::string(where) + ": " + text + ": " + message(error, names));
  }
}

}  // namespace titer
