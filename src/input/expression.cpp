#include "titer/input/expression.hpp"

#include <muParser.h>

#include <cmath>

#include "expression_syntax.hpp"
#include "titer/input/reader.hpp"
#include "titer/input/words.hpp"

namespace titer {
namespace {

constexpr std::size_t kLongestExpression = 200;  // bytes of one in a message

using ParserError = mu::Parser::exception_type;

/// "where.0: plan.data > : "
std::string place_of(std::string_view text, std::string_view where) {
  return std::string(where) + ": " + shortened(text, kLongestExpression) + ": ";
}

InputError input_error(const ParserError& error,
                       const std::string& text,
                       std::span<const std::string_view> known,
                       std::string_view where) {
  const std::string begin = place_of(text, where);
  if (error.GetCode() != mu::ecUNASSIGNABLE_TOKEN) {
    return InputError(begin + "expected an expression; " +
                      shortened(error.GetMsg(), kLongestExpression));
  }
  return InputError(begin + "expected known names, found " +
                    shortened(error.GetToken(), kLongestExpression) +
                    suggestion(error.GetToken(), known));
}

/// Knows the functions, and no names yet, not even the parser's own "_pi" and "_e".
mu::Parser make_parser() {
  mu::Parser parser;
  parser.ClearConst();
  parser.DefineNameChars(std::string(kNameCharacters).c_str());
  parser.DefineFun("floor", [](double x) { return std::floor(x); });
  parser.DefineFun("ceil", [](double x) { return std::ceil(x); });
  parser.DefineFun("mod", [](double x, double y) { return x - y * std::floor(x / y); });
  return parser;
}

/// Gives the parser a text that says what it seems to say.
void put_text(mu::Parser& parser, const std::string& text, std::string_view where) {
  if (const auto expected = refused_syntax(text)) {
    throw InputError(place_of(text, where) + *expected);
  }
  parser.SetExpr(text);
}

/// Knows the names that may be meant in the text.
mu::Parser parser_of(const std::string& text, std::span<const NamedNumber> names) {
  mu::Parser parser = make_parser();
  for (const NamedNumber& number : names) {
    if (text.find(number.name) != std::string::npos) {
      parser.DefineConst(number.name, number.value);
    }
  }
  return parser;
}

}  // namespace

double evaluate_expression(const std::string& text,
                           std::span<const NamedNumber> names,
                           std::string_view where) {
  try {
    mu::Parser parser = parser_of(text, names);
    put_text(parser, text, where);
    const double value = parser.Eval();
    if (!std::isfinite(value)) {
      throw InputError(place_of(text, where) + "expected a finite value");
    }
    return value;
  } catch (const ParserError& error) {
    std::vector<std::string_view> known;
    known.reserve(names.size());
    for (const NamedNumber& number : names) {
      known.emplace_back(number.name);
    }
    throw input_error(error, text, known, where);
  }
}

std::vector<std::string> names_in(const std::string& text, std::string_view where) {
  try {
    mu::Parser parser = make_parser();
    put_text(parser, text, where);
    std::vector<std::string> names;
    for (const auto& [name, unset] : parser.GetUsedVar()) {
      names.push_back(name);
    }
    return names;
  } catch (const ParserError& error) {
    throw input_error(error, text, {}, where);
  }
}

/// The parser holds the addresses of `inputs`, so none of it ever moves.
struct Expression::Parsed {
  std::string text;
  std::vector<std::string> names;
  std::string where;
  std::vector<std::size_t> used;  // of names
  std::vector<double> inputs;     // their values
  mu::Parser parser;

  Parsed(std::string of, std::vector<std::string> known, std::string place)
      : text(std::move(of)),
        names(std::move(known)),
        where(std::move(place)),
        inputs(names.size(), 1.0),
        parser(make_parser()) {
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (text.find(names[i]) != std::string::npos) {
        parser.DefineVar(names[i], &inputs[i]);
        used.push_back(i);
      }
    }
    try {
      put_text(parser, text, where);
      static_cast<void>(parser.Eval());  // what is wrong with the text shows here
    } catch (const ParserError& error) {
      throw input_error(
          error, text, std::vector<std::string_view>(names.begin(), names.end()), where);
    }
  }
};

Expression::Expression(std::string text, std::vector<std::string> names, std::string where)
    : parsed_(std::make_unique<Parsed>(std::move(text), std::move(names), std::move(where))) {}
Expression::Expression(Expression&&) noexcept = default;
Expression& Expression::operator=(Expression&&) noexcept = default;
Expression::~Expression() = default;

double Expression::evaluate(std::span<const double> values) {
  for (const std::size_t i : parsed_->used) {
    parsed_->inputs[i] = values[i];
  }
  return parsed_->parser.Eval();
}

}  // namespace titer
