#pragma once
// Text of a shell script that knows of every character where it was written, however often it was
// handed on in variables since.

#include <cctype>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "titer/input/document.hpp"
#include "titer/input/words.hpp"
#include "titer/script/foreign_text.hpp"

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

class Text {
 public:
  std::string chars;

  [[nodiscard]] std::size_t size() const { return chars.size(); }
  [[nodiscard]] bool empty() const { return chars.empty(); }
  [[nodiscard]] char at(std::size_t i) const { return i < chars.size() ? chars[i] : '\0'; }
  /// Of the last character for one past the end.
  [[nodiscard]] Origin place(std::size_t i = 0) const;
  void add(char c, Origin where) {
    begin_stretch(where, true);
    chars += c;
  }
  void append(const Text& more);
  [[nodiscard]] Text part(std::size_t from, std::size_t end) const;

  /// A text that begins there and goes on as it is written.
  [[nodiscard]] static Text written(std::string_view chars, Origin begin);
  /// A text that stands for what is written there.
  [[nodiscard]] static Text made(std::string_view chars, Origin place);

 private:
  /// Characters up to the next stretch, on one line: side by side, or all in one place.
  struct Stretch {
    std::size_t begin = 0;
    Origin at{};
    bool goes_on = true;

    [[nodiscard]] Origin place(std::size_t i) const {
      Origin there = at;
      there.column += goes_on ? static_cast<int>(i - begin) : 0;
      return there;
    }
  };
  /// What is appended next is there; nothing to do where the last stretch comes to it by itself.
  void begin_stretch(Origin at, bool goes_on);
  /// The stretch that the character is in.
  [[nodiscard]] std::vector<Stretch>::const_iterator stretch_of(std::size_t i) const;

  std::vector<Stretch> stretches_;
};

/// One past what the bracket, quote or backtick there encloses: $(…), ${…}, "…", '…', `…`; of any
/// other character one past itself. npos where it is not closed.
[[nodiscard]] std::size_t end_of_group(std::string_view text, std::size_t from);

/// What "model.layers=4" tells, also with + or ~ before it as Hydra has them; a name that begins
/// with a large letter is of a variable. None: another word.
[[nodiscard]] std::optional<ArgumentOverride> override_of(const Text& word);

/// Throws the message with its place in front of it as an InputError.
[[noreturn]] void refuse(const std::string& source, Origin at, const std::string& message);

}  // namespace titer::shell
