#pragma once
// Where a command's files go when there are many: a folder that appears whole or not at all.

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "temporary.hpp"

namespace titer {

/// Writes to a temporary folder beside the target and renames it at finish(); without finish()
/// nothing is left. The target must be new, or an empty folder.
class OutputFolder {
 public:
  explicit OutputFolder(const std::string& path);
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;

  void write(const std::string& name, std::string_view text);
  void finish();

 private:
  [[noreturn]] void fail(std::string_view what) const;

  std::filesystem::path target_;
  std::optional<Temporary> temporary_;
};

}  // namespace titer
