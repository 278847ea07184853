#include "titer/input/json_stream.hpp"

#include <array>
#include <utility>

#include "titer/input/reader.hpp"
#include "titer/units/ensure.hpp"

namespace titer {
namespace {

constexpr int kEnd = -1;

bool is_of_word(int byte) {
  const bool letter = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');
  return letter || (byte >= '0' && byte <= '9') || byte == '-' || byte == '+' || byte == '.';
}

std::string shown(int byte) {
  if (byte == kEnd) {
    return "the end of the text";
  }
  return byte < 0x20 || byte > 0x7E ? "byte " + std::to_string(byte)
                                    : std::string{'"', static_cast<char>(byte), '"'};
}

}  // namespace

JsonStream::JsonStream(ByteSource source, std::string source_name, std::size_t piece)
    : source_(std::move(source)), name_(std::move(source_name)), piece_(piece) {
  ensure(piece > 0, "a piece of a stream has room for a byte");
  skip_mark();
}

std::string JsonStream::where() const {
  return name_ + ":" + std::to_string(token_line_) + ":" + std::to_string(token_column_);
}

void JsonStream::fail(std::string_view message) const {
  throw InputError(where() + ": " + std::string(message) + " (byte " +
                   std::to_string(token_offset_) + ")");
}

/// The piece that it is in is about to go.
void JsonStream::keep_text() {
  if (!skipping_ && text_.data() != kept_.data()) {
    kept_.assign(text_);
    text_ = kept_;
  }
}

// The token read last stays where it is until next() is called again.
bool JsonStream::refill() {
  piece_start_ += filled_;
  next_ = 0;
  filled_ = source_(piece_);
  return filled_ > 0;
}

int JsonStream::peek() {
  if (next_ == filled_ && !refill()) {
    return kEnd;
  }
  return static_cast<unsigned char>(piece_[next_]);
}

/// A byte order mark may come before the text.
void JsonStream::skip_mark() {
  constexpr std::array<int, 3> mark = {0xEF, 0xBB, 0xBF};
  if (peek() != mark[0]) {
    return;
  }
  for (const int byte : mark) {
    mark_token();
    if (peek() != byte) {
      fail("expected JSON text, found byte " + std::to_string(byte));
    }
    ++next_;
  }
}

void JsonStream::skip_blanks() {
  for (int byte = peek(); byte == ' ' || byte == '\n' || byte == '\r' || byte == '\t';
       byte = peek()) {
    ++next_;
    if (byte == '\n') {
      ++line_;
      line_start_ = offset();
    }
  }
}

void JsonStream::mark_token() {
  token_offset_ = offset();
  token_line_ = line_;
  token_column_ = token_offset_ - line_start_ + 1;
}

JsonToken JsonStream::next() {
  skip_blanks();
  mark_token();
  int byte = peek();
  if (expected_ == Expected::comma_or_end && byte == ',') {
    ++next_;
    skip_blanks();
    mark_token();
    byte = peek();
    expected_ = nesting_.back() == Nesting::object ? Expected::key : Expected::value;
  }
  switch (expected_) {
    case Expected::nothing:
      if (byte != kEnd) {
        fail("expected the end of the text, found " + shown(byte));
      }
      return JsonToken::end;
    case Expected::key:
      return read_key();
    case Expected::key_or_end:
      return byte == '}' ? close() : read_key();
    case Expected::value_or_end:
      return byte == ']' ? close() : read_value();
    case Expected::value:
      return read_value();
    case Expected::comma_or_end:
      break;
  }
  const char end = nesting_.back() == Nesting::object ? '}' : ']';
  if (byte != end) {
    fail(std::string("expected \",\" or \"") + end + "\", found " + shown(byte));
  }
  return close();
}

JsonToken JsonStream::begin(Nesting nesting) {
  ++next_;
  if (nesting_.size() >= kDeepest) {
    fail("nested deeper than " + std::to_string(kDeepest) + " levels");
  }
  nesting_.push_back(nesting);
  const bool object = nesting == Nesting::object;
  expected_ = object ? Expected::key_or_end : Expected::value_or_end;
  return object ? JsonToken::begin_object : JsonToken::begin_array;
}

JsonToken JsonStream::close() {
  ++next_;
  const Nesting nesting = nesting_.back();
  nesting_.pop_back();
  after_value();
  return nesting == Nesting::object ? JsonToken::end_object : JsonToken::end_array;
}

void JsonStream::after_value() {
  expected_ = nesting_.empty() ? Expected::nothing : Expected::comma_or_end;
}

JsonToken JsonStream::read_key() {
  if (peek() != '"') {
    fail("expected a key in quotes, found " + shown(peek()));
  }
  read_string();
  if (next_ == filled_ || piece_[next_] != ':') {
    keep_text();
    skip_blanks();
    if (peek() != ':') {
      mark_token();
      fail("expected \":\" after a key, found " + shown(peek()));
    }
  }
  ++next_;
  expected_ = Expected::value;
  return JsonToken::key;
}

JsonToken JsonStream::read_value() {
  const int byte = peek();
  if (byte == '{') {
    return begin(Nesting::object);
  }
  if (byte == '[') {
    return begin(Nesting::array);
  }
  if (byte == '"') {
    read_string();
    after_value();
    return JsonToken::text;
  }
  if (!is_of_word(byte)) {
    fail("expected a value, found " + shown(byte));
  }
  return read_word();
}

void JsonStream::skip_until(std::size_t depth) {
  skipping_ = true;
  while (nesting_.size() > depth) {
    next();
  }
  skipping_ = false;
}

void JsonStream::skip() {
  const std::size_t depth = nesting_.size();
  skipping_ = true;
  next();
  skip_until(depth);
}

void JsonStream::leave() {
  ensure(!nesting_.empty(), "what is left has been begun");
  skip_until(nesting_.size() - 1);
}

}  // namespace titer
