#pragma once
// Words that values are put into, one behind the other.

#include <algorithm>
#include <string>
#include <vector>

#include "shell_text.hpp"
#include "shell_values.hpp"

namespace titer::shell {

/// What becomes of a value without quotes around it.
enum class Unquoted { splits, joins, stays };

class MadeWords {
 public:
  /// `source`: the script's file, for messages.
  MadeWords(std::string source, Unquoted unquoted)
      : source_(std::move(source)), unquoted_(unquoted) {}

  void append(const Text& text) { made_.append(text); }
  void add(char c, Origin where) { made_.add(c, where); }
  /// There is a word, though nothing may stand in it.
  void hold_quotes() { has_quotes_ = true; }

  /// What end_quotes() is to be told.
  [[nodiscard]] std::size_t begin_quotes() {
    is_no_word_ = false;
    return made_.size();
  }
  void end_quotes(std::size_t before) {
    has_quotes_ = has_quotes_ || !is_no_word_ || made_.size() > before;
  }

  /// A value.
  void put_text(const Text& text, bool in_quotes) {
    if (made_.size() > longest_text || words_.size() > longest_text) {
      refuse(source_, text.place(), "comes to more than 1 MiB; expected a configuration");
    }
    if (in_quotes || unquoted_ != Unquoted::splits) {
      const auto begin = static_cast<std::ptrdiff_t>(made_.size());
      made_.append(text);
      if (!in_quotes && unquoted_ == Unquoted::joins) {
        std::replace(made_.chars.begin() + begin, made_.chars.end(), '\n', ' ');
      }
    } else if (!text.empty()) {
      put_split(text);
    }
  }

  void put_all(const std::vector<Text>& items, bool each_is_a_word) {
    is_no_word_ = items.empty() && each_is_a_word;
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (i > 0 && unquoted_ == Unquoted::splits) {
        end_word();
      } else if (i > 0) {
        made_.add(' ', items[i].place());
      }
      put_text(items[i], each_is_a_word);
      has_quotes_ = has_quotes_ || each_is_a_word;
    }
  }

  /// All of it as one.
  [[nodiscard]] Text text() && { return std::move(made_); }
  [[nodiscard]] std::vector<Text> words() && {
    end_word();
    return std::move(words_);
  }

 private:
  static constexpr std::size_t longest_text = std::size_t{1} << 20U;

  void put_split(const Text& text) {
    if (is_blank(text.at(0))) {
      end_word();
    }
    bool is_first = true;
    for (const Text& part : split_words(text)) {
      if (!is_first) {
        end_word();
      }
      made_.append(part);
      is_first = false;
    }
    if (is_blank(text.at(text.size() - 1))) {
      end_word();
    }
  }

  void end_word() {
    if (!made_.empty() || has_quotes_) {
      words_.push_back(std::move(made_));
    }
    made_ = {};
    has_quotes_ = false;
  }

  std::string source_;
  Unquoted unquoted_;
  Text made_;
  bool has_quotes_ = false;
  bool is_no_word_ = false;  // "$@" of no arguments, and the like of arrays
  std::vector<Text> words_;
};

}  // namespace titer::shell
