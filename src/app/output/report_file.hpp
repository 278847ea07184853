#pragma once
// `--report FILE`, an answer as one HTML file, and `--plot FILE`, its charts as a picture, beside
// what is printed; `--plot` alone, charts of characters below it.

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "output_file.hpp"
#include "picture_file.hpp"
#include "titer/view/view.hpp"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace titer {

class ReportFile {
 public:
  void add_to(CLI::App& app);
  /// `--plot`, of commands whose answers have charts.
  void add_plot_to(CLI::App& app);
  /// As the command was typed, for whoever wants to make the report again.
  void made_by(std::string command) { command_ = std::move(command); }

  /// Keeps the answer here for a document of several, in place of a file.
  void keep(std::optional<View>& answer) { kept_ = &answer; }

  [[nodiscard]] bool is_wanted() const { return !path_.empty() || kept_ != nullptr; }
  /// A report or its charts.
  [[nodiscard]] bool is_any_wanted() const {
    return is_wanted() || !plot_path_.empty() || is_plot_printed();
  }
  /// Charts of characters, below the answer.
  [[nodiscard]] bool is_plot_printed() const;
  /// What write() made of them; nothing where none are wanted.
  [[nodiscard]] const std::string& charts() const { return charts_; }
  /// A path that cannot be written is told before any work.
  void open();
  /// Nothing where none is wanted. Throws InputError where charts are and the answer has none.
  void write(const View& view);

 private:
  std::string path_;
  std::string plot_path_;
  const CLI::Option* plot_ = nullptr;
  std::string charts_;
  std::string command_;
  std::optional<View>* kept_ = nullptr;
  std::unique_ptr<OutputFile> file_;
  std::unique_ptr<PictureFile> plot_file_;
};

/// "titer run 'my run.json'": to be typed again.
[[nodiscard]] std::string command_line(int argc, const char* const* argv);

}  // namespace titer
