#pragma once
// JSON text as a row of tokens, read piece by piece: for files too large to be kept as a tree. The
// grammar is checked as far as it has been read, in strings and values that are skipped too.
//
// NaN, Infinity and -Infinity, which some programs write, count as null. What is looked at is at
// most one piece of the source and the token being read.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace titer {

/// Fills the front of a piece and tells how much of it; 0 at the end of the source.
using ByteSource = std::function<std::size_t(std::span<char>)>;

enum class JsonToken : std::uint8_t {
  begin_object,
  end_object,
  begin_array,
  end_array,
  key,
  text,
  number,
  boolean,
  null,
  end
};

class JsonStream {
 public:
  /// Pieces are of `piece` bytes. REQUIRES piece > 0.
  JsonStream(ByteSource source, std::string source_name, std::size_t piece = usual_piece);

  /// The next token. A key is followed by the tokens of its value. Throws InputError with the place
  /// of text that is not JSON, ends too early, is nested deeper than 200, or holds a text of more
  /// than 16 MiB.
  JsonToken next();
  /// Reads the value that comes next and forgets it. REQUIRES that next() would begin a value.
  void skip();
  /// Skips the rest of the object or array that next() began last.
  void leave();

  /// Of a key or text, its escapes resolved; of a number, as it is written. Good until next().
  [[nodiscard]] std::string_view text() const { return text_; }
  /// Of a number; what is too large is the largest double.
  [[nodiscard]] double number() const;
  [[nodiscard]] bool boolean() const { return boolean_; }

  [[nodiscard]] std::size_t depth() const { return nesting_.size(); }
  /// "trace.json:12:7": of the token read last.
  [[nodiscard]] std::string where() const;
  /// An InputError with the place of the token read last, and its byte.
  [[noreturn]] void fail(std::string_view message) const;

 private:
  static constexpr std::size_t usual_piece = std::size_t{1} << 18U;
  enum class Nesting : std::uint8_t { object, array };
  enum class Expected : std::uint8_t {
    value,
    value_or_end,
    key_or_end,
    key,
    comma_or_end,
    nothing
  };

  [[nodiscard]] bool refill();
  [[nodiscard]] int peek();
  void skip_blanks();
  void skip_mark();
  JsonToken begin(Nesting nesting);
  JsonToken close();
  void after_value();
  JsonToken read_key();
  JsonToken read_value();
  void read_string();
  [[nodiscard]] bool read_plain_part();
  void keep_part();
  void read_escape();
  void read_short_escape();
  void read_code_point();
  [[nodiscard]] unsigned read_four_digits();
  [[nodiscard]] std::string_view read_word_part();
  JsonToken read_word();
  void keep_text();
  void skip_until(std::size_t depth);
  void mark_token();
  [[nodiscard]] std::uint64_t offset() const { return piece_start_ + next_; }

  ByteSource source_;
  std::string name_;
  std::vector<char> piece_;
  std::size_t next_ = 0;
  std::size_t filled_ = 0;
  std::uint64_t piece_start_ = 0;  // its offset in the source
  std::uint64_t line_start_ = 0;
  std::uint64_t line_ = 1;
  std::uint64_t token_offset_ = 0;
  std::uint64_t token_line_ = 1;
  std::uint64_t token_column_ = 1;

  std::vector<Nesting> nesting_;
  Expected expected_ = Expected::value;
  bool skipping_ = false;  // nobody will look at texts
  std::string kept_;       // of a token that is in several pieces, or has escapes
  std::string_view text_;
  bool boolean_ = false;
};

}  // namespace titer
