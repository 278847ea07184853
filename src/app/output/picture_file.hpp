#pragma once
// Pictures in files: SVG, or PNG where the name says so.

#include <string>
#include <string_view>

#include "output_file.hpp"

namespace titer {

class PictureFile {
 public:
  /// Refuses a name of another ending, and a PNG where none can be drawn. `option`: what named it.
  PictureFile(std::string_view option, const std::string& path);

  /// All of it.
  void write(std::string_view svg);

 private:
  bool is_png_;
  OutputFile file_;
};

/// Refuses PNG on a terminal, and where none can be drawn; for `--format png`.
void expect_png_goes_to(const std::string& path);

}  // namespace titer
