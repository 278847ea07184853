#pragma once
// Numbers as texts have them, without units.

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace titer {

/// The number that a text is, from its first to its last character; nothing where it is none, or
/// has no place in an N.
template <class N>
[[nodiscard]] std::optional<N> number_of_text(std::string_view text) {
  N number{};
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && rest == end ? std::optional(number) : std::nullopt;
}

}  // namespace titer
