#include "shell_tokens.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace titer::shell {
namespace {

constexpr std::string_view kSigns = "();|&<>";  // that end a word, as blanks do

/// Finds where groups end, to a depth that no script has.
class Groups {
 public:
  explicit Groups(std::string_view text) : text_(text) {}

  std::size_t end(std::size_t from, int depth) {
    const char c = text_[from];
    const char following = from + 1 < text_.size() ? text_[from + 1] : '\0';
    if (depth > kDeepestScript) {
      return std::string_view::npos;
    }
    if (c == '\\') {
      return std::min(from + 2, text_.size());
    }
    if (c == '\'' || c == '`') {
      const std::size_t end = text_.find(c, from + 1);
      return end == std::string_view::npos ? end : end + 1;
    }
    if (c == '"') {
      return end_of_quote(from + 1, depth);
    }
    if (c == '$' && (following == '(' || following == '{')) {
      return end_of_bracket(from + 2, following == '(' ? ')' : '}', depth);
    }
    return from + 1;
  }

 private:
  /// One past the closing bracket; quotes and brackets inside of it are passed over.
  std::size_t end_of_bracket(std::size_t from, char close, int depth) {
    while (from < text_.size() && text_[from] != close) {
      const bool nests = text_[from] == '(' && close == ')' && depth <= kDeepestScript;
      from = nests ? end_of_bracket(from + 1, ')', depth + 1) : end(from, depth + 1);
    }
    return from < text_.size() ? from + 1 : std::string_view::npos;
  }

  std::size_t end_of_quote(std::size_t from, int depth) {
    while (from < text_.size() && text_[from] != '"') {
      const bool is_group = text_[from] == '$' || text_[from] == '\\' || text_[from] == '`';
      from = is_group ? end(from, depth + 1) : from + 1;
    }
    return from < text_.size() ? from + 1 : std::string_view::npos;
  }

  std::string_view text_;
};

}  // namespace

std::size_t end_of_group(std::string_view text, std::size_t from) {
  return Groups(text).end(from, 0);
}

bool Tokens::accept(std::string_view word) {
  const bool found = sees(word);
  if (found) {
    ahead_.reset();
  }
  return found;
}

std::optional<std::vector<Text>> Tokens::array() {
  if (ahead_ || text_.at(next_) != '(') {
    return std::nullopt;
  }
  const std::size_t begin = next_++;
  std::vector<Text> items;
  while (true) {
    Token token = read();
    if (token.kind == Token::Kind::end) {
      refuse_at(begin, "this parenthesis is not closed");
    }
    if (token.kind == Token::Kind::word) {
      items.push_back(std::move(token.text));
    } else if (token.text.chars == ")") {
      return items;
    }
  }
}

Text Tokens::arithmetic() {
  const std::size_t begin = next_;
  const std::size_t end = std::min(text_.chars.find("))", begin), text_.size());
  next_ = std::min(end + 2, text_.size());
  ahead_.reset();
  return text_.part(begin, end);
}

void Tokens::expect_document(const Text& end, std::vector<HereDocument>& into) {
  std::string plain = end.chars;
  const bool quoted = plain.find_first_of("'\"\\") != std::string::npos;
  plain.erase(
      std::remove_if(
          plain.begin(), plain.end(), [](char c) { return c == '\'' || c == '"' || c == '\\'; }),
      plain.end());
  const std::size_t line = text_.chars.find('\n', next_);
  std::size_t begin = std::max(document_end_, line == std::string::npos ? text_.size() : line + 1);
  document_line_ = line;
  for (std::size_t at = begin; at < text_.size();) {
    const std::size_t stop = std::min(text_.chars.find('\n', at), text_.size());
    std::string_view found = std::string_view(text_.chars).substr(at, stop - at);
    found.remove_prefix(std::min(found.find_first_not_of('\t'), found.size()));
    if (found == plain) {
      into.push_back({.text = text_.part(begin, at), .expands = !quoted});
      document_end_ = std::min(stop + 1, text_.size());
      return;
    }
    at = stop + 1;
  }
  refuse_at(next_ - end.size(), "this document is not ended by a line of " + plain);
}

void Tokens::refuse_at(std::size_t at, const std::string& message) const {
  refuse(source_, text_.place(at), message);
}

bool Tokens::continues() const {
  return text_.at(next_) == '\\' && (text_.at(next_ + 1) == '\n' ||
                                     (text_.at(next_ + 1) == '\r' && text_.at(next_ + 2) == '\n'));
}

void Tokens::skip_blanks() {
  while (next_ < text_.size()) {
    if (continues()) {
      next_ = text_.chars.find('\n', next_) + 1;
    } else if (text_.at(next_) == '#') {
      next_ = std::min(text_.chars.find('\n', next_), text_.size());
    } else if (text_.at(next_) != '\n' && is_blank(text_.at(next_))) {
      ++next_;
    } else {
      return;
    }
  }
}

Token Tokens::read() {
  skip_blanks();
  if (next_ >= text_.size()) {
    return {};
  }
  const bool is_sign = kSigns.find(text_.at(next_)) != std::string_view::npos;
  if (text_.at(next_) == '\n' || (is_sign && size_of_blank_form(next_) == 0)) {
    return read_sign(size_of_sign());
  }
  Text made = word();
  const bool is_number = made.chars.find_first_not_of("0123456789") == std::string::npos;
  if (is_number && (text_.at(next_) == '<' || text_.at(next_) == '>')) {
    return read();  // of the stream in 2>&1
  }
  return {.kind = Token::Kind::word, .text = std::move(made)};
}

std::size_t Tokens::size_of_sign() const {
  constexpr std::array<std::string_view, 13> longer = {
      "<<<", "<<-", "&>>", ";;&", "&&", "||", ";;", "<<", ">>", ">&", "<&", "&>", ">|"};
  const std::string_view rest = std::string_view(text_.chars).substr(next_, 3);
  const auto* const found =
      std::ranges::find_if(longer, [&](std::string_view sign) { return rest.starts_with(sign); });
  return found == longer.end() ? 1 : found->size();
}

/// "<path to the model>" is no redirection, but what the reader is to fill in; 0 for what is none.
std::size_t Tokens::size_of_blank_form(std::size_t at) const {
  if (text_.at(at) != '<' || std::isalpha(static_cast<unsigned char>(text_.at(at + 1))) == 0) {
    return 0;
  }
  const std::size_t end = text_.chars.find_first_of("<>\n|&;\"'$`", at + 1);
  const bool is_closed =
      end != std::string::npos && text_.at(end) == '>' && text_.at(end - 1) != ' ' &&
      (end + 1 >= text_.size() || std::isspace(static_cast<unsigned char>(text_.at(end + 1))) != 0);
  return is_closed ? end + 1 - at : 0;
}

Token Tokens::read_sign(std::size_t size) {
  Token token{.kind = Token::Kind::sign, .text = text_.part(next_, next_ + size)};
  next_ += size;
  if (token.text.chars == "\n" && document_end_ > 0 && next_ == document_line_ + 1) {
    next_ = document_end_;
    document_end_ = 0;
  }
  return token;
}

Text Tokens::word() {
  Text made;
  std::size_t begin = next_;
  while (next_ < text_.size()) {
    const char c = text_.at(next_);
    if (const std::size_t size = size_of_blank_form(next_); size > 0) {
      next_ += size;
      continue;
    }
    if (is_blank(c) || kSigns.find(c) != std::string_view::npos) {
      break;
    }
    if (continues()) {
      made.append(text_.part(begin, next_));
      next_ = text_.chars.find('\n', next_) + 1;
      begin = next_;
      continue;
    }
    const std::size_t end = end_of_group(text_.chars, next_);
    if (end == std::string_view::npos) {
      refuse_at(next_, std::string("this ") + (c == '$' ? "bracket" : "quote") + " is not closed");
    }
    next_ = end;
  }
  made.append(text_.part(begin, next_));
  return made;
}

}  // namespace titer::shell
