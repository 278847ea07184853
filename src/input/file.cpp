#include "titer/input/file.hpp"

#include <fstream>
#include <system_error>

#include "titer/input/reader.hpp"

namespace titer {

std::string read_text(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::error_code error;
  if (!file || std::filesystem::is_directory(path, error)) {
    throw InputError(path.string() + ": cannot be read");
  }
  const std::string too_large = path.string() + ": expected a file of at most 256 MiB";
  if (const auto size = std::filesystem::file_size(path, error); !error && size > kLargestText) {
    throw InputError(too_large);
  }
  std::string text;
  std::string piece(std::size_t{1} << 16U, '\0');
  while (file) {  // what is no regular file does not tell its size
    file.read(piece.data(), static_cast<std::streamsize>(piece.size()));
    text.append(piece, 0, static_cast<std::size_t>(file.gcount()));
    if (text.size() > kLargestText) {
      throw InputError(too_large);
    }
  }
  if (file.bad()) {
    throw InputError(path.string() + ": cannot be read");
  }
  return text;
}

Document load_json(const std::filesystem::path& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) {
    throw InputError(path.string() + ": there is no such file");
  }
  if (std::filesystem::is_directory(status)) {
    throw InputError(path.string() + ": is a folder; expected a JSON file");
  }
  return parse_json(read_text(path), path.string());
}

}  // namespace titer
