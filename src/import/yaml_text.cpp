#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <set>

#include "titer/import/foreign_text.hpp"
#include "titer/input/reader.hpp"

namespace titer {
namespace {

constexpr std::array<std::string_view, 5> kNulls = {"", "~", "null", "Null", "NULL"};
constexpr std::array<std::string_view, 9> kTrue = {
    "true", "True", "TRUE", "yes", "Yes", "YES", "on", "On", "ON"};
constexpr std::array<std::string_view, 9> kFalse = {
    "false", "False", "FALSE", "no", "No", "NO", "off", "Off", "OFF"};
constexpr std::array<std::string_view, 8> kNotFinite = {
    ".nan", ".NaN", ".NAN", ".inf", ".Inf", "-.inf", "+.inf", "-.Inf"};

template <std::size_t N>
bool is_one_of(const std::string& word, const std::array<std::string_view, N>& words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

class YamlConverter {
 public:
  explicit YamlConverter(std::string source) : source_(std::move(source)) {}

  Value value_of(const YAML::Node& node, int depth) {
    const YAML::Mark mark = node.Mark();
    if (depth > static_cast<int>(kDeepest)) {
      refuse(mark, "nested deeper than " + std::to_string(kDeepest) + " levels");
    }
    if (++values_ > kMostForeignValues) {
      refuse(mark, "expected at most " + std::to_string(kMostForeignValues) + " values");
    }
    Value value = node.IsMap()        ? object_of(node, depth)
                  : node.IsSequence() ? array_of(node, depth)
                  : node.IsScalar()   ? scalar_of(node)
                                      : Value();
    value.origin = origin_of(mark);
    return value;
  }

  [[noreturn]] void refuse(const YAML::Mark& mark, const std::string& message) const {
    const Origin at = origin_of(mark);
    throw InputError(source_ + ":" + std::to_string(at.line) + ":" + std::to_string(at.column) +
                     ": " + message);
  }

 private:
  static Origin origin_of(const YAML::Mark& mark) {
    return mark.is_null() ? Origin{.source = 0, .line = 1, .column = 1}
                          : Origin{.source = 0, .line = mark.line + 1, .column = mark.column + 1};
  }

  Value object_of(const YAML::Node& node, int depth) {
    Value object = Value::make_object();
    std::set<std::string> seen;
    for (const auto& member : node) {
      if (!member.first.IsScalar()) {
        refuse(member.first.Mark(), "expected a word as a key");
      }
      const std::string& key = member.first.Scalar();
      if (!seen.insert(key).second) {
        object.erase(key);  // of a key given twice the last one counts, as PyYAML has it
      }
      object.members.emplace_back(key, value_of(member.second, depth + 1));
      object.key_origins.push_back(origin_of(member.first.Mark()));
    }
    return object;
  }

  Value array_of(const YAML::Node& node, int depth) {
    Value array = Value::make_array();
    for (const YAML::Node& item : node) {
      array.push(value_of(item, depth + 1));
    }
    return array;
  }

  /// Quoted words are texts; yaml-cpp marks them by the tag "!".
  [[nodiscard]] Value scalar_of(const YAML::Node& node) const {
    const std::string& word = node.Scalar();
    if (node.Tag() == "!") {
      return word;
    }
    if (is_one_of(word, kNulls)) {
      return {};
    }
    if (is_one_of(word, kTrue) || is_one_of(word, kFalse)) {
      return is_one_of(word, kTrue);
    }
    if (is_one_of(word, kNotFinite)) {
      refuse(node.Mark(), word + ": expected a finite number");
    }
    return number_of(word, node.Mark());
  }

  /// The number that a word is, or the word.
  [[nodiscard]] Value number_of(const std::string& word, const YAML::Mark& mark) const {
    const char* const begin = word.data() + (word.front() == '+' ? 1 : 0);
    const char* const end = word.data() + word.size();
    std::int64_t integer = 0;
    if (const auto [rest, error] = std::from_chars(begin, end, integer);
        error == std::errc() && rest == end) {
      return integer;
    }
    double number = 0;
    const auto [rest, error] = std::from_chars(begin, end, number);
    const bool starts_as_number =
        std::string_view("0123456789.-+").find(word.front()) != std::string_view::npos;
    if (!starts_as_number || rest != end) {
      return word;
    }
    if (error != std::errc() || !std::isfinite(number)) {
      refuse(mark, word + ": expected a finite number that a double can hold");
    }
    return number;
  }

  std::string source_;
  int values_ = 0;
};

}  // namespace

Document parse_yaml(std::string_view text, std::string source_name) {
  YamlConverter converter(source_name);
  try {
    Value root = converter.value_of(YAML::Load(std::string(text)), 0);
    return {.root = std::move(root), .sources = {std::move(source_name)}};
  } catch (const YAML::Exception& error) {
    converter.refuse(error.mark, "not valid YAML: " + error.msg);
  }
}

}  // namespace titer
