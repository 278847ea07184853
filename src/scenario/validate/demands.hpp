#pragma once
// What the parts of validate() report to.

#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "titer/scenario/scenario.hpp"

namespace titer {

/// Violations, as they are found.
class Demands {
 public:
  /// `value`: text or a whole number. `expected`: text, or what makes it: sweeps and searches ask
  /// of thousands of sound plans a second, which need none.
  template <class Value, class Expected>
  void demand(bool condition, std::string_view path, const Value& value, const Expected& expected) {
    if (!condition) {
      add(path, text_of(value), text_of(expected));
    }
  }
  [[nodiscard]] std::vector<Violation> take() { return std::move(violations_); }

 private:
  template <class Text>
  static std::string text_of(const Text& text) {
    if constexpr (std::is_invocable_v<Text>) {
      return text();
    } else if constexpr (std::is_integral_v<Text>) {
      return std::to_string(text);
    } else {
      return std::string(text);
    }
  }
  void add(std::string_view path, std::string value, std::string expected) {
    violations_.push_back({std::string(path), std::move(value), std::move(expected)});
  }

  std::vector<Violation> violations_;
};

}  // namespace titer
