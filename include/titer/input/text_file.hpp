#pragma once
// Files as text.

#include <cstdint>
#include <filesystem>
#include <string>

namespace titer {

/// A larger file is nobody's configuration: it is refused before it fills the memory.
inline constexpr std::uintmax_t kLargestText = std::uintmax_t{256} << 20U;

/// All of a file; one that cannot be read, or is too large, is an InputError naming it.
[[nodiscard]] std::string read_text(const std::filesystem::path& path);

}  // namespace titer
