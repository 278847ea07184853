#pragma once
// Files that a script sources, of those that are at hand.

#include <filesystem>
#include <optional>
#include <set>
#include <span>
#include <string_view>

#include "titer/script/foreign_text.hpp"

namespace titer {

/// Of the files that are given together, and of what lies beside the first of them.
class SourcedFiles {
 public:
  explicit SourcedFiles(std::span<const std::filesystem::path> given);

  /// One of those given by its name; else the path below the script's folder or one of the few
  /// around it, or its end below the script's: of "$(dirname $0)/conf/model.sh" "conf/model.sh",
  /// then "model.sh".
  [[nodiscard]] std::optional<SourcedFile> find(std::string_view called);
  [[nodiscard]] bool was_read(const std::filesystem::path& given) const;

 private:
  std::span<const std::filesystem::path> given_;
  std::set<std::filesystem::path> read_;
};

}  // namespace titer
