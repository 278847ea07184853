#include "titer/input/schema.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "titer/units/blanks.hpp"
#include "titer/units/listed.hpp"
#include "titer/units/lists.hpp"

namespace titer::schema {
namespace {

constexpr std::string_view kMember = "NAME";       // in paths: any of an object of equal parts
constexpr std::string_view kElement = "N";         // in paths: any of a list
constexpr double kMostExact = 9007199254740992.0;  // 2^53

Value limit(double bound) {
  const bool whole = std::trunc(bound) == bound && std::abs(bound) <= kMostExact;
  return whole ? Value(static_cast<std::int64_t>(bound)) : Value(bound);
}

Value typed(std::string_view type) { return Value::make_object().add("type", Value(type)); }

void add_range(Value& schema, Range range) {
  schema.add("minimum", limit(range.least));
  if (std::isfinite(range.most)) {
    schema.add("maximum", limit(range.most));
  }
}

/// A null counts as absent.
void allow_null(Value& schema) {
  if (Value* names = schema.find("enum"); names != nullptr) {
    names->push(Value());
  } else if (Value* alternatives = schema.find("anyOf"); alternatives != nullptr) {
    alternatives->push(typed("null"));
  } else if (Value* type = schema.find("type"); type != nullptr) {
    if (type->kind == Value::Kind::text) {
      *type = Value::make_array().push(*type);
    }
    type->push("null");
  }
}

bool lists(const Value* list, std::string_view word) {
  const auto is_it = [&](const Value& item) { return item.text == word; };
  return list != nullptr && std::ranges::any_of(list->items, is_it);
}

/// As a person would write it: 1 and not 1.0.
std::string code(const Value& value) {
  return "`" + bare_text(value.kind == Value::Kind::number ? limit(value.number) : value) + "`";
}

std::string range_words(const Value& schema) {
  const Value* least = schema.find("minimum");
  const Value* most = schema.find("maximum");
  std::string words = least == nullptr ? "" : fmt::format(" from {}", to_json(*least, 0));
  return words + (most == nullptr ? "" : fmt::format(" to {}", to_json(*most, 0)));
}

std::string words(const Value& schema);

std::string names_words(const Value& names) {
  std::vector<std::string> alternatives;
  for (const Value& name : names.items) {
    if (name.kind != Value::Kind::null) {
      alternatives.push_back(code(name));
    }
  }
  return listed_to_last(alternatives, " or ");
}

/// Whether it is a list of what another alternative is one of.
bool lists_another(const Value& one, const Value& schemas) {
  const Value* element = one.find("items");
  return element != nullptr && std::ranges::any_of(schemas.items, [&](const Value& other) {
           return to_json(other, 0) == to_json(*element, 0);
         });
}

std::string either_words(const Value& schemas) {
  std::vector<std::string> alternatives = each_of(schemas.items, [&](const Value& one) {
    return lists_another(one, schemas) ? "a list of such" : words(one);
  });
  std::erase(alternatives, "");
  return listed_to_last(alternatives, "; or ");
}

/// Of a schema of one type.
std::string type_words(const Value& schema) {
  const Value* written = schema.find("type");
  const Value* type = written == nullptr || written->items.empty() ? written : &written->items[0];
  const std::string_view name = type == nullptr ? std::string_view() : type->text;
  if (const Value* example = schema.find("examples"); example != nullptr && name == "string") {
    return "such as " + code(example->items.front());
  }
  if (name == "array") {
    return "a list of: " + words(*schema.find("items"));
  }
  if (name == "boolean") {
    return "`true` or `false`";
  }
  if (name == "object") {
    return "an object";
  }
  if (name == "string") {
    return lists(written, "object") ? "a name, a file or an object" : "a text";
  }
  const bool is_number = name == "integer" || name == "number";
  return is_number ? (name == "integer" ? "an integer" : "a number") + range_words(schema) : "";
}

/// What may be written, as people say it.
std::string words(const Value& schema) {
  if (const Value* names = schema.find("enum")) {
    return names_words(*names);
  }
  const Value* of = schema.find("anyOf");
  return of != nullptr ? either_words(*of) : type_words(schema);
}

std::string otherwise_of(const Value& object, const std::string& key, const Value& schema) {
  for (const std::string_view list : {"required", "x-required"}) {
    if (lists(object.find(list), key)) {
      return "required";
    }
  }
  const Value* usual = schema.find("default");
  const Value* said = schema.find("x-otherwise");
  return said != nullptr ? said->text : usual != nullptr ? code(*usual) : "none";
}

/// nullptr where it is not of an object, or of one that is written for a figure.
const Value* keys_of(const Value& schema) {
  const Value* keys = schema.find("properties");
  const bool is_figure =
      keys != nullptr && keys->find("value") != nullptr && keys->find("source") != nullptr;
  return is_figure ? nullptr : keys;
}

/// Of an object of equal parts with names of their own; nullptr of any other.
const Value* parts_of(const Value& schema) {
  const Value* parts = schema.find("additionalProperties");
  return parts != nullptr && parts->kind == Value::Kind::object ? parts : nullptr;
}

std::string below(const std::string& path, std::string_view key) {
  return path.empty() ? std::string(key) : path + "." + std::string(key);
}

void add_rows(const Value& schema, const std::string& path, std::vector<Row>& rows) {
  if (const Value* items = schema.find("items")) {
    add_rows(*items, below(path, kElement), rows);
  }
  if (const Value* members = parts_of(schema)) {
    add_rows(*members, below(path, kMember), rows);
  }
  if (const Value* alternatives = schema.find("anyOf")) {
    for (const Value& one : alternatives->items) {
      if (!lists_another(one, *alternatives)) {
        add_rows(one, path, rows);
      }
    }
  }
  const Value* keys = keys_of(schema);
  if (keys == nullptr) {
    return;
  }
  for (const auto& [key, inner] : keys->members) {
    const std::string here = below(path, key);
    Row row{.path = here,
            .value = words(inner),
            .about = inner.find("description")->text,
            .otherwise = otherwise_of(schema, key, inner)};
    const bool is_there = std::ranges::any_of(rows, [&](const Row& other) {
      return other.path == row.path && other.about == row.about;  // of another alternative
    });
    if (is_there) {
      continue;
    }
    rows.push_back(std::move(row));
    add_rows(inner, here, rows);
  }
}

/// What is at one key, be it of an alternative; nullptr if there is none.
const Value* inside(const Value& schema, std::string_view key) {
  const Value* keys = keys_of(schema);
  const Value* found = keys == nullptr ? nullptr : keys->find(key);
  found = key == kElement ? schema.find("items") : found;
  found = key == kMember ? parts_of(schema) : found;
  if (const Value* alternatives = schema.find("anyOf");
      found == nullptr && alternatives != nullptr) {
    for (const Value& one : alternatives->items) {
      found = found == nullptr ? inside(one, key) : found;
    }
  }
  return found;
}

}  // namespace

Value integer(Range range) {
  Value schema = typed("integer");
  add_range(schema, range);
  return schema;
}

Value number(Range range) {
  Value schema = typed("number");
  add_range(schema, range);
  return schema;
}

Value flag() { return typed("boolean"); }
Value text() { return typed("string"); }
Value text_like(std::string_view pattern) { return typed("string").add("pattern", pattern); }

Value named_data() {
  Value types = Value::make_array();
  return Value::make_object().add("type", std::move(types.push("string").push("object")));
}

template <class Q>
Value quantity() {
  const std::string_view words = example<Q>();
  const std::size_t quote = words.find('"') + 1;
  Value schema = typed("string");
  schema.add("pattern", "^[-+.0-9eE]+ *(" + unit_pattern<Q>() + ")$");
  schema.add("examples", Value::make_array().push(words.substr(quote, words.rfind('"') - quote)));
  return schema;
}

/// Keywords about objects say nothing of what is none.
Value figure(const Value& plain) {
  Value inside = Value::make_object();
  inside.add("value", plain).add("source", text());
  Value schema = plain;
  *schema.find("type") = Value::make_array().push(plain.find("type")->text).push("object");
  schema.add("properties", std::move(inside));
  schema.add("required", Value::make_array().push("value"));
  schema.add("additionalProperties", false);
  return schema;
}

Value one_of(std::span<const std::string_view> names) {
  Value list = Value::make_array();
  for (const std::string_view name : names) {
    list.push(name);
  }
  return Value::make_object().add("enum", std::move(list));
}

Value list_of(Value items) { return typed("array").add("items", std::move(items)); }

Value either(std::vector<Value> alternatives) {
  Value list = Value::make_array();
  list.items = std::move(alternatives);
  return Value::make_object().add("anyOf", std::move(list));
}

Value object() {
  Value free = Value::make_object();
  free.add(R"(^(\$schema|notes|format_version)$)", true);
  Value schema = typed("object");
  schema.add("properties", Value::make_object());
  schema.add("patternProperties", std::move(free));
  schema.add("additionalProperties", false);
  return schema;
}

void add_key(Value& object, Key key) {
  Value written = std::move(key.written);
  if (key.required) {
    if (object.find("required") == nullptr) {
      object.add("required", Value::make_array());
    }
    object.find("required")->push(key.key);
  } else {
    allow_null(written);
  }
  written.add("description", key.about);
  if (!key.otherwise.empty()) {
    written.add("x-otherwise", key.otherwise);
  } else if (!key.required && key.usual.kind != Value::Kind::null) {
    written.add("default", std::move(key.usual));
  }
  object.find("properties")->add(std::string(key.key), std::move(written));
}

const Value* at(const Value& schema, std::string_view path) {
  const Value* here = &schema;
  for (const std::string_view key : divided(path, ".")) {
    here = here == nullptr ? nullptr : inside(*here, key);
  }
  return here;
}

std::vector<Row> rows(const Value& schema, const std::string& path) {
  std::vector<Row> list;
  add_rows(schema, path, list);
  return list;
}

#define TITER_SCHEMA(Type) template Value quantity<Type>();
TITER_SCHEMA(Seconds)
TITER_SCHEMA(Bytes)
TITER_SCHEMA(Flops)
TITER_SCHEMA(Joules)
TITER_SCHEMA(BytesPerSecond)
TITER_SCHEMA(FlopsPerSecond)
TITER_SCHEMA(Watts)
#undef TITER_SCHEMA

}  // namespace titer::schema
