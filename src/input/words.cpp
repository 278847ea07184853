#include "titer/input/words.hpp"

#include <cctype>

namespace titer {

std::string lower(std::string_view text) {
  std::string small(text);
  for (char& c : small) {
    c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return small;
}

bool is_of_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

std::string shortened(std::string_view text, std::size_t longest) {
  if (text.size() <= longest) {
    return std::string(text);
  }
  std::size_t cut = longest;
  while (cut > 0 && (static_cast<unsigned char>(text[cut]) & 0xC0U) == 0x80U) {
    --cut;  // not inside a UTF-8 sequence
  }
  return std::string(text.substr(0, cut)) + "…";
}

bool is_control(char c) { return (c >= 0 && c < ' ') || c == 0x7F; }

std::string visible(std::string_view text) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string shown;
  for (const char c : text) {
    if (is_control(c)) {
      const auto byte = static_cast<unsigned>(c);
      shown += "\\u00";
      shown += {digits[byte / 16], digits[byte % 16]};
    } else {
      shown += c;
    }
  }
  return shown;
}

}  // namespace titer
