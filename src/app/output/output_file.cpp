#include "output_file.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>

#include "app/command.hpp"

namespace titer {

void tell_if_large(const std::string& name, double bytes) {
  constexpr double large = 100e6;
  if (bytes >= large && isatty(STDERR_FILENO) == 1) {
    fmt::print(stderr, "\r\033[K{}: some {:.0f} MB will be written\n", name, bytes / 1e6);
  }
}

std::optional<double> SizeForecast::after(std::size_t done) {
  constexpr double enough = 1e6;  // bytes, to tell from
  if (is_told_ || bytes_ < enough || done == 0) {
    return std::nullopt;
  }
  is_told_ = true;
  return bytes_ * static_cast<double>(parts_) / static_cast<double>(done);
}

OutputFile::OutputFile(const std::string& path) : target_(path) {
  if (target_.empty()) {
    file_ = stdout;
    return;
  }
  std::error_code missing;
  const std::filesystem::file_status status = std::filesystem::status(target_, missing);
  if (std::filesystem::is_directory(status)) {
    fail("is a folder; expected a file");
  }
  // A device or pipe is written through: a file in its place would be no device any more.
  if (!std::filesystem::exists(status) || std::filesystem::is_regular_file(status)) {
    temporary_.emplace(target_);
  }
  file_ = std::fopen((temporary_ ? temporary_->path() : target_).c_str(), "wb");
  if (file_ == nullptr) {
    fail("cannot be written; expected a path in a folder that exists");
  }
}

OutputFile::~OutputFile() {
  if (file_ != nullptr && !target_.empty()) {
    std::fclose(file_);
  }
}

void OutputFile::write(std::string_view text) {
  if (is_empty_ && !target_.empty()) {
    announce(static_cast<double>(text.size()));
  }
  is_empty_ = false;
  if (std::fwrite(text.data(), 1, text.size(), file_) != text.size()) {
    fail("cannot be written any further; is the disk full?");
  }
}

void OutputFile::finish() {
  if (std::fflush(file_) != 0) {
    fail("cannot be written any further; is the disk full?");
  }
  if (target_.empty()) {
    return;
  }
  const bool closed = std::fclose(file_) == 0;
  file_ = nullptr;
  if (!closed) {
    fail("cannot be written any further; is the disk full?");
  }
  if (!temporary_) {
    return;
  }
  std::error_code error;
  std::filesystem::rename(temporary_->path(), target_, error);
  if (error) {
    fail("cannot be replaced");
  }
  temporary_.reset();
}

void OutputFile::fail(std::string_view what) const {
  const std::string name = target_.empty() ? "standard output" : target_.string();
  throw InputError(name + ": " + std::string(what));
}

}  // namespace titer
