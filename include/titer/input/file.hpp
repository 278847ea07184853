#pragma once
// Files, as text and as JSON. Apart from document.hpp, which nearly all include: <filesystem> takes
// longer to compile than the rest of that header.

#include <filesystem>
#include <string>

#include "titer/input/document.hpp"

namespace titer {

/// A larger file is nobody's configuration: it is refused before it fills the memory.
inline constexpr std::uintmax_t kLargestText = std::uintmax_t{256} << 20U;

/// All of a file; one that cannot be read, or is too large, is an InputError naming it.
[[nodiscard]] std::string read_text(const std::filesystem::path& path);

/// Reads and parses a file; an unreadable file is an InputError naming the path.
[[nodiscard]] Document load_json(const std::filesystem::path& path);

}  // namespace titer
