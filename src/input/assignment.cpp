#include "titer/input/document.hpp"

#include <algorithm>

#include "titer/input/input_error.hpp"
#include "titer/units/lists.hpp"
#include "titer/units/number_text.hpp"

namespace titer {
namespace {

std::string_view first_key(std::string_view path) { return path.substr(0, path.find('.')); }

/// The element or member of `outer` called `key`; a missing member is added, as an object. nullptr
/// if there can be none.
Value* inner_value(Value& outer, const std::string& key, Origin origin) {
  if (outer.kind == Value::Kind::array) {
    const auto index = number_of_text<std::size_t>(key);
    return index && *index < outer.items.size() ? &outer.items[*index] : nullptr;
  }
  if (outer.kind != Value::Kind::object || key.empty()) {
    return nullptr;
  }
  if (outer.find(key) == nullptr) {
    outer.add(key, Value::make_object());
    outer.key_origins.back() = origin;
    outer.find(key)->origin = origin;
  }
  return outer.find(key);
}

void set_origin(Value& value, Origin origin) {
  value.origin = origin;
  for (Value& item : value.items) {
    set_origin(item, origin);
  }
  for (auto& [key, member] : value.members) {
    set_origin(member, origin);
  }
  std::ranges::fill(value.key_origins, origin);
}

int source_index(Document& document, const std::string& source) {
  const auto known = std::ranges::find(document.sources, source);
  if (known != document.sources.end()) {
    return static_cast<int>(known - document.sources.begin());
  }
  document.sources.push_back(source);
  return static_cast<int>(document.sources.size()) - 1;
}

}  // namespace

void assign(Document& document, const Assignment& assignment) {
  const Origin origin{.source = source_index(document, assignment.source)};
  Value* here = &document.root;
  std::string_view rest = assignment.path;
  while (true) {
    const std::string key(first_key(rest));
    const bool is_leaf = key.size() == rest.size();
    here = inner_value(*here, key, origin);
    if (here == nullptr) {
      throw InputError(assignment.source + ": " + assignment.path +
                       ": expected a path of object keys, such as plan.tensor");
    }
    if (is_leaf) {
      break;
    }
    rest.remove_prefix(key.size() + 1);
  }
  *here = assignment.value;
  set_origin(*here, origin);
}

Assignment parse_assignment(std::string_view text, std::string_view option) {
  const std::size_t equals = text.find('=');
  const std::string source = std::string(option) + " " + std::string(text);
  if (equals == std::string_view::npos || equals == 0) {
    throw InputError(source + ": expected path=value, such as plan.tensor=8");
  }
  Assignment assignment;
  assignment.path = std::string(text.substr(0, equals));
  assignment.source = source;
  const std::string_view value = text.substr(equals + 1);
  try {
    assignment.value = parse_json(value, source).root;
  } catch (const InputError&) {
    if (value.starts_with('{') || value.starts_with('[')) {
      throw;
    }
    assignment.value = Value(value);  // bare text: a name, or a quantity such as 25 GB/s
  }
  return assignment;
}

std::vector<Assignment> parse_assignments(std::span<const std::string> texts,
                                          std::string_view option) {
  return each_of(texts, [&](const std::string& text) { return parse_assignment(text, option); });
}

}  // namespace titer
