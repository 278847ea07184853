#pragma once
// A file of any size read in pieces, decompressed where it is compressed with gzip.

#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "titer/input/json_stream.hpp"

namespace titer {

class PieceFile {
 public:
  /// An unreadable file is an InputError naming it.
  explicit PieceFile(const std::filesystem::path& path);

  /// Fills the piece as far as the file goes on. Throws InputError for compressed data that is
  /// broken or ends too early.
  [[nodiscard]] std::size_t read(std::span<char> piece);
  /// REQUIRES that the file outlives it.
  [[nodiscard]] ByteSource source() {
    return [this](std::span<char> piece) { return read(piece); };
  }

 private:
  struct Close {
    void operator()(void* file) const;
  };
  std::string name_;
  std::unique_ptr<void, Close> file_;
};

/// All of a small file, decompressed: at most `most` bytes, else an InputError.
[[nodiscard]] std::string read_pieces(const std::filesystem::path& path, std::size_t most);

}  // namespace titer
