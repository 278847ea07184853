#include "python_words.hpp"

#include <array>

namespace titer {
namespace {

struct Word {
  std::string_view written;
  std::string_view quoted;  // as long
};
constexpr std::array<Word, 3> kWords = {
    {{"-Infinity", "\"-inf\"   "}, {"Infinity", "\"inf\"   "}, {"NaN", "\"?\""}}};

bool is_configuration(std::string_view text) {
  return text.find("\"model_type\"") != std::string_view::npos ||
         text.find("\"architectures\"") != std::string_view::npos;
}

/// One past the text in quotes that starts here.
std::size_t end_of_quotes(std::string_view text, std::size_t start) {
  std::size_t at = start + 1;
  while (at < text.size() && text[at] != '"') {
    at += text[at] == '\\' ? 2 : 1;
  }
  return at + 1;
}

}  // namespace

std::optional<std::string> with_quoted_words(std::string_view text) {
  if (!is_configuration(text)) {
    return std::nullopt;
  }
  std::string changed(text);
  for (std::size_t at = 0; at < changed.size(); ++at) {
    if (changed[at] == '"') {
      at = end_of_quotes(changed, at) - 1;
      continue;
    }
    for (const Word& word : kWords) {
      if (changed.compare(at, word.written.size(), word.written) == 0) {
        changed.replace(at, word.quoted.size(), word.quoted);
        at += word.quoted.size() - 1;
        break;
      }
    }
  }
  return changed;
}

}  // namespace titer
