#include <fmt/format.h>

#include <cstdio>

#include "app/output/terminal.hpp"
#include "command.hpp"

namespace titer {

void print(std::string_view text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (!written || std::fflush(stdout) != 0) {
    throw InputError("standard output cannot be written");
  }
}

std::string written(const TextView& text, const std::string& path) {
  return text.write(path.empty() ? terminal_style() : TextStyle());
}

std::string written(Format format, const View& view, const std::string& path) {
  switch (format) {
    case Format::text:
      return written(view.text, path);
    case Format::csv:
      return view.as_csv();
    case Format::json:
      return view.json_text();
  }
  return {};
}

void print(Format format, View view, const std::vector<std::string>& notes) {
  add_notes(notes, view);
  print(written(format, view));
}

int print(Format format, const Answer& answer, ReportFile& report) {
  if (report.is_plot_printed() && format != Format::text) {
    throw InputError(
        "--plot: expected a FILE.svg or FILE.png: charts of characters stand below text");
  }
  report.write(answer.view);
  const int code = print(format, answer);
  print(report.charts());
  return code;
}

int print(Format format, const Answer& answer) {
  print(written(format, answer.view));
  return answer.good ? kSuccess : kNo;
}

void tell_notes(const std::vector<std::string>& notes) {
  fmt::print(stderr, "{}", notes_text(notes));
}

}  // namespace titer
