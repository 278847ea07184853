#include "trace_file.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "titer/input/reader.hpp"

namespace titer {
namespace {

constexpr unsigned kBuffer = 1U << 18U;  // of compressed bytes

}  // namespace

void PieceFile::Close::operator()(void* file) const { gzclose(static_cast<gzFile>(file)); }

PieceFile::PieceFile(const std::filesystem::path& path) : name_(path.string()) {
  if (std::filesystem::is_directory(path)) {
    throw InputError(name_ + ": is a folder: expected a file");
  }
  if (std::filesystem::is_character_file(path)) {  // some have no end
    throw InputError(name_ + ": is a device: expected a file");
  }
  file_.reset(gzopen(name_.c_str(), "rb"));
  if (file_ == nullptr) {
    throw InputError(name_ + ": cannot be read");
  }
  gzbuffer(static_cast<gzFile>(file_.get()), kBuffer);
}

std::size_t PieceFile::read(std::span<char> piece) {
  auto* const file = static_cast<gzFile>(file_.get());
  constexpr std::size_t most = std::size_t{1} << 30U;
  const int count = gzread(file, piece.data(), static_cast<unsigned>(std::min(piece.size(), most)));
  int error = Z_OK;
  static_cast<void>(gzerror(file, &error));
  if (count < 0 || error != Z_OK) {
    const std::string at = " after " + std::to_string(gztell(file)) + " bytes of text";
    throw InputError(name_ + (error == Z_BUF_ERROR ? ": the compressed data ends too early," + at
                              : error == Z_ERRNO   ? ": cannot be read"
                                                   : ": the compressed data is broken" + at));
  }
  return static_cast<std::size_t>(count);
}

std::string read_pieces(const std::filesystem::path& path, std::size_t most) {
  PieceFile file(path);
  std::string text;
  std::array<char, 1U << 16U> piece{};
  for (std::size_t count = file.read(piece); count > 0; count = file.read(piece)) {
    text.append(piece.data(), count);
    if (text.size() > most) {
      throw InputError(path.string() + ": larger than " + std::to_string(most >> 20U) + " MiB");
    }
  }
  return text;
}

}  // namespace titer
