#pragma once
// What tests of imported runs ask.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "script/texts.hpp"
#include "temporary_folder.hpp"
#include "titer/import/imported.hpp"

namespace titer::testing {

/// What a text is as a file of that name, on so many devices.
inline ImportedRun of(std::string_view text,
                      const std::string& file = "run.sh",
                      std::optional<std::int64_t> devices = {}) {
  ImportOptions options;
  options.devices = devices;
  return import_text(text, file, options);
}

/// The first line of what such a file is refused with.
inline std::string refusal(std::string_view text,
                           const std::string& file = "run.sh",
                           std::optional<std::int64_t> devices = {}) {
  return refusal_of([&] { return of(text, file, devices); });
}

/// What `titer import` makes of such a file: what nothing tells is left open, and what may change
/// the result is refused.
inline ImportedRun of_file(std::string_view text,
                           const std::string& file,
                           std::optional<std::int64_t> devices = {}) {
  const TemporaryFolder folder;
  const std::vector<std::filesystem::path> files = {folder.file(file, text)};
  ImportOptions options;
  options.devices = devices;
  return import_files(files, options);
}

}  // namespace titer::testing
