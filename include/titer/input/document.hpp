#pragma once
// JSON text as a tree of values that remember where they were written. The same tree is built by
// hand to write JSON. This room is the only one that knows the JSON library.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace titer {

/// Where a value was written: a source of its Document, and line and column from 1 (0: no line,
/// as for a value given on the command line).
struct Origin {
  int source = -1;
  int line = 0;
  int column = 0;
};

/// One JSON value. Object members keep their order; a number remembers whether it is an integer.
struct Value {
  enum class Kind { null, boolean, number, text, array, object };

  Value() = default;
  Value(bool value) : kind(Kind::boolean), boolean(value) {}              // NOLINT: a JSON literal
  Value(double value) : kind(Kind::number), number(value) {}              // NOLINT
  Value(std::int64_t value);                                              // NOLINT
  Value(int value) : Value(static_cast<std::int64_t>(value)) {}           // NOLINT
  Value(std::string value) : kind(Kind::text), text(std::move(value)) {}  // NOLINT
  Value(std::string_view value) : Value(std::string(value)) {}            // NOLINT
  Value(const char* value) : Value(std::string(value)) {}                 // NOLINT

  [[nodiscard]] static Value make_array();
  [[nodiscard]] static Value make_object();

  /// The member called `key`, or nullptr. REQUIRES nothing: on a non-object it is nullptr.
  [[nodiscard]] const Value* find(std::string_view key) const;
  [[nodiscard]] Value* find(std::string_view key);
  /// The value at a dotted path below ("plan.tensor", "axes.0.values"; "" is this one), or nullptr.
  [[nodiscard]] const Value* at(std::string_view path) const;
  [[nodiscard]] Value* at(std::string_view path);
  /// Appends a member and returns *this, to chain. REQUIRES an object without that key.
  Value& add(std::string key, Value value);
  /// Takes away the member called `key`, if there is one, and the place of its key.
  void erase(std::string_view key);
  /// Appends an element and returns *this. REQUIRES an array.
  Value& push(Value value);

  Kind kind = Kind::null;
  bool boolean = false;
  bool is_integer = false;
  std::int64_t integer = 0;
  double number = 0.0;  // also set for integers
  std::string text;
  std::vector<Value> items;                            // array elements
  std::vector<std::pair<std::string, Value>> members;  // object members, in written order
  std::vector<Origin> key_origins;                     // of `members`, same order
  Origin origin;
};

/// A tree and the names of the sources its values come from.
struct Document {
  Value root;
  std::vector<std::string> sources;  // Origin::source indexes this

  /// "run.json:7:15", or just the source's name when there is no line; "" when unknown.
  [[nodiscard]] std::string where(Origin origin) const;
  /// The root's, see Value::at.
  [[nodiscard]] const Value* at(std::string_view path) const { return root.at(path); }
};

/// "path.key" ("key" alone where the path is empty), escaped so that it stays on one line.
[[nodiscard]] std::string join_path(std::string_view path, std::string_view key);

/// Nesting of a document: no deeper.
inline constexpr std::size_t kDeepest = 200;

/// Parses JSON text (// and /* */ comments allowed). Throws InputError with the place of a syntax
/// error, a duplicate key, a number that is not finite, or nesting deeper than kDeepest.
[[nodiscard]] Document parse_json(std::string_view text, std::string source_name);

/// Moves `other`'s tree into `into` (sources re-indexed) and returns the value.
[[nodiscard]] Value adopt(Document& into, Document other);

/// JSON text of a value: keys in order, shortest round-trip numbers, `indent` spaces (0: one line).
[[nodiscard]] std::string to_json(const Value& value, int indent = 2);
/// As a person would write it: a text without quotes, another value as JSON on one line.
[[nodiscard]] std::string bare_text(const Value& value);

/// One value to put into a document, as `--set` does, and where it was given.
struct Assignment {
  std::string path;  // dotted
  Value value;
  std::string source;  // "--set plan.tensor=8"
};
/// Splits "plan.tensor=8", given with that option: the value is JSON if it parses as JSON,
/// otherwise text.
[[nodiscard]] Assignment parse_assignment(std::string_view text, std::string_view option = "--set");
[[nodiscard]] std::vector<Assignment> parse_assignments(std::span<const std::string> texts,
                                                        std::string_view option = "--set");
/// Puts the value at its path, adding objects on the way. Throws InputError where there is none.
void assign(Document& document, const Assignment& assignment);

}  // namespace titer
