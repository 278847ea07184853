#include "report_file.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "terminal.hpp"
#include "titer/ask/shipped.hpp"
#include "titer/input/input_error.hpp"
#include "titer/units/blanks.hpp"
#include "titer/units/shell_word.hpp"
#include "titer/view/html.hpp"

namespace titer {
namespace {

constexpr std::size_t kChartColumns = 80;
constexpr std::size_t kFewestColumns = 40;

/// What an answer is of: its first line that is no note.
std::string title_of(const View& view) {
  if (!view.title.empty()) {
    return view.title;
  }
  const std::string text = view.as_text();
  for (const std::string_view line : divided(text, "\n")) {
    if (!line.empty() && !line.starts_with("note: ")) {
      return std::string(line);
    }
  }
  return "";
}

/// Charts that stand by themselves: the first says what they are of.
std::vector<Plot> titled_plots(const View& view) {
  std::vector<Plot> plots = view.plots;
  std::string& note = plots.front().note;
  note = title_of(view) + (note.empty() ? "" : ". " + note);
  return plots;
}

std::size_t width_of_charts() {
  const std::size_t width = terminal_style().width;
  return width == 0 ? kChartColumns : std::clamp(width, kFewestColumns, kChartColumns);
}

}  // namespace

void ReportFile::add_to(CLI::App& app) {
  app.add_option("--report",
                 path_,
                 "write the answer with pictures, inputs and sources to this file, as one page of "
                 "HTML")
      ->type_name("FILE.html");
}

void ReportFile::add_plot_to(CLI::App& app) {
  plot_ =
      app.add_option("--plot",
                     plot_path_,
                     "write the charts of the answer to this file, as SVG or PNG; without a file, "
                     "at the end of the line: print them below the answer")
          ->expected(0, 1)
          ->type_name("FILE.svg|FILE.png");
}

bool ReportFile::is_plot_printed() const {
  return plot_ != nullptr && plot_->count() > 0 && plot_path_.empty();
}

void ReportFile::open() {
  if (!path_.empty() && path_ == plot_path_) {
    throw InputError(path_ + ": expected a file of its own for each output");
  }
  if (!plot_path_.empty()) {
    plot_file_ = std::make_unique<PictureFile>("--plot", plot_path_);
  }
  if (!path_.empty()) {
    file_ = std::make_unique<OutputFile>("--report", path_, "html");
  }
}

void ReportFile::write(const View& view) {
  if (plot_ != nullptr && plot_->count() > 0 && view.plots.empty()) {
    throw InputError("--plot: this answer has no chart");
  }
  if (plot_file_) {
    plot_file_->write(plot_svg(titled_plots(view)));
    plot_file_.reset();
  } else if (is_plot_printed()) {
    charts_ = "\n" + plot_text(view.plots, width_of_charts());
  }
  if (kept_ != nullptr) {
    *kept_ = view;
  }
  if (file_) {
    file_->write(html_of(view, {.command = command_, .version = std::string(version())}));
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
