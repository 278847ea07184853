#include "titer/import/settings.hpp"

#include <algorithm>
#include <cmath>

#include "titer/input/words.hpp"
#include "titer/units/blanks.hpp"
#include "titer/units/lists.hpp"
#include "titer/units/number_text.hpp"

namespace titer {
namespace {

constexpr std::size_t kLongestShown = 60;

std::string shown_value(const Value& value) {
  std::string text = bare_text(value);
  std::replace_if(
      text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20; }, ' ');
  return shortened(text, kLongestShown);
}

/// A number, also as 220_000_000.
std::optional<double> number_of(const Value& value) {
  if (value.kind == Value::Kind::number) {
    return value.number;
  }
  if (value.kind != Value::Kind::text) {
    return std::nullopt;
  }
  std::string digits(trimmed(value.text));
  digits.erase(std::remove(digits.begin(), digits.end(), '_'), digits.end());
  const auto number = number_of_text<double>(digits);
  return number && std::isfinite(*number) ? number : std::nullopt;
}

}  // namespace

std::string Settings::normalised(std::string_view key) {
  std::string name(key.substr(std::min(key.find_first_not_of('-'), key.size())));
  std::ranges::replace(name, '-', '_');
  return name;
}

Settings::Settings(const Document& document,
                   std::string_view section,
                   const ImportOptions& options,
                   Problems& problems)
    : document_(document), options_(options), problems_(problems), section_(section) {
  const Value* object = document.at(section);
  if (object == nullptr || object->kind != Value::Kind::object) {
    problems_.add(document.sources.front() + ": " + section_ + ": expected an object of settings");
    return;
  }
  flatten(*object, section_, "");
  // Tables of TOML come in the order of their names.
  std::ranges::stable_sort(entries_, [](const auto& a, const auto& b) {
    return a.second.origin.line < b.second.origin.line;
  });
  for (std::size_t place = 0; place < entries_.size(); ++place) {
    index_.emplace(entries_[place].first, place);
  }
}

void Settings::flatten(const Value& object, const std::string& path, const std::string& name) {
  for (std::size_t i = 0; i < object.members.size(); ++i) {
    const auto& [key, value] = object.members[i];
    has_flags_ = has_flags_ || key.starts_with("--");
    const auto below = [](const std::string& outer, const std::string& last) {
      return outer.empty() ? last : std::string(outer).append(".").append(last);
    };
    const std::string inner_path = below(path, key);
    const std::string inner = below(name, normalised(key));
    if (value.kind == Value::Kind::object && !value.members.empty()) {
      flatten(value, inner_path, inner);
    } else {
      // An object without keys asks for what null does: that of its name, by itself.
      static const Value null;
      const Value* const told = value.kind == Value::Kind::object ? &null : &value;
      entries_.push_back(
          {inner, {.path = inner_path, .value = told, .origin = object.key_origins[i]}});
    }
  }
}

/// The first of several of one name.
const Settings::Entry* Settings::find(std::string_view key) const {
  const auto found = index_.lower_bound({std::string(key), 0});
  return found == index_.end() || found->first != key ? nullptr : &entries_[found->second].second;
}

std::vector<std::size_t> Settings::places(std::string_view name, bool is_prefix) const {
  std::vector<std::size_t> found;
  for (auto next = index_.lower_bound({std::string(name), 0});
       next != index_.end() && (is_prefix ? next->first.starts_with(name) : next->first == name);
       ++next) {
    found.push_back(next->second);
  }
  std::ranges::sort(found);
  return found;
}

Settings::Entry* Settings::take(std::string_view key) {
  Entry* const entry = const_cast<Entry*>(find(key));
  if (entry != nullptr) {
    entry->asked = true;
  } else {
    absent_.emplace(key);
  }
  return entry;
}

void Settings::rename_at(std::size_t place, std::string renamed) {
  auto& [key, entry] = entries_[place];
  const Entry* const there = find(renamed);
  if (there != nullptr && there->value->kind != Value::Kind::null && there != &entry) {
    const std::optional<Value> a = resolved(key);
    const std::optional<Value> b = resolved(renamed);
    if (a && b && shown_value(*a) != shown_value(*b)) {
      problems_.add(shown(key) + ": expected the same as " + there->path + " in line " +
                    std::to_string(there->origin.line) + ", " + shown_value(*b));
    }
    entry.asked = true;
  } else if (entry.value->kind != Value::Kind::null) {
    index_.erase({key, place});
    index_.emplace(renamed, place);
    key = std::move(renamed);
  }
}

void Settings::rename(std::string_view from, std::string_view to) {
  for (const std::size_t place : places(from, from.ends_with('.'))) {
    rename_at(place, std::string(to) + entries_[place].first.substr(from.size()));
  }
}

void Settings::rename_all(std::string_view from, std::string_view to) {
  for (const std::size_t place : places(from, true)) {
    rename_at(place, std::string(to) + entries_[place].first.substr(from.size()));
  }
}

void Settings::suppose(std::string_view key, Value value) {
  supposed_.push_back(std::move(value));
  index_.emplace(key, entries_.size());
  entries_.emplace_back(
      key,
      Entry{
          .path = std::string(key), .value = &supposed_.back(), .origin = {}, .is_supposed = true});
}

void Settings::replace(std::string_view key, Value value) {
  Entry* const entry = take(key);
  if (entry == nullptr) {
    suppose(key, std::move(value));
    return;
  }
  supposed_.push_back(std::move(value));
  entry->value = &supposed_.back();
}

bool Settings::has(std::string_view key) const {
  const Entry* entry = find(key);
  return entry != nullptr && entry->value->kind != Value::Kind::null && !entry->is_told_elsewhere;
}

bool Settings::is_open(std::string_view key) const {
  const Entry* entry = find(key);
  return entry != nullptr && !entry->missing.empty();
}

std::vector<std::string> Settings::keys() const {
  return each_of(entries_, [](const auto& one) { return one.first; });
}

std::optional<Value> Settings::resolved(std::string_view key) {
  Entry* const entry = take(key);
  if (entry == nullptr || entry->value->kind == Value::Kind::null || entry->is_told_elsewhere) {
    return std::nullopt;
  }
  if (entry->value->kind != Value::Kind::text) {
    return *entry->value;
  }
  std::optional<std::string> text = expand(entry->value->text, *entry, 0);
  if (!text || *text == "None" || *text == "null") {
    return std::nullopt;
  }
  Value value(*std::move(text));
  value.origin = entry->value->origin;
  return value;
}

std::optional<double> Settings::number(std::string_view key) {
  const std::optional<Value> value = resolved(key);
  if (!value) {
    return std::nullopt;
  }
  const std::optional<double> number = number_of(*value);
  if (!number) {
    if (value->text == "auto") {
      take(key)->missing = "auto";
    } else {
      refuse(*find(key), "expected a number");
    }
  }
  return number;
}

std::optional<std::int64_t> Settings::integer(std::string_view key,
                                              std::int64_t least,
                                              std::int64_t most) {
  const std::optional<double> found = number(key);
  if (!found) {
    return std::nullopt;
  }
  if (*found != std::floor(*found) || *found < static_cast<double>(least) ||
      *found > static_cast<double>(most)) {
    refuse(*find(key),
           most == most_integer ? "expected an integer of at least " + std::to_string(least)
                                : "expected an integer from " + std::to_string(least) + " to " +
                                      std::to_string(most));
    return std::nullopt;
  }
  return static_cast<std::int64_t>(*found);
}

std::int64_t Settings::required(std::string_view key, std::int64_t least, std::int64_t most) {
  const std::optional<std::int64_t> found = integer(key, least, most);
  const Entry* const entry = find(key);
  if (!found && entry == nullptr) {
    problems_.add(shown(key) + ": missing; expected an integer");
  } else if (!found && !entry->missing.empty()) {
    problems_.add(shown(key) + ": expected an integer; --define NAME=VALUE tells what NAME is");
  } else if (!found && entry->value->kind == Value::Kind::null) {
    problems_.add(shown(key) + ": expected an integer");
  }
  return found.value_or(least);
}

std::optional<bool> Settings::flag(std::string_view key) {
  const std::optional<Value> value = resolved(key);
  if (!value) {
    return std::nullopt;
  }
  if (value->kind == Value::Kind::boolean) {
    return value->boolean;
  }
  const std::string word =
      value->kind == Value::Kind::text ? lower(trimmed(value->text)) : shown_value(*value);
  if (word == "true" || word == "1") {
    return true;
  }
  if (word == "false" || word == "0") {
    return false;
  }
  if (word == "auto") {
    take(key)->missing = word;
    return std::nullopt;
  }
  refuse(*find(key), "expected true or false");
  return std::nullopt;
}

std::string Settings::first_given(std::string_view keys) const {
  const std::vector<std::string_view> names = words_of(keys);
  const auto given = std::ranges::find_if(names, [&](std::string_view key) { return has(key); });
  return std::string(given == names.end() ? names.front() : *given);
}

bool Settings::any_on(std::initializer_list<std::string_view> keys) {
  bool any = false;
  for (const std::string_view key : keys) {
    any = is_on(key) || any;
  }
  return any;
}

std::optional<std::string> Settings::text(std::string_view key) {
  const std::optional<Value> value = resolved(key);
  if (!value) {
    return std::nullopt;
  }
  return std::string(trimmed(bare_text(*value)));
}

std::optional<std::string> Settings::word(std::string_view key) {
  std::optional<std::string> found = text(key);
  return found ? std::optional(lower(*found)) : std::nullopt;
}

const Value* Settings::raw(std::string_view key) {
  const Entry* const entry = take(key);
  return entry == nullptr || entry->value->kind == Value::Kind::null ? nullptr : entry->value;
}

std::string Settings::where(Origin origin) const {
  const std::string place = document_.where(origin);
  return place.empty() ? document_.sources.front() : place;
}

/// A flag by itself, another key with those that it is in.
std::string Settings::shown_path(const Entry& entry) const {
  return section_.empty() ? entry.path : entry.path.substr(section_.size() + 1);
}

/// How a file of this kind would write a key that it lacks.
std::string Settings::usual_path(std::string_view key) const {
  std::string path(key);
  if (has_flags_ && path.find('.') == std::string::npos) {
    std::ranges::replace(path, '_', '-');
    path.insert(0, "--");
  }
  return path;
}

std::string Settings::shown(std::string_view key) const {
  const Entry* const entry = find(key);
  if (entry == nullptr) {
    return document_.sources.front() + (key.empty() ? "" : ": " + usual_path(key));
  }
  return shown(*entry);
}

std::string Settings::shown(const Entry& entry) const {
  const bool is_bare = entry.value->kind == Value::Kind::boolean && entry.value->boolean;
  return where(entry.origin) + ": " + shown_path(entry) +
         (is_bare ? "" : ": " + shown_value(*entry.value));
}

void Settings::refuse(const Entry& entry, std::string_view expected) {
  problems_.add(where(entry.origin) + ": " + shown_path(entry) + ": " + shown_value(*entry.value) +
                ": " + std::string(expected));
}

void Settings::fail(std::string_view key, std::string_view message) {
  problems_.add(shown(key) + ": " + std::string(message));
}

}  // namespace titer
