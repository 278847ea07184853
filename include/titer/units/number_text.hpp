#pragma once
// Numbers as texts have them, without units.

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

namespace titer {

/// "41.3 %".
[[nodiscard]] std::string percent_text(double share);
/// "1 rank", "3 ranks".
[[nodiscard]] std::string counted_text(std::uint64_t count, std::string_view what);

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
/// The number that a text is, from its first to its last character; nothing where it is none, or
/// has no place in an N.
template <class N>
[[nodiscard]] std::optional<N> number_of_text(std::string_view text) {
  const std::optional<N> number = take_number<N>(text);
  return text.empty() ? number : std::nullopt;
}

}  // namespace titer
