#include "shell_values.hpp"

#include <algorithm>
#include <array>

#include "shell_reference.hpp"
#include "titer/input/reader.hpp"
#include "titer/units/lists.hpp"

namespace titer::shell {
namespace {

/// "|", "&&", ";", "2>&1", ">log"; no "<pad>", which is some program's value.
bool is_end_of_command(const Text& word) {
  constexpr std::array<std::string_view, 7> signs = {"|", "||", "|&", "&", "&&", ";", ";;"};
  const std::string_view chars = word.chars;
  const std::size_t stream = std::min(chars.find_first_not_of("0123456789"), chars.size());
  return includes(signs, chars) || chars.substr(stream).starts_with('>') || chars.starts_with("&>");
}

/// Of TP=$1 the name says more than the number.
bool is_argument(const Variable& variable) {
  const std::string_view value =
      variable.is_array ? std::string_view() : std::string_view(variable.items.front().chars);
  return value.size() > 3 && value.starts_with("${") && value.ends_with('}') &&
         value.find_first_not_of("0123456789", 2) == value.size() - 1;
}

/// Of the function that is called; "" for one that it is not given, and for # how many there are.
Variable argument(const Scope& scope, std::string_view name) {
  if (name == "#") {
    return {.items = {Text::made(std::to_string(scope.arguments->size()), {})}};
  }
  const std::size_t number = std::stoul("0" + std::string(name.substr(0, 4)));
  const bool is_given = number >= 1 && number <= scope.arguments->size();
  return {.items = {is_given ? (*scope.arguments)[number - 1] : Text{}}};
}

/// Where the value begins of an item that has a name: [350M]=24; 0 for others.
std::size_t value_of_named(const Text& item) {
  const std::size_t close = item.at(0) == '[' ? item.chars.find("]=") : std::string::npos;
  return close == std::string::npos ? 0 : close + 2;
}

/// ${layers[$size]} of layers=([350M]=24 [7B]=32), the last of that name; "" where there is none.
std::optional<Variable> named_element(Scope& scope,
                                      const Variable& array,
                                      std::string_view subscript) {
  const std::string name = expand_text(scope, Text::written(subscript, {})).chars;
  if (is_open(name)) {
    return std::nullopt;
  }
  const auto found = std::find_if(array.items.rbegin(), array.items.rend(), [&](const Text& item) {
    return item.chars.compare(1, value_of_named(item) - 3, name) == 0;
  });
  return Variable{.items = {found == array.items.rend()
                                ? Text{}
                                : found->part(value_of_named(*found), found->size())}};
}

std::optional<Variable> element(Scope& scope, const Variable& array, std::string_view subscript) {
  if (has_names(array)) {
    return named_element(scope, array, subscript);
  }
  const auto index = calculate(scope, subscript);
  const bool is_there =
      index && *index >= 0 && *index < static_cast<std::int64_t>(array.items.size());
  return is_there
             ? std::optional(Variable{.items = {array.items[static_cast<std::size_t>(*index)]}})
             : std::nullopt;
}

/// ${layers[@]} of items that have names.
Variable values_of_named(const Variable& array) {
  Variable made = array;
  for (Text& item : made.items) {
    item = item.part(value_of_named(item), item.size());
  }
  return made;
}

}  // namespace

bool has_names(const Variable& array) {
  return array.is_array && !array.items.empty() &&
         std::ranges::all_of(array.items,
                             [](const Text& item) { return value_of_named(item) > 0; });
}

std::string name_of_item(const Text& item) {
  return item.chars.substr(1, value_of_named(item) - 3);
}

void refuse(const std::string& source, Origin at, const std::string& message) {
  throw InputError(source + ":" + std::to_string(at.line) + ":" + std::to_string(at.column) + ": " +
                   message);
}

const std::string* Scope::defined(std::string_view name) const {
  if (defines == nullptr) {
    return nullptr;
  }
  const auto found = defines->find(name);
  return found == defines->end() ? nullptr : &found->second;
}

const Variable* Scope::find(std::string_view name) const {
  const auto found = variables.find(name);
  return found == variables.end() ? nullptr : &found->second;
}

void Scope::set(const std::string& name, Variable value) { variables[name] = std::move(value); }

std::optional<Variable> value_of(Scope& scope, const Reference& to) {
  if (to.name.empty()) {
    return std::nullopt;
  }
  if (scope.arguments && (is_digit(to.name.front()) || to.name == "#")) {
    return argument(scope, to.name);
  }
  if (const std::string* defined = scope.defined(to.name)) {
    return Variable{.items = {Text::made(*defined, {.source = 0, .line = 1, .column = 1})}};
  }
  const Variable* const found = scope.find(to.name);
  if (found == nullptr || found->depends_on || is_argument(*found)) {
    return std::nullopt;
  }
  if (!to.subscript.empty() && to.subscript != "@" && to.subscript != "*") {
    return element(scope, *found, to.subscript);
  }
  if (found->is_array && to.subscript.empty()) {
    return Variable{.items = {found->items.empty() ? Text{} : found->items.front()}};
  }
  return has_names(*found) ? values_of_named(*found) : *found;
}

std::vector<Text> split_words(const Text& text) {
  std::vector<Text> words;
  Text word;
  bool is_word = false;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t plain =
        std::min(text.chars.find_first_of(" \t\n\v\f\r'\"\\$`", i), text.size());
    if (plain > i) {
      word.append(text.part(i, plain));
      is_word = true;
      i = plain;
      continue;
    }
    const char c = text.at(i);
    if (is_blank(c)) {
      if (is_word) {
        words.push_back(std::move(word));
      }
      word = {};
      is_word = false;
      ++i;
      continue;
    }
    const std::size_t found = end_of_group(text.chars, i);
    const bool is_group = found != std::string_view::npos;
    const std::size_t end = is_group ? found : i + 1;
    const bool is_quote = is_group && (c == '"' || c == '\'');
    word.append(is_quote ? text.part(i + 1, end - 1) : text.part(i, end));
    is_word = true;
    i = end;
  }
  if (is_word) {
    words.push_back(std::move(word));
  }
  return words;
}

bool end_command(std::vector<Text>& words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    const bool ends_after = words[i].size() > 1 && words[i].chars.ends_with(';');
    if (!ends_after && !is_end_of_command(words[i])) {
      continue;
    }
    if (ends_after) {
      words[i] = words[i].part(0, words[i].size() - 1);
    }
    words.resize(i + (ends_after ? 1 : 0));
    return true;
  }
  return false;
}

bool is_open(std::string_view text) {
  return text.find("${") != std::string_view::npos || text.find("$(") != std::string_view::npos ||
         text.find('`') != std::string_view::npos;
}

}  // namespace titer::shell
