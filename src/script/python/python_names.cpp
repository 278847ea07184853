#include "titer/script/python/python_names.hpp"

#include <algorithm>

#include "python_conditions.hpp"
#include "titer/input/reader.hpp"
#include "titer/input/words.hpp"
#include "titer/script/foreign_text.hpp"
#include "titer/units/lists.hpp"

namespace titer {
namespace {

std::string_view unquoted(std::string_view text) {
  const bool is_quoted = text.size() > 1 && (text.front() == '"' || text.front() == '\'') &&
                         text.back() == text.front();
  return is_quoted ? text.substr(1, text.size() - 2) : std::string_view();
}

/// The brackets of a text that is nothing but the call of one of these.
std::optional<std::string_view> inside_of(std::string_view text,
                                          std::initializer_list<std::string_view> names) {
  const std::size_t open = end_of_path(text, 0);
  const bool is_call = open < text.size() && text[open] == '(' && text.back() == ')' &&
                       includes(names, text.substr(0, open));
  return is_call ? std::optional(text.substr(open + 1, text.size() - open - 2)) : std::nullopt;
}

/// Whether it is a question, and no value: of what there is, or joined by "and" or "not".
bool asks(std::string_view text) {
  return text.ends_with("()") || text.starts_with("not ") || text.find(" and ") != text.npos;
}

/// Brackets around one expression, which are no tuple.
bool is_wrapped(std::string_view text) {
  return is_in_brackets(text) && places_of(text.substr(1, text.size() - 2), ",").empty();
}

/// "a = f()" of "a, b = f()".
std::string without_second(const std::string& statement) {
  const std::size_t comma = end_of_path(statement, 0);
  const std::size_t equals = statement.find('=');
  const bool is_pair = comma > 0 && comma < statement.size() && statement[comma] == ',' &&
                       equals != std::string::npos && statement.find_first_of("([{\"'") > equals;
  return is_pair ? statement.substr(0, comma) + " " + statement.substr(equals) : statement;
}

/// The place of the quote that closes the one there.
std::size_t end_of_quote(std::string_view text, std::size_t open) {
  std::size_t end = open + 1;
  while (end < text.size() && text[end] != text[open]) {
    end += text[end] == '\\' ? 2 : 1;
  }
  return end;
}

/// Where the name begins that ends there.
std::size_t begin_of_path(std::string_view text, std::size_t end) {
  while (end > 0 && (is_of_name(text[end - 1]) || text[end - 1] == '.')) {
    --end;
  }
  return end;
}

}  // namespace

std::vector<PythonCall> calls_in(std::string_view text) {
  std::vector<PythonCall> calls;
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"' || c == '\'') {
      i = end_of_quote(text, i);
    } else if (c == '(') {
      open.push_back(i);
    } else if (c == ')' && !open.empty()) {
      const std::size_t begin = begin_of_path(text, open.back());
      calls.push_back({.name = text.substr(begin, open.back() - begin),
                       .inside = text.substr(open.back() + 1, i - open.back() - 1)});
      open.pop_back();
    }
  }
  return calls;
}

bool PythonNames::add(const Statement& statement) {
  if (statement.indent == 0) {
    enter_class(statement);
  }
  if (statement.text.starts_with("def ")) {
    add_parameters(statement.text, statement.at);
    return false;
  }
  for (const PythonCall& call : calls_in(statement.text)) {
    if (call.name.ends_with(".add_argument")) {
      add_argument(call, statement.at);
    }
  }
  const std::string text = without_second(statement.text);
  const auto found = assigned(text);
  if (!found) {
    return false;
  }
  if (add_parsed(*found)) {
    return true;
  }
  if (add_made(*found, statement.at)) {
    return false;
  }
  class_indent_ = !class_.empty() && class_indent_ == 0 ? statement.indent : class_indent_;
  const bool is_member = !class_.empty() && statement.indent == class_indent_;
  const std::string name = is_member ? class_ + "." + found->path : found->path;
  const auto told = defined(found->path);
  constants_[name] = told ? *told : value(found->value, statement.at);
  return false;
}

void PythonNames::enter_class(const Statement& statement) {
  constexpr std::string_view word = "class ";
  const std::string_view text = statement.text;
  class_ = text.starts_with(word)
               ? std::string(text.substr(word.size(), end_of_path(text, word.size()) - word.size()))
               : "";
  class_indent_ = 0;
}

void PythonNames::add_argument(const PythonCall& call, Origin at) {
  std::string name;
  for (const std::string_view part : parts_of(call.inside, ',')) {
    const std::string_view flag = unquoted(part);
    if (flag.starts_with("--") || (name.empty() && !flag.empty() && !flag.starts_with('-'))) {
      name = flag.substr(std::min(flag.find_first_not_of('-'), flag.size()));
    }
  }
  std::ranges::replace(name, '-', '_');
  std::optional<Value> usual;
  for (const auto& [key, given] : arguments(call.inside, at)) {
    if (key == "dest" && given.kind == Value::Kind::text) {
      name = given.text;
    } else if (key == "default") {
      usual = given;
    } else if (key == "action" && given.text.starts_with("store_") && !usual) {
      usual = Value(given.text == "store_false");
    }
  }
  if (const auto told = defined(name)) {
    own_arguments_[name] = *told;
  } else if (usual) {
    own_arguments_[name] = *usual;
  }
}

/// Of "def train(model, batch: int = 4):" what is left out counts.
void PythonNames::add_parameters(std::string_view text, Origin at) {
  const std::vector<PythonCall> calls = calls_in(text);
  if (calls.empty()) {
    return;
  }
  for (const std::string_view parameter : parts_of(calls.back().inside, ',')) {
    const auto usual = assigned(parameter);
    if (usual && constants_.find(usual->path) == constants_.end()) {
      const auto told = defined(usual->path);
      constants_[usual->path] = told ? *told : value(usual->value, at);
    }
  }
}

/// "args = parser.parse_args()".
bool PythonNames::add_parsed(const AssignedName& found) {
  const bool parses = found.value.find("parse_args(") != found.value.npos ||
                      found.value.find("parse_known_args(") != found.value.npos;
  if (!parses) {
    return false;
  }
  for (const auto& [name, usual] : own_arguments_) {
    constants_[found.path + "." + name] = usual;
  }
  return !own_arguments_.empty();
}

/// "config = Config(batch=4)" of a class of the file.
bool PythonNames::add_made(const AssignedName& found, Origin at) {
  const std::vector<PythonCall> calls = calls_in(found.value);
  if (calls.size() != 1 || calls.front().name.empty() ||
      !found.value.starts_with(calls.front().name)) {
    return false;
  }
  const std::string prefix = std::string(calls.front().name) + ".";
  PythonConstants made;
  for (auto one = constants_.lower_bound(prefix);
       one != constants_.end() && one->first.starts_with(prefix);
       ++one) {
    made[found.path + "." + one->first.substr(prefix.size())] = one->second;
  }
  if (made.empty()) {
    return false;
  }
  for (const auto& [key, given] : arguments(calls.front().inside, at)) {
    made[found.path + "." + key] = given;
  }
  for (auto& [name, member] : made) {
    constants_[name] = std::move(member);
  }
  return true;
}

std::optional<Value> PythonNames::defined(std::string_view name) const {
  const auto found = defines_.find(name);
  return found == defines_.end() ? std::nullopt : std::optional(parse_yaml(found->second, "").root);
}

std::vector<std::pair<std::string, Value>> PythonNames::arguments(std::string_view inside,
                                                                  Origin at) const {
  std::vector<std::pair<std::string, Value>> made;
  for (const std::string_view part : parts_of(inside, ',')) {
    if (part.starts_with("**")) {
      const Value others = value(part.substr(2), at);
      for (const auto& [key, given] : others.members) {
        made.emplace_back(key, given);
      }
    } else if (const auto named = assigned(part)) {
      made.emplace_back(named->path, value(named->value, at));
    }
  }
  return made;
}

Value PythonNames::value(std::string_view text, Origin at) const {
  constexpr int deepest = 20;
  if (depth_ == deepest) {
    return Value("$(" + std::string(text) + ")");
  }
  ++depth_;
  Value made = told(text, at);
  --depth_;
  return made;
}

/// field(default=8)
std::optional<Value> PythonNames::default_of_field(std::string_view text, Origin at) const {
  if (const auto inner = inside_of(text, {"field", "dataclasses.field"})) {
    for (auto& [key, given] : arguments(*inner, at)) {
      if (key == "default") {
        return std::move(given);
      }
    }
  }
  return std::nullopt;
}

Value PythonNames::told(std::string_view text, Origin at) const {
  text = without_spaces(chosen_of(text, constants_));
  while (is_wrapped(text)) {
    text = without_spaces(chosen_of(text.substr(1, text.size() - 2), constants_));
  }
  if (const auto inner = inside_of(text, {"int", "float", "str", "bool", "list", "tuple"})) {
    return value(*inner, at);
  }
  if (auto usual = default_of_field(text, at)) {
    return *std::move(usual);
  }
  if (const auto inner = inside_of(text, {"dict"})) {
    Value made = Value::make_object();
    for (auto& [key, given] : arguments(*inner, at)) {
      made.add(key, std::move(given));
      made.key_origins.back() = at;
    }
    return made;
  }
  if (asks(text)) {
    if (const auto answer = decided(text, constants_)) {
      return Value(*answer);
    }
  }
  if (text.starts_with('{') && text.ends_with('}')) {
    return dictionary(text.substr(1, text.size() - 2), at);
  }
  if (auto found = item(text, at)) {
    return *std::move(found);
  }
  return value_of(constants_, text, at);
}

/// name["key"], name.get("key", usual), and what the environment would tell.
std::optional<Value> PythonNames::item(std::string_view text, Origin at) const {
  const std::size_t open = end_of_path(text, 0);
  const bool is_item = open > 0 && open < text.size() && (text[open] == '[' || text[open] == '(');
  if (!is_item) {
    return std::nullopt;
  }
  const std::string_view name = text.substr(0, open);
  const std::vector<std::string_view> parts =
      parts_of(text.substr(open + 1, text.size() - open - 2), ',');
  const std::string_view key = parts.empty() ? std::string_view() : unquoted(parts.front());
  const std::string_view usual = parts.size() > 1 ? parts[1] : std::string_view();
  if (name == "os.environ.get" || name == "os.getenv") {
    const auto told = defined(key);
    return told ? *told : value(usual, at);
  }
  constexpr std::string_view getter = ".get";
  if (text[open] == '[') {
    return member(name, key);
  }
  const std::string_view object =
      name.substr(0, name.size() - std::min(name.size(), getter.size()));
  const bool gets = name.ends_with(getter) && constants_.find(object) != constants_.end();
  const auto found = gets ? member(object, key) : std::nullopt;
  return found || !gets ? found : std::optional(value(usual, at));
}

std::optional<Value> PythonNames::member(std::string_view name, std::string_view key) const {
  const auto object = constants_.find(name);
  const Value* const found = object == constants_.end() ? nullptr : object->second.find(key);
  return found == nullptr ? std::nullopt : std::optional(*found);
}

Value PythonNames::dictionary(std::string_view inside, Origin at) const {
  Value made = Value::make_object();
  made.origin = at;
  for (const std::string_view part : parts_of(inside, ',')) {
    const std::vector<std::size_t> colons = places_of(part, ":");
    const std::string key(colons.empty()
                              ? std::string_view()
                              : unquoted(without_spaces(part.substr(0, colons.front()))));
    if (!key.empty() && made.find(key) == nullptr) {
      made.add(key, value(part.substr(colons.front() + 1), at));
      made.key_origins.back() = at;
    }
  }
  return made;
}

}  // namespace titer
