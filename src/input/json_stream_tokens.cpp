// The strings, numbers and words of a stream of JSON, which may lie in several pieces of it.

#include <array>
#include <charconv>
#include <limits>

#include "json_number.hpp"
#include "titer/input/json_stream.hpp"

namespace titer {
namespace {

constexpr std::size_t kLongestWord = 1000;  // of a number or a literal
/// Of a text that somebody looks at: a stream is read because it is too large to be kept, and so
/// must not become one text.
constexpr std::size_t kLongestText = std::size_t{16} << 20U;

/// Bytes that end the plain part of a string: the quote, escapes, and control characters.
constexpr std::array<bool, 256> kStops = [] {
  std::array<bool, 256> stops{};
  for (std::size_t byte = 0; byte < 0x20; ++byte) {
    stops[byte] = true;
  }
  stops['"'] = true;
  stops['\\'] = true;
  return stops;
}();

/// Bytes of numbers, and of literals such as true and NaN.
constexpr std::array<bool, 256> kOfWords = [] {
  std::array<bool, 256> of_words{};
  for (const char byte : std::string_view("+-.0123456789"
                                          "abcdefghijklmnopqrstuvwxyz"
                                          "ABCDEFGHIJKLMNOPQRSTUVWXYZ")) {
    of_words[static_cast<unsigned char>(byte)] = true;
  }
  return of_words;
}();

/// Appends a code point.
void add_utf8(std::string& text, unsigned code) {
  const auto add = [&](unsigned byte) { text.push_back(static_cast<char>(byte)); };
  if (code < 0x80) {
    add(code);
    return;
  }
  if (code < 0x800) {
    add(0xC0U | (code >> 6U));
  } else {
    if (code < 0x10000) {
      add(0xE0U | (code >> 12U));
    } else {
      add(0xF0U | (code >> 18U));
      add(0x80U | ((code >> 12U) & 0x3FU));
    }
    add(0x80U | ((code >> 6U) & 0x3FU));
  }
  add(0x80U | (code & 0x3FU));
}

constexpr unsigned kReplacement = 0xFFFD;  // for half of a pair

bool is_first_half(unsigned code) { return code >= 0xD800 && code < 0xDC00; }
bool is_second_half(unsigned code) { return code >= 0xDC00 && code < 0xE000; }

}  // namespace

double JsonStream::number() const {
  double value = 0;
  const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), value);
  if (error == std::errc::result_out_of_range) {
    const bool small = text_.find("e-") != text_.npos || text_.find("E-") != text_.npos;
    return small ? 0.0 : (text_.front() == '-' ? -1 : 1) * std::numeric_limits<double>::max();
  }
  return value;
}

/// Up to the end of the piece or a byte that is not plain; whether the string ends there, and is
/// whole in this piece.
bool JsonStream::read_plain_part() {
  const std::size_t from = next_;
  while (next_ < filled_ && !kStops[static_cast<unsigned char>(piece_[next_])]) {
    ++next_;
  }
  text_ = {piece_.data() + from, next_ - from};
  return next_ < filled_ && piece_[next_] == '"';
}

void JsonStream::read_string() {
  ++next_;  // the quote
  kept_.clear();
  if (read_plain_part()) {
    ++next_;
    return;
  }
  for (bool closed = false; !closed;) {
    keep_part();
    if (next_ < filled_ && piece_[next_] == '\\') {
      read_escape();
    } else if (next_ < filled_ && piece_[next_] != '"') {
      fail("a text holds a control character that is not escaped");
    }
    if (peek() < 0) {
      fail("a text has no closing quote");
    }
    closed = read_plain_part();
  }
  ++next_;
  keep_part();
  text_ = kept_;
}

/// The part of a string that was read last; nothing of one that is skipped, its escapes included.
void JsonStream::keep_part() {
  if (skipping_) {
    kept_.clear();
    return;
  }
  if (kept_.size() + text_.size() > kLongestText) {
    fail("expected texts of at most " + std::to_string(kLongestText >> 20U) + " MiB");
  }
  kept_.append(text_);
}

void JsonStream::read_escape() {
  ++next_;  // the backslash
  if (peek() == 'u') {
    read_code_point();
  } else {
    read_short_escape();
  }
}

void JsonStream::read_short_escape() {
  constexpr std::string_view codes = "\"\\/bfnrt";
  constexpr std::string_view meanings = "\"\\/\b\f\n\r\t";
  const int code = peek();
  const std::size_t known = code < 0 ? codes.npos : codes.find(static_cast<char>(code));
  if (known == codes.npos) {
    fail("a text holds an unknown escape");
  }
  ++next_;
  kept_.push_back(meanings[known]);
}

unsigned JsonStream::read_four_digits() {
  std::array<char, 4> digits{};
  ++next_;  // the u
  for (char& digit : digits) {
    const int byte = peek();
    digit = byte < 0 ? '\0' : static_cast<char>(byte);
    next_ += byte < 0 ? 0 : 1;
  }
  unsigned code = 0;
  const auto [end, error] = std::from_chars(digits.begin(), digits.end(), code, 16);
  if (error != std::errc() || end != digits.end()) {
    fail("a text holds \\u without four hexadecimal digits");
  }
  return code;
}

/// Half of a pair by itself becomes the replacement character.
void JsonStream::read_code_point() {
  unsigned code = read_four_digits();
  while (is_first_half(code) && peek() == '\\') {
    ++next_;
    if (peek() != 'u') {
      add_utf8(kept_, kReplacement);
      read_short_escape();
      return;
    }
    const unsigned second = read_four_digits();
    if (is_second_half(second)) {
      add_utf8(kept_, 0x10000 + ((code - 0xD800) << 10U) + (second - 0xDC00));
      return;
    }
    add_utf8(kept_, kReplacement);
    code = second;
  }
  add_utf8(kept_, is_first_half(code) || is_second_half(code) ? kReplacement : code);
}

std::string_view JsonStream::read_word_part() {
  const std::size_t from = next_;
  while (next_ < filled_ && kOfWords[static_cast<unsigned char>(piece_[next_])]) {
    ++next_;
  }
  return {piece_.data() + from, next_ - from};
}

JsonToken JsonStream::read_word() {
  text_ = read_word_part();
  if (next_ == filled_) {
    kept_.assign(text_);
    while (next_ == filled_ && kept_.size() <= kLongestWord && refill()) {
      kept_.append(read_word_part());
    }
    text_ = kept_;
  }
  after_value();
  if (text_.size() > kLongestWord) {
    fail("expected a value, found a word of more than " + std::to_string(kLongestWord) + " bytes");
  }
  if (!text_.empty() && json_number_length(text_) == text_.size()) {
    return JsonToken::number;
  }
  boolean_ = text_ == "true";
  if (boolean_ || text_ == "false") {
    return JsonToken::boolean;
  }
  if (text_ != "null" && text_ != "NaN" && text_ != "Infinity" && text_ != "-Infinity") {
    fail("expected a value, found " + std::string(text_.substr(0, 40)));
  }
  return JsonToken::null;
}

}  // namespace titer
