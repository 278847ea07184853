#include "report_file.hpp"

#include <CLI/CLI.hpp>

#include "titer/units/shell_word.hpp"
#include "titer/view/html.hpp"

namespace titer {

void ReportFile::add_to(CLI::App& app) {
  app.add_option("--report",
                 path_,
                 "write the answer with pictures, inputs and sources to this file, as one page of "
                 "HTML")
      ->type_name("FILE.html");
}

void ReportFile::open() {
  if (is_wanted()) {
    file_ = std::make_unique<OutputFile>(path_);
  }
}

void ReportFile::write(const View& view) {
  if (file_) {
    file_->write(html_of(view, {.command = command_, .version = TITER_VERSION}));
    file_->finish();
    file_.reset();
  }
}

std::string command_line(int argc, const char* const* argv) {
  std::string text = "titer";
  for (int i = 1; i < argc; ++i) {
    text += " " + shell_word(argv[i]);
  }
  return text;
}

}  // namespace titer
