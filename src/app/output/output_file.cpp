#include "output_file.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "app/command.hpp"
#include "titer/input/words.hpp"
#include "titer/units/lists.hpp"

namespace titer {
namespace {

/// An ending of names, and the formats of ours that files so called may hold; none of others'
/// formats.
struct Ending {
  std::string_view ending;
  std::string_view formats;
};
constexpr std::array<Ending, 26> kEndings = {{{".csv", "csv actions"},
                                              {".json", "json jsonl trace deepspeed"},
                                              {".jsonl", "jsonl"},
                                              {".svg", "svg picture"},
                                              {".png", "png picture"},
                                              {".pdf", "pdf"},
                                              {".html", "html"},
                                              {".htm", "html"},
                                              {".tex", "tikz"},
                                              {".tikz", "tikz"},
                                              {".dot", "dot"},
                                              {".gv", "dot"},
                                              {".sh", "megatron slurm"},
                                              {".yaml", "nemo megatron-bridge"},
                                              {".yml", "nemo megatron-bridge"},
                                              {".toml", "torchtitan"},
                                              {".goal", "goal"},
                                              {".txt",
                                               "text csv actions json jsonl trace tikz dot goal "
                                               "megatron slurm nemo megatron-bridge torchtitan "
                                               "deepspeed"},
                                              {".md", "text"},
                                              {".eps", ""},
                                              {".gif", ""},
                                              {".jpeg", ""},
                                              {".jpg", ""},
                                              {".webp", ""},
                                              {".ps", ""},
                                              {".xlsx", ""}}};

const Ending* known_ending(const std::string& path) {
  return first_with(kEndings, ending_of(path), &Ending::ending);
}

bool may_hold(const Ending& ending, std::string_view format) {
  const std::string formats = " " + std::string(ending.formats) + " ";
  return formats.find(" " + std::string(format) + " ") != std::string::npos;
}

}  // namespace

std::string ending_of(const std::string& path) {
  return lower(std::filesystem::path(path).extension().string());
}

std::string_view told_format(const std::string& path) {
  const Ending* const known = known_ending(path);
  return known == nullptr ? "" : known->formats.substr(0, known->formats.find(' '));
}

void check_ending(std::string_view option, const std::string& path, std::string_view format) {
  const Ending* const known = known_ending(path);
  if (known == nullptr || may_hold(*known, format)) {
    return;
  }
  std::string expected;
  for (const Ending& one : kEndings) {
    if (may_hold(one, format)) {
      expected += (expected.empty() ? "" : " or ") + std::string(one.ending);
    }
  }
  if (expected.empty()) {  // no name tells of it, or the format is none
    return;
  }
  throw InputError(
      fmt::format("{}: {}: expected a name that ends in {}, as what is written is that",
                  option,
                  path,
                  expected));
}

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

OutputFile::OutputFile(std::string_view option, const std::string& path, std::string_view format)
    : OutputFile((check_ending(option, path, format), path)) {}

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
