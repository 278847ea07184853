// What the text of a setting refers to: variables of the shell, and other settings.

#include <algorithm>
#include <cctype>

#include "titer/import/settings.hpp"
#include "titer/input/words.hpp"
#include "titer/units/number_text.hpp"

namespace titer {
namespace {

constexpr int kDeepestReference = 20;
constexpr int kMostReferences = 10'000;

bool is_name(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, is_of_name);
}

/// One past the bracket that closes the one before `from`; npos if none does.
std::size_t end_of_brackets(std::string_view text, std::size_t from) {
  int depth = 1;
  for (std::size_t i = from; i < text.size(); ++i) {
    depth += text[i] == '{' ? 1 : (text[i] == '}' ? -1 : 0);
    if (depth == 0) {
      return i + 1;
    }
  }
  return std::string_view::npos;
}

/// What is referred to by the $ there: of $NAME and ${…} the part inside; "" where that is nothing.
std::string_view reference_at(std::string_view text, std::size_t dollar) {
  const std::string_view rest = text.substr(dollar + 1);
  if (rest.starts_with('{')) {
    const std::size_t end = end_of_brackets(rest, 1);
    return end == std::string_view::npos ? std::string_view() : rest.substr(1, end - 2);
  }
  const auto end = std::find_if_not(rest.begin(), rest.end(), is_of_name);
  return rest.substr(0, static_cast<std::size_t>(end - rest.begin()));
}

/// The places of commas outside brackets, and the end.
std::vector<std::size_t> ends_of_parts(std::string_view text) {
  std::vector<std::size_t> ends;
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    depth += text[i] == '{' ? 1 : (text[i] == '}' ? -1 : 0);
    if (text[i] == ',' && depth == 0) {
      ends.push_back(i);
    }
  }
  ends.push_back(text.size());
  return ends;
}

std::optional<double> plain_number(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  return number_of_text<double>(text);
}

}  // namespace

std::optional<std::string> Settings::expand(const std::string& text, Entry& entry, int depth) {
  if (text == "???" || depth > kDeepestReference || text.find("$(") != std::string::npos ||
      text.find('`') != std::string::npos) {
    entry.missing = text;
    return std::nullopt;
  }
  std::string made;
  std::size_t next = 0;
  for (std::size_t dollar = text.find('$'); dollar != std::string::npos;
       dollar = text.find('$', next)) {
    made += text.substr(next, dollar - next);
    const std::string_view inside = reference_at(text, dollar);
    if (inside.empty()) {
      return text;  // refers to nothing
    }
    const std::optional<std::string> value = refer(inside, entry, depth);
    if (!value) {
      entry.missing = text;
      return std::nullopt;
    }
    made += *value;
    next = dollar + inside.size() + (text[dollar + 1] == '{' ? 3 : 1);
  }
  return made + text.substr(next);
}

std::optional<std::string> Settings::refer(std::string_view inside, Entry& entry, int depth) {
  if (++references_ > kMostReferences) {
    return std::nullopt;
  }
  const std::size_t otherwise = std::min(inside.find(":-"), inside.size());
  const std::string_view name = inside.substr(0, otherwise);
  if (is_name(name)) {
    if (const auto found = options_.defines.find(name); found != options_.defines.end()) {
      return found->second;
    }
    if (otherwise < inside.size()) {
      return expand(std::string(inside.substr(otherwise + 2)), entry, depth + 1);
    }
  }
  if (auto surroundings = of_environment(inside, entry, depth)) {
    return surroundings;
  }
  return inside.find(':') != std::string_view::npos ? compute(inside, entry, depth)
                                                    : configured(inside, entry, depth);
}

/// ${NAME:otherwise} of Primus and ${oc.env:NAME,otherwise} of OmegaConf.
std::optional<std::string> Settings::of_environment(std::string_view inside,
                                                    Entry& entry,
                                                    int depth) {
  constexpr std::string_view resolver = "oc.env:";
  const bool is_resolved = inside.starts_with(resolver);
  const std::string_view told = is_resolved ? inside.substr(resolver.size()) : inside;
  const std::size_t end = std::min(told.find(is_resolved ? ',' : ':'), told.size());
  const std::string_view name = told.substr(0, end);
  const bool is_variable = is_name(name) && std::ranges::none_of(name, [](char c) {
                             return std::islower(static_cast<unsigned char>(c)) != 0;
                           });
  if (!is_variable || end == told.size()) {
    return std::nullopt;
  }
  if (const auto found = options_.defines.find(name); found != options_.defines.end()) {
    return found->second;
  }
  return expand(std::string(told.substr(end + 1)), entry, depth + 1);
}

/// multiply:a,b and sum:a,b.
std::optional<std::string> Settings::compute(std::string_view inside, Entry& entry, int depth) {
  const std::size_t colon = inside.find(':');
  const std::string_view operation = inside.substr(0, colon);
  const bool is_product = operation == "multiply";
  if (!is_product && operation != "sum") {
    return std::nullopt;
  }
  const std::string_view rest = inside.substr(colon + 1);
  double result = is_product ? 1.0 : 0.0;
  std::size_t begin = 0;
  for (const std::size_t end : ends_of_parts(rest)) {
    const auto part = expand(std::string(rest.substr(begin, end - begin)), entry, depth + 1);
    const auto number = part ? plain_number(*part) : std::nullopt;
    if (!number) {
      return std::nullopt;
    }
    result = is_product ? result * *number : result + *number;
    begin = end + 1;
  }
  return to_json(Value(static_cast<std::int64_t>(result)), 0);
}

/// Another setting: ".key" beside this one, "..key" one further out, "path.to.key" from the root.
/// A launcher puts a file below a key of its own: the first key of a path may be that.
std::optional<std::string> Settings::configured(std::string_view path, Entry& entry, int depth) {
  std::string base;
  if (path.starts_with('.')) {
    base = entry.path;
    while (path.starts_with('.')) {
      path.remove_prefix(1);
      const std::size_t dot = base.rfind('.');
      base.resize(dot == std::string::npos ? 0 : dot);
    }
    base += base.empty() ? "" : ".";
  }
  const Value* value = document_.at(base + std::string(path));
  if (const std::size_t dot = path.find('.'); value == nullptr && dot != std::string_view::npos) {
    value = document_.at(path.substr(dot + 1));
  }
  if (value == nullptr || value->kind == Value::Kind::null) {
    return std::nullopt;
  }
  Entry other{.path = base + std::string(path), .value = value, .origin = value->origin};
  return expand(bare_text(*value), other, depth + 1);
}

}  // namespace titer
