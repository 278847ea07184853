#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <sstream>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "titer/input/reader.hpp"
#include "titer/input/yaml.hpp"
#include "titer/units/lists.hpp"

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
  return includes(words, word);
}

/// Makes values out of what the parser meets, without its tree of nodes in between.
class YamlConverter : public YAML::EventHandler {
 public:
  explicit YamlConverter(std::string source) : source_(std::move(source)) {}

  [[noreturn]] void refuse(const YAML::Mark& mark, const std::string& message) const {
    const Origin at = origin_of(mark);
    throw InputError(source_ + ":" + std::to_string(at.line) + ":" + std::to_string(at.column) +
                     ": " + message);
  }

  Value take() && { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark& /*mark*/) override {}
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    add(Value(), mark, anchor, "");
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto known = anchors_.find(anchor);
    if (known == anchors_.end()) {
      refuse(mark, "refers to what is not closed yet");
    }
    count(mark, known->second.values);
    Value copy = known->second.value;
    const std::string word = copy.kind == Value::Kind::text ? copy.text : "";
    add(std::move(copy), mark, 0, word);
  }

  void OnScalar(const YAML::Mark& mark,
                const std::string& tag,
                YAML::anchor_t anchor,
                const std::string& word) override {
    if (is_key_next()) {
      keep(anchor, Value(word), 1);
      begin_member(word, mark);
    } else {
      count(mark, 1);
      add(scalar_of(mark, tag, word), mark, anchor, word);
    }
  }

  void OnSequenceStart(const YAML::Mark& mark,
                       const std::string& /*tag*/,
                       YAML::anchor_t anchor,
                       YAML::EmitterStyle::value /*style*/) override {
    open(Value::make_array(), mark, anchor);
  }
  void OnSequenceEnd() override { close(); }

  void OnMapStart(const YAML::Mark& mark,
                  const std::string& /*tag*/,
                  YAML::anchor_t anchor,
                  YAML::EmitterStyle::value /*style*/) override {
    open(Value::make_object(), mark, anchor);
  }
  void OnMapEnd() override { close(); }

 private:
  struct Level {
    Value value;
    YAML::Mark mark;
    YAML::anchor_t anchor = 0;
    int values_before = 0;
    bool has_key = false;  // of a member whose value comes next
    std::unordered_set<std::string> seen;
  };
  struct Anchored {
    Value value;
    int values = 0;
  };

  static Origin origin_of(const YAML::Mark& mark) {
    return mark.is_null() ? Origin{.source = 0, .line = 1, .column = 1}
                          : Origin{.source = 0, .line = mark.line + 1, .column = mark.column + 1};
  }

  [[nodiscard]] bool is_key_next() const {
    return !levels_.empty() && levels_.back().value.kind == Value::Kind::object &&
           !levels_.back().has_key;
  }

  void count(const YAML::Mark& mark, int values) {
    values_ += values;
    if (values_ > kMostForeignValues) {
      refuse(mark, "expected at most " + std::to_string(kMostForeignValues) + " values");
    }
  }

  void keep(YAML::anchor_t anchor, const Value& value, int values) {
    if (anchor != 0) {
      anchors_[anchor] = {.value = value, .values = values};
    }
  }

  void begin_member(const std::string& key, const YAML::Mark& mark) {
    Level& level = levels_.back();
    if (!level.seen.insert(key).second) {
      level.value.erase(key);  // of a key given twice the last one counts, as PyYAML has it
    }
    level.value.members.emplace_back(key, Value());
    level.value.key_origins.push_back(origin_of(mark));
    level.has_key = true;
  }

  /// A value of the list or of the member that is open; `word` is what a key would be.
  void add(Value value, const YAML::Mark& mark, YAML::anchor_t anchor, const std::string& word) {
    value.origin = origin_of(mark);
    keep(anchor, value, 1);
    put(std::move(value), mark, word);
  }

  void put(Value value, const YAML::Mark& mark, const std::string& word) {
    if (levels_.empty()) {
      root_ = std::move(value);
      return;
    }
    Level& level = levels_.back();
    if (level.value.kind == Value::Kind::array) {
      level.value.push(std::move(value));
    } else if (level.has_key) {
      level.value.members.back().second = std::move(value);
      level.has_key = false;
    } else if (!word.empty()) {
      begin_member(word, mark);
    } else {
      refuse(mark, "expected a word as a key");
    }
  }

  void open(Value value, const YAML::Mark& mark, YAML::anchor_t anchor) {
    if (levels_.size() > kDeepest) {
      refuse(mark, "nested deeper than " + std::to_string(kDeepest) + " levels");
    }
    if (is_key_next()) {
      refuse(mark, "expected a word as a key");
    }
    const int before = values_;
    count(mark, 1);
    levels_.push_back({.value = std::move(value),
                       .mark = mark,
                       .anchor = anchor,
                       .values_before = before,
                       .seen = {}});
  }

  /// "<<: *others" stands for the members of others that the map has not itself; of several the
  /// first one's count.
  static void merge(Level& level) {
    const Value* const merged = level.seen.count("<<") > 0 ? level.value.find("<<") : nullptr;
    if (merged == nullptr) {
      return;
    }
    const Value others = *merged;
    const auto take = [&](const Value& other) {
      for (std::size_t i = 0; i < other.members.size(); ++i) {
        if (level.seen.insert(other.members[i].first).second) {
          level.value.members.push_back(other.members[i]);
          level.value.key_origins.push_back(other.key_origins[i]);
        }
      }
    };
    if (others.kind == Value::Kind::object || others.kind == Value::Kind::array) {
      level.value.erase("<<");
    }
    take(others);
    std::ranges::for_each(others.items, take);
  }

  void close() {
    Level level = std::move(levels_.back());
    levels_.pop_back();
    level.value.origin = origin_of(level.mark);
    merge(level);
    keep(level.anchor, level.value, values_ - level.values_before);
    put(std::move(level.value), level.mark, "");
  }

  /// Quoted words are texts; yaml-cpp marks them by the tag "!".
  [[nodiscard]] Value scalar_of(const YAML::Mark& mark,
                                const std::string& tag,
                                const std::string& word) const {
    if (tag == "!") {
      return word;
    }
    if (is_one_of(word, kNulls)) {
      return {};
    }
    if (is_one_of(word, kTrue) || is_one_of(word, kFalse)) {
      return is_one_of(word, kTrue);
    }
    if (is_one_of(word, kNotFinite)) {
      refuse(mark, word + ": expected a finite number");
    }
    return number_of(word, mark);
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
  Value root_;
  std::vector<Level> levels_;
  std::unordered_map<YAML::anchor_t, Anchored> anchors_;
  int values_ = 0;
};

}  // namespace

Document parse_yaml(std::string_view text, std::string source_name) {
  YamlConverter converter(source_name);
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    parser.HandleNextDocument(converter);
    return {.root = std::move(converter).take(), .sources = {std::move(source_name)}};
  } catch (const YAML::Exception& error) {
    converter.refuse(error.mark, "not valid YAML: " + error.msg);
  }
}

}  // namespace titer
