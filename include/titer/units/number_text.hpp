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
