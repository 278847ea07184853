#include "python_conditions.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "titer/script/python/python_syntax.hpp"

namespace titer {
namespace {

constexpr int kDeepestCondition = 20;

/// A value that the text has: a constant, or the name of one that is known.
std::optional<Value> known_value(std::string_view text, const PythonConstants& constants) {
  Value value = value_of(constants, text, {});
  const bool is_call = value.kind == Value::Kind::object;  // of something that is not known
  return is_call || !untold_expression(value).empty() ? std::nullopt
                                                      : std::optional(std::move(value));
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

/// Numbers by size, texts as in a dictionary; others are not compared.
std::optional<bool> in_order(const Value& a, std::string_view sign, const Value& b) {
  const auto ordered = [sign](const auto& left, const auto& right) {
    if (sign == " > ") {
      return left > right;
    }
    if (sign == " < ") {
      return left < right;
    }
    return sign == " >= " ? left >= right : left <= right;
  };
  if (a.kind != b.kind) {
    return std::nullopt;
  }
  if (a.kind == Value::Kind::number) {
    return ordered(a.number, b.number);
  }
  return a.kind == Value::Kind::text ? std::optional(ordered(a.text, b.text)) : std::nullopt;
}

std::optional<bool> compared(std::string_view left,
                             std::string_view sign,
                             std::string_view right,
                             const PythonConstants& constants) {
  const auto a = known_value(left, constants);
  const auto b = known_value(right, constants);
  if (!a || !b) {
    return std::nullopt;
  }
  const bool are_texts = a->kind == Value::Kind::text && b->kind == Value::Kind::text;
  if (sign == " in ") {
    if (are_texts) {
      return b->text.find(a->text) != std::string::npos;
    }
    if (b->kind != Value::Kind::array) {
      return std::nullopt;
    }
    bool is_among = false;
    for (const Value& item : b->items) {
      is_among = is_among || is_same_value(*a, item);
    }
    return is_among;
  }
  if (sign == " > " || sign == " >= " || sign == " < " || sign == " <= ") {
    return in_order(*a, sign, *b);
  }
  const bool is_negated = sign == " != " || sign == " is not ";
  return is_same_value(*a, *b) != is_negated;
}

std::optional<bool> is_of_accelerators(std::string_view question) {
  constexpr std::array<std::string_view, 4> questions = {
      "is_bfloat16_supported()", "is_bf16_supported()", "cuda.is_available()", "is_bf16_gpu()"};
  const bool asks = std::ranges::any_of(questions, [&](std::string_view name) {
    return question.ends_with(name) && end_of_path(question, 0) + 2 == question.size();
  });
  return asks ? std::optional(true) : std::nullopt;
}

class Conditions {
 public:
  explicit Conditions(const PythonConstants& constants) : constants_(constants) {}

  [[nodiscard]] std::optional<bool> decide(std::string_view text, int depth = 0) const {
    text = without_spaces(text);
    if (depth == kDeepestCondition || text.empty()) {
      return std::nullopt;
    }
    for (const bool is_or : {true, false}) {
      const std::string_view word = is_or ? " or " : " and ";
      if (const auto places = places_of(text, word); !places.empty()) {
        const std::size_t at = places.front();
        return joined(is_or,
                      decide(text.substr(0, at), depth + 1),
                      decide(text.substr(at + word.size()), depth + 1));
      }
    }
    constexpr std::string_view negation = "not ";
    if (text.starts_with(negation)) {
      const auto inner = decide(text.substr(negation.size()), depth + 1);
      return inner ? std::optional(!*inner) : std::nullopt;
    }
    if (is_in_brackets(text)) {
      return decide(text.substr(1, text.size() - 2), depth + 1);
    }
    return plain(text);
  }

 private:
  /// One that is known may do: what is false and something is false.
  static std::optional<bool> joined(bool is_or, std::optional<bool> a, std::optional<bool> b) {
    if ((a && *a == is_or) || (b && *b == is_or)) {
      return is_or;
    }
    return a && b ? std::optional(!is_or) : std::nullopt;
  }

  [[nodiscard]] std::optional<bool> plain(std::string_view text) const {
    constexpr std::array<std::string_view, 10> signs = {
        " not in ", " is not ", " is ", " == ", " != ", " >= ", " <= ", " > ", " < ", " in "};
    for (const std::string_view sign : signs) {
      const std::vector<std::size_t> places = places_of(text, sign);
      if (places.empty()) {
        continue;
      }
      const std::string_view left = text.substr(0, places.front());
      const std::string_view right = text.substr(places.front() + sign.size());
      if (sign == " not in ") {
        const auto inside = compared(left, " in ", right, constants_);
        return inside ? std::optional(!*inside) : std::nullopt;
      }
      return compared(left, sign, right, constants_);
    }
    if (const auto known = is_of_accelerators(text)) {
      return known;
    }
    const auto value = known_value(text, constants_);
    return value ? std::optional(is_true(*value)) : std::nullopt;
  }

  const PythonConstants& constants_;
};

}  // namespace

std::optional<bool> decided(std::string_view condition, const PythonConstants& constants) {
  return Conditions(constants).decide(condition);
}

std::string_view chosen_of(std::string_view text, const PythonConstants& constants) {
  text = without_spaces(text);
  const std::vector<std::size_t> conditions = places_of(text, " if ");
  const std::vector<std::size_t> others = places_of(text, " else ");
  if (conditions.empty() || others.empty() || others.front() < conditions.front()) {
    return text;
  }
  const std::size_t begin = conditions.front() + 4;
  const auto holds = decided(text.substr(begin, others.front() - begin), constants);
  if (!holds) {
    return text;
  }
  return *holds ? without_spaces(text.substr(0, conditions.front()))
                : chosen_of(text.substr(others.front() + 6), constants);
}

}  // namespace titer
