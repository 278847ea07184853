// $(( … )): integers, as far as the script tells them.

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

#include "shell_values.hpp"

namespace titer::shell {
namespace {

constexpr int kDeepestExpression = 50;

using Number = std::optional<std::int64_t>;

struct Operator {
  std::string_view sign;
  int level;  // binds stronger where it is higher
};
constexpr std::array<Operator, 16> kOperators = {{{"**", 8},
                                                  {"<<", 5},
                                                  {">>", 5},
                                                  {"<=", 4},
                                                  {">=", 4},
                                                  {"==", 3},
                                                  {"!=", 3},
                                                  {"&&", 2},
                                                  {"||", 1},
                                                  {"<", 4},
                                                  {">", 4},
                                                  {"+", 6},
                                                  {"-", 6},
                                                  {"*", 7},
                                                  {"/", 7},
                                                  {"%", 7}}};

Number power(std::int64_t base, std::int64_t exponent) {
  std::int64_t result = 1;
  if (exponent < 0 || exponent > 63) {
    return std::nullopt;
  }
  for (; exponent > 0; --exponent) {
    if (__builtin_mul_overflow(result, base, &result)) {
      return std::nullopt;
    }
  }
  return result;
}

Number quotient(std::string_view sign, std::int64_t a, std::int64_t b) {
  if (b == 0 || (b == -1 && a == std::numeric_limits<std::int64_t>::min())) {
    return std::nullopt;
  }
  return sign == "/" ? a / b : a % b;
}

Number shifted(std::string_view sign, std::int64_t a, std::int64_t b) {
  if (a < 0 || b < 0 || b >= 62) {
    return std::nullopt;
  }
  if (sign == ">>") {
    return a >> b;
  }
  return a < (std::int64_t{1} << (62 - b)) ? Number(a << b) : std::nullopt;
}

bool compared(std::string_view sign, std::int64_t a, std::int64_t b) {
  const bool or_equal = sign.size() == 2;
  switch (sign.front()) {
    case '<':
      return a < b || (or_equal && a == b);
    case '>':
      return a > b || (or_equal && a == b);
    case '&':
      return a != 0 && b != 0;
    case '|':
      return a != 0 || b != 0;
    default:
      return (a == b) == (sign == "==");
  }
}

Number applied(std::string_view sign, std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  bool overflows = false;
  if (sign == "+") {
    overflows = __builtin_add_overflow(a, b, &result);
  } else if (sign == "-") {
    overflows = __builtin_sub_overflow(a, b, &result);
  } else if (sign == "*") {
    overflows = __builtin_mul_overflow(a, b, &result);
  } else if (sign == "**") {
    return power(a, b);
  } else if (sign == "/" || sign == "%") {
    return quotient(sign, a, b);
  } else if (sign == "<<" || sign == ">>") {
    return shifted(sign, a, b);
  } else {
    return compared(sign, a, b) ? 1 : 0;
  }
  return overflows ? Number() : Number(result);
}

class Calculation {
 public:
  Calculation(Scope& scope, std::string_view text) : scope_(scope), text_(text) {}

  Number all() {
    const Number result = choice(0);
    skip_space();
    return next_ == text_.size() ? result : std::nullopt;
  }

 private:
  void skip_space() {
    while (next_ < text_.size() && is_blank(text_[next_])) {
      ++next_;
    }
  }
  bool accept(char c) {
    skip_space();
    const bool found = next_ < text_.size() && text_[next_] == c;
    next_ += found ? 1 : 0;
    return found;
  }

  /// condition ? this : that
  Number choice(int depth) {
    const Number condition = binary(1, depth);
    if (!accept('?')) {
      return condition;
    }
    const Number yes = choice(depth + 1);
    if (!accept(':')) {
      return std::nullopt;
    }
    const Number no = choice(depth + 1);
    return !condition ? Number() : (*condition != 0 ? yes : no);
  }

  Number binary(int level, int depth) {
    Number left = unary(depth);
    while (const Operator* sign = operator_from(level)) {
      next_ += sign->sign.size();
      const Number right = binary(sign->level + 1, depth + 1);
      left = left && right ? applied(sign->sign, *left, *right) : Number();
    }
    return left;
  }

  const Operator* operator_from(int level) {
    skip_space();
    for (const Operator& known : kOperators) {
      if (text_.substr(next_, known.sign.size()) == known.sign) {
        return known.level >= level ? &known : nullptr;
      }
    }
    return nullptr;
  }

  Number unary(int depth) {
    if (depth > kDeepestExpression) {
      return std::nullopt;
    }
    if (accept('(')) {
      const Number inside = choice(depth + 1);
      return accept(')') ? inside : std::nullopt;
    }
    if (accept('-')) {
      const Number value = unary(depth + 1);
      return value ? applied("-", 0, *value) : value;
    }
    if (accept('+')) {
      return unary(depth + 1);
    }
    if (accept('!')) {
      const Number value = unary(depth + 1);
      return value ? Number(*value == 0 ? 1 : 0) : value;
    }
    return operand(depth);
  }

  Number operand(int depth) {
    skip_space();
    const std::size_t begin = next_;
    if (begin < text_.size() && text_[begin] == '$') {
      next_ = std::min(end_of_group(text_, begin), text_.size());
      if (next_ == begin + 1) {
        next_ = end_of_name(text_, begin + 1);
      }
      const Text value =
          expand_text(scope_, Text::made(text_.substr(begin, next_ - begin), Origin{0, 1, 1}));
      return is_open(value.chars) ? Number() : inner(value.chars, depth);
    }
    next_ = end_of_name(text_, begin);
    if (next_ > begin) {
      const std::string name = "${" + std::string(text_.substr(begin, next_ - begin)) + "}";
      const Text value = expand_text(scope_, Text::made(name, Origin{0, 1, 1}));
      return is_open(value.chars) ? Number() : inner(value.chars, depth);
    }
    return literal();
  }

  Number inner(std::string_view text, int depth) {
    if (depth > kDeepestExpression) {
      return std::nullopt;
    }
    Calculation inside(scope_, text);
    const Number result = inside.choice(depth + 10);
    inside.skip_space();
    return inside.next_ == text.size() ? result : Number();
  }

  Number literal() {
    std::int64_t value = 0;
    const auto [rest, error] =
        std::from_chars(text_.data() + next_, text_.data() + text_.size(), value);
    if (error != std::errc()) {
      return std::nullopt;
    }
    next_ = static_cast<std::size_t>(rest - text_.data());
    return value;
  }

  Scope& scope_;
  std::string_view text_;
  std::size_t next_ = 0;
};

std::string_view without_blanks(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) {
    text.remove_prefix(1);
  }
  while (!text.empty() && is_blank(text.back())) {
    text.remove_suffix(1);
  }
  return text;
}

/// NAME=…, NAME+=…, NAME++, ++NAME.
std::optional<Counted> counted_one(Scope& scope, std::string_view text) {
  text = without_blanks(text);
  const std::string_view before = text.substr(0, 2);
  const bool is_before = before == "++" || before == "--";
  const std::size_t begin = is_before ? 2 : 0;
  const std::size_t end = end_of_name(text, begin);
  const std::string name(text.substr(begin, end - begin));
  std::string_view sign = is_before ? before : without_blanks(text.substr(end));
  if (name.empty() || sign.empty()) {
    return std::nullopt;
  }
  Number value;
  if (sign == "++" || sign == "--") {
    value = calculate(scope, name + (sign == "++" ? " + 1" : " - 1"));
  } else if (sign.front() == '=' && !sign.starts_with("==")) {
    value = calculate(scope, sign.substr(1));
  } else if (sign.size() > 1 && sign[1] == '=' &&
             std::string_view("+-*/%").find(sign.front()) != std::string_view::npos) {
    std::string whole = name;
    whole.append(" ").append(1, sign.front()).append(" (").append(sign.substr(2)).append(")");
    value = calculate(scope, whole);
  }
  return value ? std::optional(Counted{.name = name, .value = *value}) : std::nullopt;
}

}  // namespace

std::optional<std::int64_t> calculate(Scope& scope, std::string_view expression) {
  return Calculation(scope, expression).all();
}

std::optional<std::vector<Counted>> counted(Scope& scope, std::string_view list) {
  std::vector<Counted> made;
  while (true) {
    const std::size_t comma = std::min(list.find(','), list.size());
    const std::optional<Counted> one = counted_one(scope, list.substr(0, comma));
    if (!one) {
      return std::nullopt;
    }
    made.push_back(*one);
    if (comma == list.size()) {
      return made;
    }
    list.remove_prefix(comma + 1);
  }
}

}  // namespace titer::shell
