#pragma once
// What tests of imported runs ask.

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "temporary_folder.hpp"
#include "titer/import/imported.hpp"
#include "titer/input/document.hpp"
#include "titer/input/input_error.hpp"

namespace titer::testing {

/// As JSON; "absent" where there is none.
inline std::string member(const Value& object, std::string_view key) {
  const Value* const found = object.find(key);
  return found == nullptr ? "absent" : to_json(*found, 0);
}

inline bool any_has(const std::vector<std::string>& lines, std::string_view part) {
  return std::any_of(lines.begin(), lines.end(), [&](const std::string& line) {
    return line.find(part) != std::string::npos;
  });
}

/// The first line of what an import is refused with.
template <class Import>
std::string refusal_of(const Import& import) {
  try {
    static_cast<void>(import());
  } catch (const InputError& error) {
    return error.lines.front();
  }
  return "not refused";
}

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
