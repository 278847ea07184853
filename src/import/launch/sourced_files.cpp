#include "sourced_files.hpp"

#include <algorithm>
#include <string>
#include <system_error>

namespace titer {
namespace {

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
  for (; !path.empty(); path = without_first_folder(path)) {
    const std::filesystem::path there = folder / std::filesystem::path(path).relative_path();
    if (is_file(there) && there != given_.front()) {
      return SourcedFile{.name = there.string(), .text = read_small_text(there)};
    }
  }
  return std::nullopt;
}

bool SourcedFiles::was_read(const std::filesystem::path& given) const {
  return read_.count(given) > 0;
}

}  // namespace titer
