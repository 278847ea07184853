#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

#include "titer/input/reader.hpp"
#include "titer/script/foreign_text.hpp"

namespace titer {
namespace {

constexpr std::size_t kLargestConfiguration = std::size_t{16} << 20U;

}  // namespace

std::string read_small_text(const std::filesystem::path& path) {
  std::error_code ignored;
  std::ifstream file(path, std::ios::binary);
  if (!file || std::filesystem::is_directory(path, ignored)) {
    throw InputError(path.string() + ": cannot be read; expected a file");
  }
  std::string text(kLargestConfiguration + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (text.size() > kLargestConfiguration) {
    throw InputError(path.string() + ": larger than 16 MiB; expected a configuration");
  }
  if (const std::size_t nul = text.find('\0'); nul != std::string::npos) {
    throw InputError(path.string() + ": has a NUL byte; expected text");
  }
  return text;
}

}  // namespace titer
