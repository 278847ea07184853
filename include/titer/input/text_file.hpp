#pragma once
// Files as text.

#include <filesystem>
#include <string>

namespace titer {

/// All of a file; one that cannot be read is an InputError naming it.
[[nodiscard]] std::string read_text(const std::filesystem::path& path);

}  // namespace titer
