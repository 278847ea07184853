#include "titer/ask/option.hpp"

#include <algorithm>
#include <cmath>

#include "titer/input/shipped_data.hpp"

namespace titer {
namespace {

bool is_text(const Value& value) { return value.kind == Value::Kind::text; }

/// The value, unless it is left out; one that is wrong is told.
const Value* value_of(const OptionWords& own, Reader& in) {
  const Value* value = in.raw(own.key);
  const bool is_there = value != nullptr && value->kind != Value::Kind::null;
  if (!is_there && own.is_needed) {
    in.fail(own.key, "missing; expected " + std::string(own.about));
  }
  return is_there ? value : nullptr;
}

bool is_object(const Value& value) { return value.kind == Value::Kind::object; }

/// Where the first of several texts between commas ends; commas of JSON end none.
std::size_t end_of_first(std::string_view texts) {
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const char c = texts[i];
    if (quoted) {
      i += c == '\\' ? 1 : 0;
      quoted = c != '"';
    } else if (c == ',' && depth == 0) {
      return i;
    } else if (c == '"') {
      quoted = depth > 0;
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if (c == '}' || c == ']') {
      --depth;
    }
  }
  return texts.size();
}

/// Adds what a text has between its commas.
void split(std::string_view text, std::vector<std::string>& list) {
  while (!text.empty()) {
    list.emplace_back(text.substr(0, end_of_first(text)));
    text.remove_prefix(std::min(text.size(), list.back().size() + 1));
  }
}

}  // namespace

std::string dashed(const OptionWords& option) {
  std::string name = "--" + std::string(option.key);
  std::ranges::replace(name, '_', '-');
  return name;
}

std::string told(const OptionWords& option, const Document& whole) {
  const bool is_typed = !whole.sources.empty() && whole.sources.front().starts_with("titer ");
  return is_typed ? dashed(option) : std::string(option.key);
}

void check_beside(const OptionWords& own, Reader& in) {
  const auto is_there = [&](std::string_view key) {
    const Value* value = in.raw(key);
    return value != nullptr && value->kind != Value::Kind::null;
  };
  if (!own.beside.empty() && is_there(own.key) && !is_there(own.beside)) {
    in.fail(own.key, "expected only beside " + std::string(own.beside));
  }
}

std::optional<std::string> read_text(const OptionWords& own, Reader& in) {
  const Value* value = value_of(own, in);
  if (value != nullptr && !is_text(*value)) {
    in.fail(own.key, "expected a text");
    return std::nullopt;
  }
  return value == nullptr ? std::nullopt : std::optional(value->text);
}

std::optional<std::string> read_named(const OptionWords& own, Reader& in) {
  const Value* value = in.raw(own.key);
  return value != nullptr && is_object(*value) ? to_json(*value, 0) : read_text(own, in);
}

std::optional<std::vector<std::string>> read_texts(const OptionWords& own, Reader& in) {
  const Value* value = value_of(own, in);
  if (value == nullptr) {
    return std::nullopt;
  }
  if (is_text(*value)) {
    return std::vector{value->text};
  }
  if (value->kind != Value::Kind::array || !std::ranges::all_of(value->items, is_text)) {
    in.fail(own.key, "expected a text, or a list of texts");
    return std::nullopt;
  }
  std::vector<std::string> texts;
  std::ranges::transform(value->items, std::back_inserter(texts), &Value::text);
  return texts;
}

std::optional<std::vector<std::string>> read_list(const OptionWords& own, Reader& in) {
  const auto texts = read_texts(own, in);
  if (!texts) {
    return std::nullopt;
  }
  std::vector<std::string> list;
  std::ranges::for_each(*texts, [&](const std::string& text) { split(text, list); });
  return list;
}

std::optional<std::int64_t> read_integer(const OptionWords& own, Reader& in) {
  return value_of(own, in) == nullptr
             ? std::nullopt
             : std::optional(in.integer(own.key,
                                        static_cast<std::int64_t>(own.range.least),
                                        std::isfinite(own.range.most)
                                            ? static_cast<std::int64_t>(own.range.most)
                                            : std::numeric_limits<std::int64_t>::max()));
}

std::optional<double> read_number(const OptionWords& own, Reader& in) {
  return value_of(own, in) == nullptr
             ? std::nullopt
             : std::optional(in.number(own.key, own.range.least, own.range.most));
}

std::optional<Asked> read_asked(const OptionWords& own, Reader& in, const Document& whole) {
  const Value* value = value_of(own, in);
  if (value == nullptr) {
    return std::nullopt;
  }
  if (is_text(*value)) {
    return is_written_out(value->text) ? Asked{.what = parse_json(value->text, told(own, whole))}
                                       : Asked{.what = value->text};
  }
  if (!is_object(*value)) {
    in.fail(own.key, "expected a name, or an object as its file holds it");
    return std::nullopt;
  }
  return Asked{.what = Document{.root = *value, .sources = whole.sources}};
}

std::vector<Assignment> read_changes(const OptionWords& own, Reader& in) {
  const Value* value = value_of(own, in);
  if (value == nullptr) {
    return {};
  }
  if (!is_object(*value)) {
    const auto texts = read_texts(own, in);
    return texts ? parse_assignments(*texts, dashed(own)) : std::vector<Assignment>();
  }
  std::vector<Assignment> changes;
  for (const auto& [path, member] : value->members) {
    changes.push_back({.path = path,
                       .value = member,
                       .source = std::string(own.key) + " " + path + "=" + bare_text(member)});
  }
  return changes;
}

// Keys of a scenario read no texts for numbers.
std::optional<Assignment> read_change(std::string_view path, const OptionWords& own, Reader& in) {
  const Value* value = value_of(own, in);
  if (value == nullptr) {
    return std::nullopt;
  }
  const std::string words = bare_text(*value);
  const std::string source = dashed(own) + " " + words;
  if (is_text(*value) && !is_written_out(words) && path.starts_with("training.")) {
    return parse_assignment(std::string(path) + "=" + words, dashed(own));
  }
  return Assignment{.path = std::string(path),
                    .value = is_text(*value) ? written_or_named(words, source) : *value,
                    .source = source};
}

std::optional<Assignment> read_change_of_names(std::string_view path,
                                               const OptionWords& own,
                                               Reader& in) {
  const Value* value = value_of(own, in);
  if (value == nullptr) {
    return std::nullopt;
  }
  const std::string source =
      dashed(own) + " " + (is_text(*value) ? value->text : to_json(*value, 0));
  const std::vector<Value> several =
      value->kind == Value::Kind::array ? value->items : std::vector{*value};
  Value list = Value::make_array();
  for (const Value& one : several) {
    std::vector<std::string> texts;
    split(is_text(one) ? one.text : "", texts);
    std::ranges::for_each(
        texts, [&](const std::string& text) { list.push(written_or_named(text, source)); });
    if (!is_text(one)) {
      list.push(one);
    }
  }
  return Assignment{.path = std::string(path), .value = std::move(list), .source = source};
}

}  // namespace titer
