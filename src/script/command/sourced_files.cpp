#include "titer/script/sourced_files.hpp"

#include <algorithm>
#include <system_error>

#include "titer/units/lists.hpp"

namespace titer {
namespace {

constexpr int kMostFoldersAround = 4;  // from where a script in scripts/train/llama is started

bool is_file(const std::filesystem::path& path) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(path, ignored);
}

/// What is written after the folder that only running the script would tell: `pwd`/, $HOME/, ~/.
std::string_view after_folder(std::string_view called) {
  const std::size_t open = called.find_last_of("$`)}~");
  const std::size_t slash = open == called.npos ? called.npos : called.find('/', open);
  if (open == called.npos) {
    return called;
  }
  return slash == called.npos ? std::string_view() : called.substr(slash + 1);
}

std::string_view without_first_folder(std::string_view path) {
  const std::size_t slash = path.find('/');
  return slash == path.npos ? std::string_view() : path.substr(slash + 1);
}

/// A script is started in a folder around its own, from which paths are.
std::optional<SourcedFile> find_around(const std::filesystem::path& folder, std::string_view path) {
  std::error_code ignored;
  const std::filesystem::path called(path);
  const bool is_plain =
      !called.is_absolute() && called.has_parent_path() && !includes(called, "..");
  std::filesystem::path from = std::filesystem::absolute(folder, ignored).lexically_normal();
  if (from.has_relative_path() && !from.has_filename()) {
    from = from.parent_path();
  }
  for (int steps = 0; is_plain && steps < kMostFoldersAround && from.has_relative_path(); ++steps) {
    from = from.parent_path();
    if (is_file(from / called)) {
      const std::filesystem::path there = from / called;
      return SourcedFile{.name = there.string(), .text = read_small_text(there)};
    }
  }
  return std::nullopt;
}

}  // namespace

SourcedFiles::SourcedFiles(std::span<const std::filesystem::path> given) : given_(given) {}

std::optional<SourcedFile> SourcedFiles::find(std::string_view called) {
  std::string_view path = after_folder(called);
  const std::filesystem::path name = std::filesystem::path(path).filename();
  if (given_.empty() || name.empty()) {
    return std::nullopt;
  }
  const auto given = std::find_if(given_.begin() + 1, given_.end(), [&](const auto& other) {
    return other.filename() == name && is_file(other);
  });
  if (given != given_.end()) {
    read_.insert(*given);
    return SourcedFile{.name = given->string(), .text = read_small_text(*given)};
  }
  const std::filesystem::path folder = given_.front().parent_path();
  for (bool is_whole = true; !path.empty(); path = without_first_folder(path), is_whole = false) {
    const std::filesystem::path there = folder / std::filesystem::path(path).relative_path();
    if (is_file(there) && there != given_.front()) {
      return SourcedFile{.name = there.string(), .text = read_small_text(there)};
    }
    auto around = is_whole ? find_around(folder, path) : std::nullopt;
    if (around) {
      return around;
    }
  }
  return std::nullopt;
}

bool SourcedFiles::was_read(const std::filesystem::path& given) const {
  return read_.count(given) > 0;
}

}  // namespace titer
