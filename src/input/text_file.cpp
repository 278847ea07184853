#include "titer/input/text_file.hpp"

#include <fstream>
#include <iterator>

#include "titer/input/reader.hpp"

namespace titer {

std::string read_text(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::error_code ignored;
  if (!file || std::filesystem::is_directory(path, ignored)) {
    throw InputError(path.string() + ": cannot be read");
  }
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace titer
