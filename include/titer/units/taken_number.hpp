#pragma once
// Numbers that texts begin with.

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace titer {

/// Takes the number from the front of the text; nothing, and the text as it was, where it begins
/// with none that has a place in an N.
template <class N>
[[nodiscard]] std::optional<N> take_number(std::string_view& text) {
  N number{};
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) {
    return std::nullopt;
  }
  text.remove_prefix(static_cast<std::size_t>(rest - text.data()));
  return number;
}

}  // namespace titer
