#pragma once
// A sheet of characters that are put at their places, for charts on terminals.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace titer {

inline constexpr std::size_t kDotsAcross = 2;  // of a character of braille
inline constexpr std::size_t kDotsDown = 4;

/// Characters in rows and columns.
class CharacterSheet {
 public:
  CharacterSheet(std::size_t columns, std::size_t rows)
      : columns_(columns), cells_(columns * rows, " "), dots_(columns * rows, 0) {}

  /// Nothing where the place is beyond the edge.
  void put(std::size_t column, std::size_t row, std::string_view character);
  /// Words from a column on, or as far to the left as the edge lets them.
  void put_words(std::size_t column, std::size_t row, const std::string& words);
  /// One of the dots of braille that all characters have.
  void dot(std::size_t x, std::size_t y);

  /// What has been put lies above the dots. No row ends in blanks.
  [[nodiscard]] std::string row(std::size_t row) const;

 private:
  std::size_t columns_;
  std::vector<std::string> cells_;
  std::vector<unsigned> dots_;
};

/// Which of so many characters is nearest to a share of their way.
[[nodiscard]] std::size_t place(double share, std::size_t size);
/// The words, or their begin and "…".
[[nodiscard]] std::string shortened(const std::string& words, std::size_t most);
/// With blanks behind them, or before.
[[nodiscard]] std::string padded(const std::string& words,
                                 std::size_t width,
                                 bool to_right = false);

}  // namespace titer
