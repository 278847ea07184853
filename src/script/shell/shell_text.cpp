#include "shell_text.hpp"

#include <algorithm>

#include "shell_reference.hpp"

namespace titer::shell {

void Text::begin_stretch(Origin at, bool goes_on) {
  if (!stretches_.empty() && stretches_.back().goes_on == goes_on) {
    const Origin next = stretches_.back().place(chars.size());
    if (next.line == at.line && next.column == at.column && next.source == at.source) {
      return;
    }
  }
  stretches_.push_back({.begin = chars.size(), .at = at, .goes_on = goes_on});
}

std::vector<Text::Stretch>::const_iterator Text::stretch_of(std::size_t i) const {
  const auto after = std::ranges::upper_bound(stretches_, i, {}, &Stretch::begin);
  return after - 1;
}

Origin Text::place(std::size_t i) const {
  if (chars.empty()) {
    return {.source = 0, .line = 1, .column = 1};
  }
  i = std::min(i, chars.size() - 1);
  return stretch_of(i)->place(i);
}

void Text::append(const Text& more) {
  for (std::size_t i = 0; i < more.stretches_.size(); ++i) {
    const Stretch& stretch = more.stretches_[i];
    const bool is_last = i + 1 == more.stretches_.size();
    const std::size_t end = is_last ? more.size() : more.stretches_[i + 1].begin;
    begin_stretch(stretch.at, stretch.goes_on);
    chars.append(more.chars, stretch.begin, end - stretch.begin);
  }
}

Text Text::part(std::size_t from, std::size_t end) const {
  end = std::min(end, size());
  from = std::min(from, end);
  Text made;
  if (from == end) {
    return made;
  }
  made.chars.assign(chars, from, end - from);
  for (auto stretch = stretch_of(from); stretch != stretches_.end() && stretch->begin < end;
       ++stretch) {
    const std::size_t begin = std::max(stretch->begin, from);
    made.stretches_.push_back(
        {.begin = begin - from, .at = stretch->place(begin), .goes_on = stretch->goes_on});
  }
  return made;
}

Text Text::written(std::string_view chars, Origin begin) {
  Text text;
  text.chars.reserve(chars.size());
  while (!chars.empty()) {
    const std::size_t line = std::min(chars.find('\n'), chars.size() - 1) + 1;
    text.begin_stretch(begin, true);
    text.chars += chars.substr(0, line);
    chars.remove_prefix(line);
    ++begin.line;
    begin.column = 1;
  }
  return text;
}

Text Text::made(std::string_view chars, Origin place) {
  Text text;
  if (!chars.empty()) {
    text.begin_stretch(place, false);
    text.chars = chars;
  }
  return text;
}

Reference reference_of(std::string_view inside) {
  Reference made;
  std::size_t end = end_of_name(inside, 0);
  while (end == 0 && end < inside.size() && is_digit(inside[end])) {
    end = std::min(inside.find_first_not_of("0123456789"), inside.size());
  }
  if (end == 0 && !inside.empty() &&
      std::string_view("@*#?$!-").find(inside[0]) != std::string_view::npos) {
    end = 1;
  }
  made.name = inside.substr(0, end);
  if (end < inside.size() && inside[end] == '[') {
    const std::size_t close = inside.find(']', end);
    if (close == std::string_view::npos) {
      return {};
    }
    made.subscript = inside.substr(end + 1, close - end - 1);
    end = close + 1;
  }
  const bool has_colon = end < inside.size() && inside[end] == ':';
  const std::size_t sign = end + (has_colon ? 1 : 0);
  const bool is_known =
      sign < inside.size() && std::string_view("-=+?").find(inside[sign]) != std::string_view::npos;
  made.operation = inside.substr(end, is_known ? sign + 1 - end : std::string_view::npos);
  made.operand = is_known ? sign + 1 : inside.size();
  return made;
}

std::optional<ArgumentOverride> override_of(const Text& word) {
  const std::string_view chars = word.chars;
  const std::size_t equals = chars.find('=');
  const std::size_t begin = std::min(chars.find_first_not_of("+~"), chars.size());
  if (equals == std::string_view::npos || begin > 2 || begin >= equals ||
      std::islower(static_cast<unsigned char>(chars[begin])) == 0) {
    return std::nullopt;
  }
  const std::string_view path = chars.substr(begin, equals - begin);
  const bool is_path =
      std::ranges::all_of(path, [](char c) { return is_of_name(c) || c == '.' || c == '-'; });
  if (!is_path) {
    return std::nullopt;
  }
  return ArgumentOverride{.path = std::string(chars.substr(0, equals)),
                          .value = std::string(chars.substr(equals + 1)),
                          .at = word.place()};
}

}  // namespace titer::shell
