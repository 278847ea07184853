// What became of each setting: used, known to be harmless, not read, left open.

#include <algorithm>

#include "titer/import/settings.hpp"
#include "titer/input/known_settings.hpp"
#include "titer/input/words.hpp"
#include "titer/units/blanks.hpp"
#include "titer/units/lists.hpp"
#include "titer/units/number_text.hpp"

namespace titer {
namespace {

/// What is null or switched off.
bool asks_for_nothing(const Value& value) {
  switch (value.kind) {
    case Value::Kind::null:
      return true;
    case Value::Kind::boolean:
      return !value.boolean;
    case Value::Kind::array:
      return value.items.empty();
    case Value::Kind::text:
      return value.text.empty() || value.text == "None" || value.text == "null";
    default:
      return false;
  }
}

/// 1.0 is 1, and True true.
bool says(const Value& value, const Value& usual) {
  const std::string written = lower(bare_text(value));
  const std::string other = lower(bare_text(usual));
  const auto a = number_of_text<double>(written);
  const auto b = number_of_text<double>(other);
  return a && b ? *a == *b : written == other;
}

/// A star at either end of a pattern stands for anything.
bool fits(std::string_view key, std::string_view pattern) {
  const bool is_open = pattern.starts_with('*');
  const bool is_prefix = pattern.ends_with('*');
  pattern = pattern.substr(is_open ? 1 : 0);
  pattern = pattern.substr(0, pattern.size() - (is_prefix ? 1 : 0));
  if (is_open) {
    return is_prefix ? key.find(pattern) != key.npos : key.ends_with(pattern);
  }
  return is_prefix ? key.starts_with(pattern) : key == pattern;
}

}  // namespace

std::string Settings::written(std::string_view key) const {
  const Entry* const entry = find(key);
  if (entry == nullptr) {
    return "";
  }
  return bare_text(*entry->value);
}

bool is_harmless(std::string_view key, std::string_view program) {
  const Value kinds = known_settings(program, "harmless");
  return std::ranges::any_of(kinds.members, [&](const auto& kind) {
    return std::ranges::any_of(kind.second.items,
                               [&](const Value& pattern) { return fits(key, pattern.text); });
  });
}

void Settings::skip(std::string_view what, std::string_view patterns) {
  for (const std::string_view pattern : words_of(patterns)) {
    skip_one(what, pattern);
  }
}

void Settings::skip_one(std::string_view what, std::string_view pattern) {
  const std::string_view begin = pattern.substr(0, pattern.find('*'));
  for (const std::size_t place : places(begin, begin.size() < pattern.size())) {
    auto& [name, entry] = entries_[place];
    if (!is_settled(entry) && fits(name, pattern)) {
      entry.harmless = what;
    }
  }
}

void Settings::skip_known(std::string_view program) {
  const Value kinds = known_settings(program, "harmless");
  for (const auto& [what, patterns] : kinds.members) {
    for (const Value& pattern : patterns.items) {
      skip_one(what, pattern.text);
    }
  }
}

void Settings::rename_known(std::string_view program) {
  const Value names = known_settings(program, "names");
  for (const auto& [theirs, ours] : names.members) {
    rename(theirs, ours.text);
  }
}

void Settings::skip_usual(std::string_view program) {
  const Value all = known_settings(program, "usual");
  for (const auto& [key, usual] : all.members) {
    for (const std::size_t place : places(key, false)) {
      Entry& entry = entries_[place].second;
      if (!is_settled(entry) && says(*entry.value, usual)) {
        entry.harmless = kUsual;
      }
    }
  }
}

bool Settings::is_skipped(std::string_view key) const {
  const Entry* const entry = find(key);
  return entry != nullptr && !entry->harmless.empty();
}

void Settings::leave_out(std::string_view key, std::string_view why) {
  if (Entry* const entry = take(key)) {
    entry->unread = why;
  }
}

void Settings::skip_told_elsewhere(std::string_view text) {
  for (auto& [key, entry] : entries_) {
    if (entry.value->kind == Value::Kind::text && entry.value->text == text) {
      entry.is_told_elsewhere = true;
      entry.harmless = "what the other settings tell";
    }
  }
}

void Settings::skip_what_is_off(std::string_view enabled) {
  std::vector<std::string> off;
  for (const auto& [key, entry] : entries_) {
    const std::size_t dot = key.rfind('.');
    const bool is_switch = dot != std::string::npos && key.substr(dot + 1) == enabled;
    if (is_switch && entry.value->kind == Value::Kind::boolean && !entry.value->boolean) {
      off.push_back(key.substr(0, dot + 1) + "*");
    }
  }
  for (const std::string& section : off) {
    skip(kSwitchedOff, section);
  }
}

std::vector<std::string> Settings::used() const {
  std::vector<std::string> names;
  for (const auto& [key, entry] : entries_) {
    if (entry.asked && entry.unread.empty() && entry.missing.empty() && !entry.is_told_elsewhere &&
        !entry.is_supposed) {
      names.push_back(shown_path(entry));
    }
  }
  return names;
}

std::vector<std::string> Settings::harmless() const {
  std::vector<std::pair<std::string_view, std::string>> kinds;
  for (const auto& [key, entry] : entries_) {
    if ((entry.asked && !entry.is_told_elsewhere) || entry.harmless.empty()) {
      continue;
    }
    const std::string_view what = entry.harmless;
    auto kind = std::find_if(
        kinds.begin(), kinds.end(), [what](const auto& known) { return known.first == what; });
    if (kind == kinds.end()) {
      kind = kinds.insert(kinds.end(), {what, ""});
    }
    kind->second += (kind->second.empty() ? "" : ", ") + shown_path(entry);
  }
  return each_of(kinds, [](const auto& one) { return std::string(one.first) + ": " + one.second; });
}

std::string Settings::meant(std::string_view key) const {
  const std::string_view near =
      closest(key, std::vector<std::string_view>(absent_.begin(), absent_.end()));
  return near.empty() ? "" : " (did you mean " + usual_path(near) + "?)";
}

std::vector<std::string> Settings::unread() const {
  std::vector<std::string> lines;
  for (const auto& [key, entry] : entries_) {
    if (entry.is_supposed) {
      continue;
    }
    if (!entry.unread.empty()) {
      lines.push_back(shown(entry) + ": " + entry.unread);
    } else if (!entry.asked && entry.harmless.empty() && !asks_for_nothing(*entry.value)) {
      lines.push_back(shown(entry) + meant(key));
    }
  }
  return lines;
}

std::vector<std::string> Settings::open() const {
  std::vector<std::string> lines;
  for (const auto& [key, entry] : entries_) {
    if (!entry.missing.empty()) {
      lines.push_back(shown(entry));
    }
  }
  return lines;
}

}  // namespace titer
