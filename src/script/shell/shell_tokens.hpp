#pragma once
// The words of a shell script as written and the signs between them; comments left out, lines
// continued.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "shell_script.hpp"

namespace titer::shell {

inline constexpr int kDeepestScript = 100;  // quotes, brackets and commands inside of one another

struct Token {
  enum class Kind { word, sign, end };
  Kind kind = Kind::end;
  Text text;
};

/// All throw InputError for a quote, bracket or parenthesis that is not closed. Text and source
/// must outlive it.
class Tokens {
 public:
  Tokens(const Text& text, const std::string& source) : text_(text), source_(source) {}

  [[nodiscard]] const Token& peek() {
    if (!ahead_) {
      ahead_ = read();
    }
    return *ahead_;
  }
  Token take() {
    static_cast<void>(peek());
    Token token = *std::move(ahead_);
    ahead_.reset();
    return token;
  }
  [[nodiscard]] bool sees(std::string_view word) {
    return peek().kind != Token::Kind::end && peek().text.chars == word;
  }
  bool accept(std::string_view word);
  /// The items of an array, whose parenthesis comes at once after NAME=; none if none does.
  std::optional<std::vector<Text>> array();
  /// What stands up to the end of the double parentheses that were begun.
  Text arithmetic();
  [[nodiscard]] bool at_second_parenthesis() const { return text_.at(next_) == '('; }
  void skip_character() { ++next_; }
  [[noreturn]] void refuse_here(const std::string& message) const { refuse_at(next_, message); }
  /// A here-document of the line that is being read, whose lines come after it.
  void expect_document(const Text& end, std::vector<HereDocument>& into);

 private:
  [[noreturn]] void refuse_at(std::size_t at, const std::string& message) const;
  [[nodiscard]] bool continues() const;
  void skip_blanks();
  Token read();
  /// Of the sign that begins here.
  [[nodiscard]] std::size_t size_of_sign() const;
  [[nodiscard]] std::size_t size_of_blank_form(std::size_t at) const;
  Token read_sign(std::size_t size);
  Text word();

  const Text& text_;
  const std::string& source_;
  std::size_t next_ = 0;
  std::optional<Token> ahead_;
  std::size_t document_line_ = 0;  // the end of the line that documents come after
  std::size_t document_end_ = 0;   // of the last of these
};

}  // namespace titer::shell
