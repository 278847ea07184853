#pragma once
// What comes with the program.

#include <string>
#include <string_view>
#include <vector>

namespace titer {

/// "models", "chips", "clusters", …
[[nodiscard]] std::vector<std::string_view> shipped_kinds();
/// The names of what is shipped of a kind, sorted. Throws InputError where there is no such kind.
[[nodiscard]] std::vector<std::string> shipped(std::string_view kind);

}  // namespace titer
