#include "titer/units/blanks.hpp"

#include <algorithm>

namespace titer {

std::string_view trimmed(std::string_view text) {
  const std::size_t first = std::min(text.find_first_not_of(kBlanks), text.size());
  return text.substr(first, text.find_last_not_of(kBlanks) + 1 - first);
}

std::vector<std::string_view> words_of(std::string_view text, std::string_view between) {
  std::vector<std::string_view> words = divided(text, between);
  std::erase_if(words, [](std::string_view word) { return word.empty(); });
  return words;
}

std::vector<std::string_view> divided(std::string_view text, std::string_view ends) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    parts.push_back(text.substr(0, text.find_first_of(ends)));
    text.remove_prefix(std::min(parts.back().size() + 1, text.size()));
  }
  return parts;
}

bool begins_as(std::string_view text, std::string_view pair) {
  text = trimmed(text);
  return text.starts_with(pair[0]) && trimmed(text.substr(1)).starts_with(pair[1]);
}

}  // namespace titer
