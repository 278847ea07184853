// Conditions of a script: [ … ], [[ … ]], test, (( … )), and the patterns of a case.

#include <algorithm>
#include <array>

#include "shell_values.hpp"
#include "titer/units/lists.hpp"

namespace titer::shell {
namespace {

using Answer = Verdict::Kind;

constexpr int kMostParts = 1000;  // of a test

Answer opposite(Answer kind) {
  return kind == Answer::open ? kind : (kind == Answer::yes ? Answer::no : Answer::yes);
}

Verdict decided(bool holds, bool is_guess = false) {
  return {.kind = holds ? Answer::yes : Answer::no, .is_guess = is_guess, .question = {}};
}

/// The variable that a word such as "$NAME" or "${NAME,,}" is of; "" for another.
std::string variable_of(std::string_view word) {
  const std::size_t dollar = word.find('$');
  if (dollar == std::string_view::npos) {
    return "";
  }
  const std::size_t begin = dollar + (word.substr(dollar, 2) == "${" ? 2 : 1);
  std::size_t end = end_of_name(word, begin);
  if (end == begin) {
    end = std::min(word.find_first_not_of("0123456789", begin), word.size());
  }
  return std::string(word.substr(begin, end - begin));
}

class Test {
 public:
  Test(Scope& scope, const std::vector<Text>& words, std::size_t begin, std::size_t end)
      : scope_(scope), words_(words), next_(begin), end_(end) {}

  Verdict all() {
    Verdict verdict = either();
    return next_ == end_ ? verdict : Verdict{};
  }

 private:
  [[nodiscard]] std::string_view peek(std::size_t ahead = 0) const {
    return next_ + ahead < end_ ? std::string_view(words_[next_ + ahead].chars)
                                : std::string_view();
  }
  bool accept(std::string_view a, std::string_view b) {
    const bool found = next_ < end_ && (peek() == a || peek() == b);
    next_ += found ? 1 : 0;
    return found;
  }

  Verdict either() {
    Verdict left = both();
    while (accept("-o", "||")) {
      left = joined(left, both(), Answer::yes);
    }
    return left;
  }
  Verdict both() {
    Verdict left = one();
    while (accept("-a", "&&")) {
      left = joined(left, one(), Answer::no);
    }
    return left;
  }
  /// `settles` of either side is enough.
  static Verdict joined(const Verdict& a, const Verdict& b, Answer settles) {
    if (a.kind == settles || (a.kind != Answer::open && b.kind != settles)) {
      return a.kind == settles ? a : b;
    }
    return b.kind == settles ? b : a;
  }

  Verdict one() {
    if (++parts_ > kMostParts) {
      return {};
    }
    if (accept("!", "!")) {
      Verdict inside = one();
      inside.kind = opposite(inside.kind);
      return inside;
    }
    if (next_ < end_ && peek() == "(") {
      ++next_;
      Verdict inside = either();
      accept(")", ")");
      return inside;
    }
    constexpr std::array<std::string_view, 14> binary = {
        "=", "==", "!=", "=~", "-eq", "-ne", "-lt", "-le", "-gt", "-ge", "<", ">", "-nt", "-ot"};
    if (includes(binary, peek(1)) && next_ + 2 < end_) {
      next_ += 3;
      return compared(words_[next_ - 3], words_[next_ - 2].chars, words_[next_ - 1]);
    }
    const bool is_unary = peek().size() == 2 && peek()[0] == '-' && next_ + 1 < end_ &&
                          !(peek(1) == "&&" || peek(1) == "||");
    if (is_unary) {
      next_ += 2;
      return unary(words_[next_ - 2].chars[1], words_[next_ - 1]);
    }
    if (next_ < end_) {
      return unary('n', words_[next_++]);
    }
    return {};
  }

  /// What is not set is as good as empty for -z and -n, which are there to ask for it.
  Verdict unary(char what, const Text& word) {
    if (what != 'z' && what != 'n' && what != 'v') {
      return decided(false, true);  // about files, of which there are none at a first start
    }
    if (what == 'v') {
      const bool is_set =
          scope_.find(word.chars) != nullptr || scope_.defined(word.chars) != nullptr;
      return decided(is_set, !is_set);
    }
    const Text value = expand_text(scope_, word);
    const std::string name = variable_of(word.chars);
    if (is_open(value.chars)) {
      const Variable* const set = scope_.find(name);
      const bool is_unset = !name.empty() && !is_digit(name.front()) && set == nullptr;
      return is_unset ? decided(what == 'z', true) : open(word, "");
    }
    return decided(value.empty() == (what == 'z'));
  }

  [[nodiscard]] static Verdict open(const Text& word, std::string answer) {
    Verdict verdict;
    verdict.question.variable = variable_of(word.chars);
    if (!answer.empty()) {
      verdict.question.answers.push_back(std::move(answer));
    }
    return verdict;
  }

  Verdict compared(const Text& left, std::string_view sign, const Text& right) {
    const std::string a = expand_text(scope_, left).chars;
    const std::string b = expand_text(scope_, right).chars;
    if (is_open(a) || a.find("$#") != std::string::npos) {
      return open(left, is_open(b) ? "" : b);
    }
    if (is_open(b) || sign == "=~" || sign == "-nt" || sign == "-ot") {
      return open(right, is_open(b) ? a : "");
    }
    if (sign == "=" || sign == "==" || sign == "!=") {
      return decided(fits(a, b) == (sign != "!="));
    }
    const auto number_a = calculate(scope_, a);
    const auto number_b = calculate(scope_, b);
    if (!number_a || !number_b) {
      return open(left, "");
    }
    return decided(holds(*number_a, sign, *number_b));
  }

  static bool holds(std::int64_t a, std::string_view sign, std::int64_t b) {
    if (sign == "-eq" || sign == "-ne") {
      return (a == b) == (sign == "-eq");
    }
    if (sign == "-lt" || sign == "<" || sign == "-le") {
      return a < b || (sign == "-le" && a == b);
    }
    return a > b || (sign == "-ge" && a == b);
  }

  Scope& scope_;
  const std::vector<Text>& words_;
  std::size_t next_;
  std::size_t end_;
  int parts_ = 0;
};

}  // namespace

bool is_test(const std::vector<Text>& words) {
  constexpr std::array<std::string_view, 4> heads = {"[", "[[", "test", "(("};
  const std::size_t first = !words.empty() && words.front().chars == "!" ? 1 : 0;
  return words.size() > first && includes(heads, words[first].chars);
}

Verdict judge(Scope& scope, const std::vector<Text>& words, Origin at) {
  const std::size_t first = words.front().chars == "!" ? 1 : 0;
  Verdict verdict;
  if (words[first].chars == "((") {
    const std::string& expression = words.back().chars;
    const auto value = calculate(scope, expression);
    verdict = value ? decided(*value != 0) : Verdict{};
    verdict.question.variable = variable_of(expression);
  } else {
    const std::string& last = words.back().chars;
    const std::size_t end = words.size() - (last == "]" || last == "]]" ? 1 : 0);
    verdict = Test(scope, words, first + 1, std::max(end, first + 1)).all();
  }
  verdict.kind = first == 1 ? opposite(verdict.kind) : verdict.kind;
  verdict.question.at = at;
  for (const Text& word : words) {
    verdict.question.condition += (verdict.question.condition.empty() ? "" : " ") + word.chars;
  }
  return verdict;
}

Answer matches(Scope& scope, const Text& subject, const Text& pattern) {
  const std::string word = expand_text(scope, subject).chars;
  const std::string stands_for = expand_text(scope, pattern).chars;
  if (stands_for == "*") {
    return Answer::yes;
  }
  if (is_open(word) || is_open(stands_for)) {
    return Answer::open;
  }
  return fits(word, stands_for) ? Answer::yes : Answer::no;
}

}  // namespace titer::shell
