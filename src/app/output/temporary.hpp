#pragma once
// What is only there until a command is done, and is not to stay behind where it is ended before.

#include <filesystem>

namespace titer {

/// A path beside the target of an output, in which it is written. As long as one lives, SIGINT and
/// SIGTERM remove all of them before they end the process, unless something else waits for these
/// signals (Interrupt).
class Temporary {
 public:
  /// Nothing is made: "out.json" is written in "out.json.partial-4711", of this process.
  explicit Temporary(const std::filesystem::path& target);
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;
  /// Removes what is there still, with all that is in it.
  ~Temporary();

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace titer
