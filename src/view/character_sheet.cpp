#include "character_sheet.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "titer/view/table.hpp"

namespace titer {
namespace {

/// Where the character ends that begins there.
std::size_t end_of(std::string_view words, std::size_t begin) {
  std::size_t end = begin + 1;
  while (end < words.size() && (static_cast<unsigned char>(words[end]) & 0xC0U) == 0x80U) {
    ++end;
  }
  return end;
}

/// U+2800 and the dots' bits.
std::string braille(unsigned dots) {
  const unsigned code = 0x2800U + dots;
  return {static_cast<char>(0xE0U | (code >> 12U)),
          static_cast<char>(0x80U | ((code >> 6U) & 0x3FU)),
          static_cast<char>(0x80U | (code & 0x3FU))};
}

}  // namespace

void CharacterSheet::put(std::size_t column, std::size_t row, std::string_view character) {
  if (column < columns_ && row * columns_ + column < cells_.size()) {
    cells_[row * columns_ + column] = character;
  }
}

void CharacterSheet::put_words(std::size_t column, std::size_t row, const std::string& words) {
  std::size_t at = std::min(column, columns_ - std::min(columns_, width_of(words)));
  for (std::size_t i = 0; i < words.size(); i = end_of(words, i)) {
    put(at++, row, std::string_view(words).substr(i, end_of(words, i) - i));
  }
}

void CharacterSheet::dot(std::size_t x, std::size_t y) {
  constexpr std::array<std::array<unsigned, kDotsAcross>, kDotsDown> bits = {
      {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}}};
  const std::size_t cell = y / kDotsDown * columns_ + x / kDotsAcross;
  if (x / kDotsAcross < columns_ && cell < dots_.size()) {
    dots_[cell] |= bits[y % kDotsDown][x % kDotsAcross];
  }
}

std::string CharacterSheet::row(std::size_t row) const {
  std::string text;
  for (std::size_t cell = row * columns_; cell < (row + 1) * columns_; ++cell) {
    text += cells_[cell] == " " && dots_[cell] != 0 ? braille(dots_[cell]) : cells_[cell];
  }
  return text.substr(0, text.find_last_not_of(' ') + 1);
}

std::size_t place(double share, std::size_t size) {
  return static_cast<std::size_t>(
      std::lround(std::clamp(share, 0.0, 1.0) * static_cast<double>(size - 1)));
}

std::string shortened(const std::string& words, std::size_t most) {
  if (width_of(words) <= most) {
    return words;
  }
  std::size_t end = 0;
  for (std::size_t width = 0; end < words.size() && width + 1 < most; ++width) {
    end = end_of(words, end);
  }
  return words.substr(0, end) + "…";
}

std::string padded(const std::string& words, std::size_t width, bool to_right) {
  const std::string air(width - std::min(width, width_of(words)), ' ');
  return to_right ? air + words : words + air;
}

}  // namespace titer
