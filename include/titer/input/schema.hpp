#pragma once
// JSON schema (draft 2020-12) of what files may hold, for editors and other programs: what the
// Reader takes of each type, and the same in words.

#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "titer/input/reader.hpp"

namespace titer {

/// From `least` to `most`, both included.
struct Range {
  double least = 0;
  double most = std::numeric_limits<double>::infinity();
};

namespace schema {

[[nodiscard]] Value integer(Range range);
[[nodiscard]] Value number(Range range);
[[nodiscard]] Value flag();
[[nodiscard]] Value text();
/// One that matches the pattern.
[[nodiscard]] Value text_like(std::string_view pattern);
template <class Q>
[[nodiscard]] Value quantity();
/// The same, or written {"value": …, "source": …}.
[[nodiscard]] Value figure(const Value& plain);
/// A name of shipped data, a file of the same, or an object of a kind of its own.
[[nodiscard]] Value named_data();
[[nodiscard]] Value one_of(std::span<const std::string_view> names);
template <class E>
[[nodiscard]] Value one_of(std::span<const Choice<E>> choices) {
  std::vector<std::string_view> names;
  for (const Choice<E>& choice : choices) {
    names.push_back(choice.name);
  }
  return one_of(std::span<const std::string_view>(names));
}
[[nodiscard]] Value list_of(Value items);
[[nodiscard]] Value either(std::vector<Value> alternatives);

/// An object without keys, but for "$schema" and "notes", which may stand in any.
[[nodiscard]] Value object();

struct Key {
  std::string_view key;
  std::string_view about;
  std::string_view otherwise{};  // in words, where it is left out
  bool required = false;
  Value written{};  // the schema of its values
  Value usual{};    // where it is left out; null: see otherwise
};
void add_key(Value& object, Key key);

/// A key at any depth below a schema, with the path from it.
struct Row {
  std::string path;  // "offload.weights"; "devices.N.speed" of a list's elements
  std::string value;
  std::string about;
  std::string otherwise;
};
/// The schema of what is at a path of a row; nullptr if there is none.
[[nodiscard]] const Value* at(const Value& schema, std::string_view path);
[[nodiscard]] std::vector<Row> rows(const Value& schema, const std::string& path = "");

}  // namespace schema

}  // namespace titer
