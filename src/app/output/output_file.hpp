#pragma once
// Where a command's data goes: standard output, or a file that appears whole or not at all.

#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "temporary.hpp"

namespace titer {

/// "step.goal: some 984 MB will be written", of 100 MB and more; on a terminal alone.
void tell_if_large(const std::string& name, double bytes);

/// Refuses a path whose ending tells of what the file will not hold: it would be opened by the
/// wrong program. `option`: what named it, "--out". `format`: of the file, "csv"; "picture" for SVG
/// or PNG.
void check_ending(std::string_view option, const std::string& path, std::string_view format);
/// The format that a path's ending tells of, "svg"; "" where it tells none.
[[nodiscard]] std::string_view told_format(const std::string& path);
/// ".png" of "Step.PNG"; "" where there is none.
[[nodiscard]] std::string ending_of(const std::string& path);

/// How large a file of equal parts will be.
class SizeForecast {
 public:
  explicit SizeForecast(std::size_t parts) : parts_(parts) {}

  void wrote(std::size_t bytes) { bytes_ += static_cast<double>(bytes); }
  /// The bytes of all parts, of which so many are written: once, as soon as these tell.
  [[nodiscard]] std::optional<double> after(std::size_t done);

 private:
  std::size_t parts_;
  double bytes_ = 0;
  bool is_told_ = false;
};

/// Writes to a temporary file beside the target and renames it at finish(); without finish() the
/// target is left as it was. An empty path is standard output; a device or pipe has no temporary.
class OutputFile {
 public:
  explicit OutputFile(const std::string& path);
  /// The same, after check_ending().
  OutputFile(std::string_view option, const std::string& path, std::string_view format);
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  ~OutputFile();

  /// That so many bytes will be written, if that is much.
  void announce(double bytes) const { tell_if_large(target_.string(), bytes); }
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
