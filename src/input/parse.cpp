// JSON text to a Document. The JSON library checks the grammar and decodes the tokens, but tells no
// positions; a cursor walks over the same text in step with its events and knows where each began.

#include <algorithm>
#include <array>
#include <limits>
#include <set>

#include <nlohmann/json.hpp>

#include "json_number.hpp"
#include "python_words.hpp"
#include "titer/input/document.hpp"
#include "titer/input/reader.hpp"
#include "titer/units/ensure.hpp"

namespace titer {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

/// A place in the text. It relies on the library for the grammar: it is only led over tokens that
/// the library has accepted.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : text_(text) {
    if (text_.substr(0, kByteOrderMark.size()) == kByteOrderMark) {
      next_ = kByteOrderMark.size();
    }
  }

  [[nodiscard]] Origin origin() const { return {.source = 0, .line = line_, .column = column_}; }
  [[nodiscard]] bool at_end() const { return next_ >= text_.size(); }
  [[nodiscard]] char peek() const { return at_end() ? '\0' : text_[next_]; }

  void skip_byte() {
    ++column_;
    if (text_[next_] == '\n') {
      ++line_;
      column_ = 1;
    }
    ++next_;
  }
  void skip_to(std::size_t offset) {
    while (next_ < offset && !at_end()) {
      skip_byte();
    }
  }
  /// Blanks and comments. A comment that is never closed is not skipped.
  void skip_blanks() {
    std::size_t from = text_.size() + 1;
    while (from != next_) {
      from = next_;
      skip_to(std::min(text_.find_first_not_of(" \t\r\n", next_), text_.size()));
      skip_to(end_of_comment());
    }
  }
  void skip_token() {
    const char first = peek();
    if (first == '"') {
      skip_text();
    } else if (const std::size_t digits = json_number_length(text_.substr(next_)); digits > 0) {
      skip_to(next_ + digits);
    } else if (is_letter(first)) {
      while (is_letter(peek())) {
        skip_byte();
      }
    } else {
      skip_byte();
    }
  }

 private:
  /// Of true, false and null.
  [[nodiscard]] static bool is_letter(char c) { return c >= 'a' && c <= 'z'; }
  void skip_text() {
    skip_byte();
    while (peek() != '"') {
      skip_to(next_ + (peek() == '\\' ? 2 : 1));
    }
    skip_byte();
  }
  /// One past the comment that starts here; here, if none does.
  [[nodiscard]] std::size_t end_of_comment() const {
    const std::string_view two = text_.substr(std::min(next_, text_.size()), 2);
    if (two == "//") {
      return std::min(text_.find_first_of("\r\n", next_), text_.size());
    }
    const auto close = two == "/*" ? text_.find("*/", next_ + 2) : std::string_view::npos;
    return close == std::string_view::npos ? next_ : close + 2;
  }

  std::string_view text_;
  std::size_t next_ = 0;
  int line_ = 1;
  int column_ = 1;
};

/// A token that is wrong in itself, by a part of the library's message for it.
struct Fault {
  enum class Place { token, byte };
  std::string_view fragment;
  std::string_view words;
  Place place;
};
constexpr std::array kFaults = {
    Fault{"missing closing quote", "this text has no closing quote", Fault::Place::token},
    Fault{"control character",
          "a line break or control character inside a text; write it as an escape such as \\n",
          Fault::Place::byte},
    Fault{"ill-formed UTF-8", "this byte is not part of valid UTF-8", Fault::Place::byte},
    Fault{"after backslash",
          "unknown escape; expected one of \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\u",
          Fault::Place::byte},
    Fault{"4 hex digits", "expected four hexadecimal digits after \\u", Fault::Place::byte},
    Fault{"surrogate", "this \\u escape is half of a surrogate pair", Fault::Place::byte},
    Fault{"number overflow", "this number is too large", Fault::Place::token},
    Fault{"invalid number", "this number is not complete", Fault::Place::token},
    Fault{"missing closing '*/'", "this comment is not closed", Fault::Place::token},
};

/// Builds the tree from the library's events.
class Builder final : public nlohmann::json::json_sax_t {
 public:
  Builder(std::string_view text, std::string source_name)
      : cursor_(text), source_(std::move(source_name)) {}

  [[nodiscard]] Value finish() {
    cursor_.skip_blanks();
    ensure(cursor_.at_end(), "the cursor keeps step with the events");
    return std::move(root_);
  }

  /// The library takes a NUL byte for the end of the text.
  void refuse_nul(std::string_view text) {
    const std::size_t nul = text.find('\0');
    if (nul != std::string_view::npos) {
      cursor_.skip_to(nul);
      throw InputError(here() + "not valid JSON: a NUL byte; the text must be UTF-8");
    }
  }

  bool null() override { return leaf({}); }
  bool boolean(bool value) override { return leaf(value); }
  bool number_integer(number_integer_t value) override { return leaf(std::int64_t{value}); }
  bool number_unsigned(number_unsigned_t value) override {
    constexpr auto largest = std::numeric_limits<std::int64_t>::max();
    return value <= static_cast<number_unsigned_t>(largest) ? leaf(static_cast<std::int64_t>(value))
                                                            : leaf(static_cast<double>(value));
  }
  bool number_float(number_float_t value, const string_t& /*text*/) override { return leaf(value); }
  bool string(string_t& value) override { return leaf(std::move(value)); }
  bool binary(binary_t& /*value*/) override {
    ensure(false, "JSON text has no binary values");
    return false;
  }
  bool start_object(std::size_t /*size*/) override { return open(Value::make_object()); }
  bool start_array(std::size_t /*size*/) override { return open(Value::make_array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(string_t& name) override;
  bool parse_error(std::size_t position,
                   const std::string& last_token,
                   const nlohmann::detail::exception& error) override;

 private:
  /// What the text has just told, which decides what it must tell next.
  enum class After { nothing, opening, key, value };
  struct Container {
    Value* value;
    std::set<std::string> keys;
  };

  void reach_token() {
    cursor_.skip_blanks();
    while (cursor_.peek() == ',' || cursor_.peek() == ':') {
      cursor_.skip_byte();
      cursor_.skip_blanks();
    }
  }
  Value& place(Value value);
  bool leaf(Value value) {
    place(std::move(value));
    cursor_.skip_token();
    after_ = After::value;
    return true;
  }
  bool open(Value value);
  bool close() {
    reach_token();
    cursor_.skip_token();
    open_.pop_back();
    after_ = After::value;
    return true;
  }

  [[nodiscard]] bool in_object() const { return open_.back().value->kind == Value::Kind::object; }
  [[nodiscard]] std::string path_to_key() const;
  [[nodiscard]] std::string_view expectation();
  [[nodiscard]] std::string here() const {
    const Origin at = cursor_.origin();
    return source_ + ":" + std::to_string(at.line) + ":" + std::to_string(at.column) + ": ";
  }
  [[noreturn]] void refuse_syntax(std::string_view expected) const {
    std::string line = here() + "not valid JSON: expected " + std::string(expected) + " here";
    throw InputError(std::move(line += cursor_.at_end() ? ", but the text ends" : ""));
  }

  Cursor cursor_;
  std::string source_;
  Value root_;
  std::vector<Container> open_;  // from the root inwards; only the innermost one grows
  After after_ = After::nothing;
};

Value& Builder::place(Value value) {
  reach_token();
  value.origin = cursor_.origin();
  if (open_.empty()) {
    root_ = std::move(value);
    return root_;
  }
  Value& parent = *open_.back().value;
  if (in_object()) {
    parent.members.back().second = std::move(value);
    return parent.members.back().second;
  }
  parent.items.push_back(std::move(value));
  return parent.items.back();
}

bool Builder::open(Value value) {
  Value& placed = place(std::move(value));
  ensure(cursor_.peek() == '{' || cursor_.peek() == '[', "the cursor keeps step with the events");
  if (open_.size() == kDeepest) {
    throw InputError(here() + "nested deeper than " + std::to_string(kDeepest) + " levels");
  }
  cursor_.skip_token();
  open_.push_back({.value = &placed, .keys = {}});
  after_ = After::opening;
  return true;
}

bool Builder::key(string_t& name) {
  reach_token();
  ensure(cursor_.peek() == '"', "the cursor keeps step with the events");
  Value& object = *open_.back().value;
  const bool is_new = open_.back().keys.insert(name).second;
  object.members.emplace_back(std::move(name), Value());
  object.key_origins.push_back(cursor_.origin());
  if (!is_new) {
    throw InputError(here() + path_to_key() + ": this key is given twice");
  }
  cursor_.skip_token();
  after_ = After::key;
  return true;
}

/// The dotted path to the member or element that is being read.
std::string Builder::path_to_key() const {
  std::string path;
  for (const Container& container : open_) {
    const Value& value = *container.value;
    const bool is_object = value.kind == Value::Kind::object;
    path = join_path(path,
                     is_object ? value.members.back().first  //
                               : std::to_string(value.items.size() - 1));
  }
  return path;
}

/// Moves to the token that cannot stand where it stands and tells what could.
std::string_view Builder::expectation() {
  cursor_.skip_blanks();
  if (after_ == After::nothing) {
    return "a value";
  }
  if (after_ == After::opening) {
    return in_object() ? "a key in quotes or '}'" : "a value or ']'";
  }
  if (open_.empty()) {
    return "the end of the text";
  }
  if (cursor_.peek() == (after_ == After::key ? ':' : ',')) {
    cursor_.skip_byte();
    cursor_.skip_blanks();
    return after_ == After::value && in_object() ? "a key in quotes" : "a value";
  }
  if (after_ == After::key) {
    return "a ':'";
  }
  return in_object() ? "a comma or '}'" : "a comma or ']'";
}

bool Builder::parse_error(std::size_t position,
                          const std::string& /*last_token*/,
                          const nlohmann::detail::exception& error) {
  const std::string_view expected = expectation();
  std::string_view message = error.what();
  message = message.substr(0, message.find("; last read: "));  // what follows is the user's text
  for (const Fault& fault : kFaults) {
    if (message.find(fault.fragment) != std::string_view::npos) {
      if (fault.place == Fault::Place::byte) {
        cursor_.skip_to(position - 1);  // the library has just read the byte that is wrong
      }
      throw InputError(here() + "not valid JSON: " + std::string(fault.words));
    }
  }
  refuse_syntax(expected);
}

}  // namespace

Document parse_json(std::string_view text, std::string source_name) {
  const std::optional<std::string> quoted = with_quoted_words(text);
  const std::string_view json = quoted ? *quoted : text;
  Builder builder(json, source_name);
  builder.refuse_nul(json);
  constexpr auto format = nlohmann::json::input_format_t::json;
  nlohmann::json::sax_parse(json.begin(), json.end(), &builder, format, true, true);
  return {.root = builder.finish(), .sources = {std::move(source_name)}};
}

}  // namespace titer
