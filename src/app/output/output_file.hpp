#pragma once
// Where a command's data goes: standard output, or a file that appears whole or not at all.

#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "temporary.hpp"

namespace titer {

/// "step.goal: some 984 MB will be written", of 100 MB and more; on a terminal alone.
void tell_if_large(const std::string& name, double bytes);

/// Writes to a temporary file beside the target and renames it at finish(); without finish() the
/// target is left as it was. An empty path is standard output; a device or pipe has no temporary.
class OutputFile {
 public:
  explicit OutputFile(const std::string& path);
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  ~OutputFile();

  /// A large text that is the file's first is announced: it is all, or nearly all, of the file.
  void write(std::string_view text);
  void finish();

 private:
  [[noreturn]] void fail(std::string_view what) const;

  std::filesystem::path target_;
  std::optional<Temporary> temporary_;
  std::FILE* file_ = nullptr;
  bool is_empty_ = true;
};

}  // namespace titer
