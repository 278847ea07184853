#include "titer/script/python/python_values.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

#include "titer/input/words.hpp"
#include "titer/script/python/python_syntax.hpp"
#include "titer/units/number_text.hpp"

namespace titer {
namespace {

class Expressions {
 public:
  Expressions(const PythonConstants& constants, const FollowCall& follow)
      : constants_(constants), follow_(follow) {}

  [[nodiscard]] Value value_of(std::string_view text, Origin at, int depth = 0) const {
    Value made = plain(text, at, depth);
    made.origin = at;
    return made;
  }

 private:
  /// A constant of the language.
  [[nodiscard]] static std::optional<Value> literal(std::string_view text) {
    if (text == "None" || text == "True" || text == "False") {
      return text == "None" ? Value() : Value(text == "True");
    }
    const char first = text.front();
    if ((first == '"' || first == '\'') && text.find(first, 1) == text.size() - 1) {
      return Value(text.substr(1, text.size() - 2));
    }
    return number_of(text);
  }

  [[nodiscard]] Value plain(std::string_view text, Origin at, int depth) const {
    text = without_spaces(text);
    if (text.empty() || depth > 20) {
      return {};
    }
    if (text.front() == '[' || text.front() == '(') {
      return list(text, at, depth);
    }
    if (auto constant = literal(text)) {
      return *std::move(constant);
    }
    if (const auto found = constants_.find(text); found != constants_.end()) {
      return found->second;
    }
    if (text.starts_with("torch.") && end_of_path(text, 0) == text.size()) {
      return Value(text.substr(6));
    }
    if (auto chosen = first_known(text, at, depth)) {
      return *std::move(chosen);
    }
    if (const auto factors = product(text, at, depth)) {
      return Value(*factors);
    }
    return call(text, at, depth);
  }

  [[nodiscard]] Value list(std::string_view text, Origin at, int depth) const {
    Value made = Value::make_array();
    for (const std::string_view item : parts_of(text.substr(1, text.size() - 2), ',')) {
      made.push(value_of(item, at, depth + 1));
    }
    return made;
  }

  /// Of "a or b" the last, where what comes before it is not told by the file.
  [[nodiscard]] std::optional<Value> first_known(std::string_view text,
                                                 Origin at,
                                                 int depth) const {
    constexpr std::string_view word = " or ";
    const std::size_t last = text.rfind(word);
    if (last == std::string_view::npos || text.find_first_of("\"'([{") < last) {
      return std::nullopt;
    }
    return value_of(text.substr(last + word.size()), at, depth + 1);
  }

  /// 4 * 4096, where all factors are known.
  [[nodiscard]] std::optional<std::int64_t> product(std::string_view text,
                                                    Origin at,
                                                    int depth) const {
    constexpr double most = 1e15;
    const std::vector<std::string_view> factors = parts_of(text, '*');
    if (factors.size() < 2) {
      return std::nullopt;
    }
    double made = 1;
    for (const std::string_view factor : factors) {
      const Value value = value_of(factor, at, depth + 1);
      if (!value.is_integer) {
        return std::nullopt;
      }
      made *= value.number;
    }
    return std::abs(made) < most ? std::optional(static_cast<std::int64_t>(made)) : std::nullopt;
  }

  static std::optional<Value> number_of(std::string_view text) {
    std::string digits(text);
    digits.erase(std::remove(digits.begin(), digits.end(), '_'), digits.end());
    if (const auto integer = number_of_text<std::int64_t>(digits)) {
      return Value(*integer);
    }
    const auto number = number_of_text<double>(digits);
    return number && std::isfinite(*number) ? std::optional<Value>(*number) : std::nullopt;
  }

  /// Name(key=value, …) is an object; another expression is open.
  [[nodiscard]] Value call(std::string_view text, Origin at, int depth) const {
    const std::size_t open = end_of_path(text, 0);
    const bool is_call = open > 0 && open < text.size() && text[open] == '(' &&
                         text.back() == ')' &&
                         places_of(text, ".").size() == count_dots(text, open);
    if (auto followed = is_call && follow_ ? follow_(text) : std::nullopt) {
      return *std::move(followed);
    }
    Value made = Value::make_object();
    if (is_call) {
      for (const std::string_view argument :
           parts_of(text.substr(open + 1, text.size() - open - 2), ',')) {
        const auto named = assigned(argument);
        if (named && made.find(named->path) == nullptr) {
          made.add(named->path, value_of(named->value, at, depth + 1));
          made.key_origins.back() = at;
        }
      }
      const std::string model = model_of_class(text.substr(0, open));
      if (!made.members.empty() && text.find("ModelProvider") < open && !model.empty()) {
        made.add("hf_model", Value(model));
        made.key_origins.back() = at;
      }
    }
    return made.members.empty() ? Value("$(" + std::string(text) + ")") : made;
  }

  static std::size_t count_dots(std::string_view text, std::size_t end) {
    return static_cast<std::size_t>(std::count(text.begin(), text.begin() + end, '.'));
  }

  const PythonConstants& constants_;
  const FollowCall& follow_;
};

}  // namespace

/// "llama38b" of Llama3Config8B and Llama3ModelProvider8B; "" of another expression.
std::string model_of_class(std::string_view text) {
  for (const std::string_view part : {"ModelProvider", "Config"}) {
    const std::size_t found = text.rfind(part);
    if (found == std::string_view::npos) {
      continue;
    }
    std::size_t begin = found;
    while (begin > 0 && is_of_name(text[begin - 1])) {
      --begin;
    }
    const std::size_t end = end_of_path(text, found + part.size());
    const std::string size(text.substr(found + part.size(), end - found - part.size()));
    return size.empty() ? "" : std::string(text.substr(begin, found - begin)) + size;
  }
  return "";
}

Value value_of(const PythonConstants& constants,
               std::string_view text,
               Origin at,
               const FollowCall& follow) {
  return Expressions(constants, follow).value_of(text, at);
}

std::string_view untold_expression(const Value& value) {
  const std::string_view text = value.text;
  const bool is_untold =
      value.kind == Value::Kind::text && text.starts_with("$(") && text.ends_with(')');
  return is_untold ? text.substr(2, text.size() - 3) : std::string_view();
}

}  // namespace titer
