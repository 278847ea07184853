#include "titer/units/shell_word.hpp"

#include <utility>

namespace titer {
namespace {

constexpr std::string_view kHiddenInQuotes = "$`\"\\";
constexpr std::string_view kActedUpon = "|&;<>()$`#\n";
constexpr std::string_view kActedUponInQuotes = "$`";

class ShellReader {
 public:
  explicit ShellReader(std::string_view command) : rest_(command) {}

  std::optional<std::vector<std::string>> read() {
    while (!rest_.empty() && is_plain_) {
      read_character();
    }
    end_word();
    return is_plain_ && quote_ == 0 ? std::optional(words_) : std::nullopt;
  }

 private:
  void read_character() {
    const char c = rest_.front();
    rest_.remove_prefix(1);
    if (c == quote_) {
      quote_ = 0;
    } else if (quote_ == '\'') {
      put(c);
    } else if (c == '\\') {
      put_hidden();
    } else if (quote_ == 0 && (c == '\'' || c == '"')) {
      quote_ = c;
      has_word_ = true;
    } else if (quote_ == 0 && (c == ' ' || c == '\t')) {
      end_word();
    } else {
      is_plain_ = (quote_ == 0 ? kActedUpon : kActedUponInQuotes).find(c) == std::string_view::npos;
      put(c);
    }
  }

  /// What stands behind a backslash.
  void put_hidden() {
    is_plain_ = !rest_.empty();
    if (is_plain_) {
      if (quote_ != 0 && kHiddenInQuotes.find(rest_.front()) == std::string_view::npos) {
        put('\\');
      }
      put(rest_.front());
      rest_.remove_prefix(1);
    }
  }

  void put(char c) {
    word_ += c;
    has_word_ = true;
  }

  void end_word() {
    if (has_word_) {
      words_.push_back(std::move(word_));
    }
    word_.clear();
    has_word_ = false;
  }

  std::string_view rest_;
  std::vector<std::string> words_;
  std::string word_;
  bool has_word_ = false;
  bool is_plain_ = true;
  char quote_ = 0;  // 0: not within quotes
};

}  // namespace

std::optional<std::vector<std::string>> shell_words(std::string_view command) {
  return ShellReader(command).read();
}

std::string shell_word(std::string_view word) {
  constexpr std::string_view plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=,+@%";
  if (!word.empty() && word.find_first_not_of(plain) == std::string_view::npos) {
    return std::string(word);
  }
  std::string text = "'";
  for (const char letter : word) {
    text += letter == '\'' ? "'\\''" : std::string(1, letter);
  }
  return text + "'";
}

}  // namespace titer
