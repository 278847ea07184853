#include "output_folder.hpp"

#include "app/command.hpp"
#include "output_file.hpp"

namespace titer {

namespace fs = std::filesystem;

OutputFolder::OutputFolder(const std::string& path) : target_(path) {
  if (!target_.has_filename()) {
    target_ = target_.parent_path();  // "traces/"
  }
  std::error_code missing;
  const fs::file_status status = fs::status(target_, missing);
  const bool empty = fs::is_directory(status) && fs::is_empty(target_, missing);
  if (target_.empty() || (fs::exists(status) && (!empty || missing))) {
    fail("expected a folder that is new or empty");
  }
  temporary_.emplace(target_);
  if (!fs::create_directory(temporary_->path(), missing)) {
    fail("cannot be made; expected a path in a folder that exists");
  }
}

void OutputFolder::write(const std::string& name, std::string_view text) {
  OutputFile file((temporary_->path() / name).string());
  file.write(text);
  file.finish();
}

void OutputFolder::finish() {
  std::error_code error;
  fs::rename(temporary_->path(), target_, error);
  if (error) {
    fail("cannot be replaced");
  }
  temporary_.reset();
}

void OutputFolder::fail(std::string_view what) const {
  throw InputError(target_.string() + ": " + std::string(what));
}

}  // namespace titer
