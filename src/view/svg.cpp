#include "titer/view/svg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "titer/input/words.hpp"

namespace titer {
namespace {

/// A length of characters, by the bits of their first byte.
struct Utf8Length {
  unsigned mask;
  unsigned lead;
  std::size_t bytes;
  unsigned least;  // code point that needs so many
};
constexpr std::array<Utf8Length, 4> kUtf8Lengths = {
    {{0x80, 0x00, 1, 0}, {0xE0, 0xC0, 2, 0x80}, {0xF0, 0xE0, 3, 0x800}, {0xF8, 0xF0, 4, 0x10000}}};

bool is_character(unsigned code) {
  const bool is_surrogate = code >= 0xD800 && code <= 0xDFFF;
  return !is_surrogate && code != 0xFFFE && code != 0xFFFF && code <= 0x10FFFF;
}

/// How many bytes the character at the beginning of a text has; 0 where it is none. [RFC 3629]
std::size_t utf8_length(std::string_view text) {
  const auto first = static_cast<unsigned char>(text.front());
  const auto* const kind = std::ranges::find_if(
      kUtf8Lengths, [&](const Utf8Length& one) { return (first & one.mask) == one.lead; });
  if (kind == kUtf8Lengths.end() || kind->bytes > text.size()) {
    return 0;
  }
  unsigned code = first & ~kind->mask;
  for (const char next : text.substr(1, kind->bytes - 1)) {
    const unsigned byte = static_cast<unsigned char>(next);
    if ((byte & 0xC0U) != 0x80U) {
      return 0;
    }
    code = code << 6U | (byte & 0x3FU);
  }
  return code >= kind->least && is_character(code) ? kind->bytes : 0;
}

std::string_view entity_of(char letter) {
  switch (letter) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '"':
      return "&quot;";
    case '\'':
      return "&#39;";
    default:
      return {};
  }
}

}  // namespace

std::string escaped(std::string_view text) {
  const std::string shown = visible(text);
  std::string safe;
  for (std::size_t at = 0; at < shown.size();) {
    const std::size_t bytes = utf8_length(std::string_view(shown).substr(at));
    const std::string_view entity = entity_of(shown[at]);
    if (bytes == 0) {
      safe += "\xEF\xBF\xBD";
    } else if (!entity.empty()) {
      safe += entity;
    } else {
      safe += shown.substr(at, bytes);
    }
    at += std::max<std::size_t>(bytes, 1);
  }
  return safe;
}

std::string tenths(double value) {
  std::string text = fmt::format("{:.1f}", value);
  if (text.ends_with(".0")) {
    text.resize(text.size() - 2);
  }
  return text == "-0" ? "0" : text;
}

double mark_distance(double least) {
  const double power = std::pow(10.0, std::floor(std::log10(least)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= least * (1 - 1e-9)) {
      return factor * power;
    }
  }
  return 10.0 * power;
}

}  // namespace titer
