#pragma once
// Text of a shell script whose every character knows where it was written, however often it was
// handed on in variables since.

#include <cctype>
#include <string>
#include <string_view>
#include <vector>

#include "titer/input/document.hpp"
#include "titer/input/words.hpp"

namespace titer::shell {

inline bool is_blank(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }
inline bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

/// One past the name of a variable that begins there; `from`, if none does.
inline std::size_t end_of_name(std::string_view text, std::size_t from) {
  std::size_t end = from;
  while (end < text.size() && is_of_name(text[end])) {
    ++end;
  }
  return end == from || is_digit(text[from]) ? from : end;
}

struct Text {
  std::string chars;
  std::vector<Origin> places;  // of each character

  [[nodiscard]] std::size_t size() const { return chars.size(); }
  [[nodiscard]] bool empty() const { return chars.empty(); }
  [[nodiscard]] char at(std::size_t i) const { return i < chars.size() ? chars[i] : '\0'; }
  [[nodiscard]] Origin place(std::size_t i = 0) const {
    return places.empty() ? Origin{.source = 0, .line = 1, .column = 1}
                          : places[std::min(i, places.size() - 1)];
  }
  void add(char c, Origin where) {
    chars += c;
    places.push_back(where);
  }
  void append(const Text& more) {
    chars += more.chars;
    places.insert(places.end(), more.places.begin(), more.places.end());
  }
  [[nodiscard]] Text part(std::size_t from, std::size_t end) const {
    end = std::min(end, size());
    from = std::min(from, end);
    const auto begin = places.begin();
    return {.chars = chars.substr(from, end - from),
            .places = {begin + static_cast<std::ptrdiff_t>(from),
                       begin + static_cast<std::ptrdiff_t>(end)}};
  }
};

/// A text that begins there and goes on as it is written.
inline Text written_text(std::string_view chars, Origin begin) {
  Text text{.chars = std::string(chars), .places = {}};
  text.places.reserve(chars.size());
  for (const char c : chars) {
    text.places.push_back(begin);
    ++begin.column;
    if (c == '\n') {
      ++begin.line;
      begin.column = 1;
    }
  }
  return text;
}

/// A text that stands for what is written there.
inline Text made_text(std::string_view chars, Origin place) {
  return {.chars = std::string(chars), .places = std::vector<Origin>(chars.size(), place)};
}

/// One past what the bracket, quote or backtick there encloses: $(…), ${…}, "…", '…', `…`; of any
/// other character one past itself. npos where it is not closed.
[[nodiscard]] std::size_t end_of_group(std::string_view text, std::size_t from);

/// Throws the message with its place in front of it as an InputError.
[[noreturn]] void refuse(const std::string& source, Origin at, const std::string& message);

}  // namespace titer::shell
