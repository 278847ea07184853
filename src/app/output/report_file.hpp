#pragma once
// `--report FILE`: an answer as one HTML file, beside what is printed.

#include <memory>
#include <string>
#include <utility>

#include "output_file.hpp"
#include "titer/view/view.hpp"

namespace CLI {
class App;
}

namespace titer {

class ReportFile {
 public:
  void add_to(CLI::App& app);
  /// As the command was typed, for whoever wants to make the report again.
  void made_by(std::string command) { command_ = std::move(command); }

  [[nodiscard]] bool is_wanted() const { return !path_.empty(); }
  /// A path that cannot be written is told before any work.
  void open();
  /// Nothing where no report is wanted.
  void write(const View& view);

 private:
  std::string path_;
  std::string command_;
  std::unique_ptr<OutputFile> file_;
};

/// "titer run 'my run.json'": to be typed again.
[[nodiscard]] std::string command_line(int argc, const char* const* argv);

}  // namespace titer
