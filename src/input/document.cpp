#include "titer/input/document.hpp"

#include <algorithm>
#include <cmath>

#include <nlohmann/json.hpp>

#include "titer/input/reader.hpp"
#include "titer/units/ensure.hpp"
#include "titer/units/number_text.hpp"

namespace titer {
namespace {

using Json = nlohmann::ordered_json;

Json to_library(const Value& value) {
  switch (value.kind) {
    case Value::Kind::null:
      return nullptr;
    case Value::Kind::boolean:
      return value.boolean;
    case Value::Kind::number:
      ensure(value.is_integer || std::isfinite(value.number), "a number written as JSON is finite");
      return value.is_integer ? Json(value.integer) : Json(value.number);
    case Value::Kind::text:
      return value.text;
    case Value::Kind::array: {
      Json array = Json::array();
      for (const Value& item : value.items) {
        array.push_back(to_library(item));
      }
      return array;
    }
    case Value::Kind::object: {
      Json object = Json::object();
      // Straight into the map's vector: its own insertion searches all keys each time.
      auto& members = object.get_ref<Json::object_t&>();
      for (const auto& [key, member] : value.members) {
        members.emplace_back(key, to_library(member));
      }
      return object;
    }
  }
  ensure(false, "a JSON value is of a known kind");
  return nullptr;
}

/// Source i becomes source now[i].
void renumber_sources(Value& value, const std::vector<int>& now) {
  const auto renumber = [&](Origin& origin) {
    origin.source = origin.source < 0 ? -1 : now[static_cast<std::size_t>(origin.source)];
  };
  renumber(value.origin);
  std::ranges::for_each(value.key_origins, renumber);
  for (Value& item : value.items) {
    renumber_sources(item, now);
  }
  for (auto& member : value.members) {
    renumber_sources(member.second, now);
  }
}

const Value* element(const Value& array, std::string_view digits) {
  const auto index = number_of_text<std::size_t>(digits);
  return index && *index < array.items.size() ? &array.items[*index] : nullptr;
}

}  // namespace

Value::Value(std::int64_t value)
    : kind(Kind::number), is_integer(true), integer(value), number(static_cast<double>(value)) {}

Value Value::make_array() {
  Value array;
  array.kind = Kind::array;
  return array;
}

Value Value::make_object() {
  Value object;
  object.kind = Kind::object;
  return object;
}

const Value* Value::find(std::string_view key) const {
  for (const auto& [name, member] : members) {
    if (name == key) {
      return &member;
    }
  }
  return nullptr;
}

Value* Value::find(std::string_view key) {
  return const_cast<Value*>(std::as_const(*this).find(key));
}

const Value* Value::at(std::string_view path) const {
  const Value* value = this;
  while (value != nullptr && !path.empty()) {
    const std::size_t dot = std::min(path.find('.'), path.size());
    const std::string_view step = path.substr(0, dot);
    value = value->kind == Kind::array ? element(*value, step) : value->find(step);
    path.remove_prefix(std::min(dot + 1, path.size()));
  }
  return value;
}

Value* Value::at(std::string_view path) {
  return const_cast<Value*>(std::as_const(*this).at(path));
}

Value& Value::add(std::string key, Value value) {
  ensure(kind == Kind::object, "members are added to an object");
  ensure(find(key) == nullptr, "an object has each key once");
  members.emplace_back(std::move(key), std::move(value));
  key_origins.emplace_back();
  return *this;
}

void Value::erase(std::string_view key) {
  const auto member =
      std::ranges::find_if(members, [&](const auto& known) { return known.first == key; });
  if (member != members.end()) {
    key_origins.erase(key_origins.begin() + (member - members.begin()));
    members.erase(member);
  }
}

Value& Value::push(Value value) {
  ensure(kind == Kind::array, "elements are pushed to an array");
  items.push_back(std::move(value));
  return *this;
}

std::string Document::where(Origin origin) const {
  if (origin.source < 0 || static_cast<std::size_t>(origin.source) >= sources.size()) {
    return "";
  }
  const std::string& name = sources[static_cast<std::size_t>(origin.source)];
  if (origin.line == 0) {
    return name;
  }
  return name + ":" + std::to_string(origin.line) + ":" + std::to_string(origin.column);
}

std::string join_path(std::string_view path, std::string_view key) {
  const bool is_plain = std::ranges::all_of(
      key, [](char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; });
  if (is_plain) {
    std::string joined(path);
    joined += path.empty() ? "" : ".";
    return joined += key;
  }
  const std::string quoted = to_json(Value(key), 0);
  const std::string escaped = quoted.substr(1, quoted.size() - 2);
  return path.empty() ? escaped : std::string(path) + "." + escaped;
}

Value adopt(Document& into, Document other) {
  std::vector<int> now;
  for (std::string& source : other.sources) {
    const auto known = std::ranges::find(into.sources, source);
    now.push_back(static_cast<int>(known - into.sources.begin()));
    if (known == into.sources.end()) {
      into.sources.push_back(std::move(source));
    }
  }
  renumber_sources(other.root, now);
  return std::move(other.root);
}

std::string to_json(const Value& value, int indent) {
  // Text from a command line may hold bytes that are not UTF-8; they become U+FFFD.
  return to_library(value).dump(
      indent > 0 ? indent : -1, ' ', false, Json::error_handler_t::replace);
}

std::string bare_text(const Value& value) {
  return value.kind == Value::Kind::text ? value.text : to_json(value, 0);
}

}  // namespace titer
