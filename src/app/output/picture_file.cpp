#include "picture_file.hpp"

#include <unistd.h>

#include "png.hpp"
#include "titer/input/input_error.hpp"

namespace titer {
namespace {

bool is_png_name(std::string_view option, const std::string& path) {
  check_ending(option, path, "picture");
  const bool is_png = ending_of(path) == ".png";
  if (is_png) {
    expect_png();
  }
  return is_png;
}

}  // namespace

PictureFile::PictureFile(std::string_view option, const std::string& path)
    : is_png_(is_png_name(option, path)), file_(path) {}

void PictureFile::write(std::string_view svg) {
  file_.write(is_png_ ? png_of(svg) : svg);
  file_.finish();
}

void expect_png_goes_to(const std::string& path) {
  if (path.empty() && isatty(STDOUT_FILENO) == 1) {
    throw InputError("--format: png: expected --out FILE.png, not a terminal");
  }
  expect_png();
}

}  // namespace titer
