#include <toml++/toml.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "titer/input/reader.hpp"
#include "titer/input/words.hpp"
#include "titer/script/foreign_text.hpp"

namespace titer {
namespace {

class TomlConverter {
 public:
  explicit TomlConverter(std::string source) : source_(std::move(source)) {}

  /// The library refuses nesting deeper than 256 levels by itself.
  Value value_of(const toml::node& node) {
    if (++values_ > kMostForeignValues) {
      refuse(node.source().begin,
             "expected at most " + std::to_string(kMostForeignValues) + " values");
    }
    Value value = node.is_table()   ? object_of(*node.as_table())
                  : node.is_array() ? array_of(*node.as_array())
                                    : scalar_of(node);
    value.origin = origin_of(node.source().begin);
    return value;
  }

  [[noreturn]] void refuse(const toml::source_position& at, const std::string& message) const {
    throw InputError(source_ + ":" + std::to_string(at.line) + ":" + std::to_string(at.column) +
                     ": " + message);
  }

 private:
  static Origin origin_of(const toml::source_position& at) {
    return {.source = 0, .line = static_cast<int>(at.line), .column = static_cast<int>(at.column)};
  }

  Value object_of(const toml::table& table) {
    Value object = Value::make_object();
    for (const auto& [key, node] : table) {
      object.members.emplace_back(std::string(key.str()), value_of(node));
      object.key_origins.push_back(origin_of(key.source().begin));
    }
    return object;
  }

  Value array_of(const toml::array& items) {
    Value array = Value::make_array();
    for (const toml::node& item : items) {
      array.push(value_of(item));
    }
    return array;
  }

  [[nodiscard]] Value scalar_of(const toml::node& node) const {
    if (const auto* text = node.as_string()) {
      return text->get();
    }
    if (const auto* flag = node.as_boolean()) {
      return flag->get();
    }
    if (const auto* integer = node.as_integer()) {
      return integer->get();
    }
    if (const auto* number = node.as_floating_point()) {
      if (!std::isfinite(number->get())) {
        refuse(node.source().begin, "expected a finite number");
      }
      return number->get();
    }
    std::ostringstream date;
    node.visit([&](const auto& any) { date << any; });
    return date.str();
  }

  std::string source_;
  int values_ = 0;
};

/// Finds keys of too many parts before the library does, whose stack they overflow. It goes over
/// strings and comments and counts the dots since the last byte that no key can hold.
class TomlKeys {
 public:
  TomlKeys(std::string_view text, const TomlConverter& converter)
      : text_(text), converter_(converter) {}

  void check() {
    while (at_ < text_.size()) {
      const char byte = text_[at_];
      if (byte == '#') {
        go_to(text_.find('\n', at_));
      } else if (byte == '"' || byte == '\'') {
        skip_string(byte);
      } else {
        count(byte);
        go_to(at_ + 1);
      }
    }
  }

 private:
  void count(char byte) {
    if (byte == '.') {
      ++dots_;
    } else if (!is_of_name(byte) && byte != '-' && byte != ' ' && byte != '\t') {
      dots_ = 0;
    }
    if (dots_ >= kDeepest) {
      converter_.refuse(place_, "expected keys of at most " + std::to_string(kDeepest) + " parts");
    }
  }
  /// A quoted part of a key, or a value; one that is not closed is the library's to refuse.
  void skip_string(char quote) {
    const std::string three(3, quote);
    const std::string end = text_.substr(at_, 3) == three ? three : std::string(1, quote);
    go_to(at_ + end.size());
    while (at_ < text_.size() && text_.substr(at_, end.size()) != end) {
      go_to(at_ + (quote == '"' && text_[at_] == '\\' ? 2 : 1));
    }
    go_to(at_ + end.size());
  }
  void go_to(std::size_t end) {
    for (const std::size_t last = std::min(end, text_.size()); at_ < last; ++at_) {
      place_.column += 1;
      if (text_[at_] == '\n') {
        place_ = {.line = place_.line + 1, .column = 1};
      }
    }
  }

  std::string_view text_;
  const TomlConverter& converter_;
  std::size_t at_ = 0;
  std::size_t dots_ = 0;
  toml::source_position place_{.line = 1, .column = 1};
};

}  // namespace

Document parse_toml(std::string_view text, std::string source_name) {
  TomlConverter converter(source_name);
  TomlKeys(text, converter).check();
  try {
    const toml::table table = toml::parse(text, source_name);
    return {.root = converter.value_of(table), .sources = {std::move(source_name)}};
  } catch (const toml::parse_error& error) {
    converter.refuse(error.source().begin, "not valid TOML: " + std::string(error.description()));
  }
}

}  // namespace titer
