#include "titer/input/words.hpp"

namespace titer {

std::string lower(std::string_view text) {
  std::string small(text);
  for (char& c : small) {
    c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return small;
}

}  // namespace titer
