#include "shell_override.hpp"

#include <algorithm>

namespace titer::shell {

std::optional<ArgumentOverride> override_of(const Text& word) {
  const std::string_view chars = word.chars;
  const std::size_t equals = chars.find('=');
  const std::size_t begin = std::min(chars.find_first_not_of("+~"), chars.size());
  if (equals == std::string_view::npos || begin > 2 || begin >= equals ||
      std::islower(static_cast<unsigned char>(chars[begin])) == 0) {
    return std::nullopt;
  }
  const std::string_view path = chars.substr(begin, equals - begin);
  const bool is_path =
      std::ranges::all_of(path, [](char c) { return is_of_name(c) || c == '.' || c == '-'; });
  if (!is_path) {
    return std::nullopt;
  }
  return ArgumentOverride{.path = std::string(chars.substr(0, equals)),
                          .value = std::string(chars.substr(equals + 1)),
                          .at = word.place()};
}

}  // namespace titer::shell
