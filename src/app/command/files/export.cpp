#include <CLI/CLI.hpp>

#include "app/output/output_file.hpp"
#include "app/output/output_folder.hpp"
#include "app/question_command.hpp"
#include "titer/ask/run.hpp"

namespace titer {
namespace {

struct ExportFiles {
  std::string out;
};
constexpr std::array kExportFiles = {options::text<&ExportFiles::out>(
    "out",
    "PATH",
    "write to this file, whole or not at all; chakra: to this folder, new or empty")};

/// Where what is exported goes: a file, or a folder of files; each is there from its first piece
/// on.
class ExportTarget {
 public:
  explicit ExportTarget(std::string path) : path_(std::move(path)) {}

  void write(const std::string& name, std::string_view piece) {
    bytes_ += piece.size();
    if (name.empty()) {
      if (!file_) {
        file_.emplace(path_);
      }
      file_->write(piece);
      return;
    }
    if (!folder_) {
      if (path_.empty()) {
        throw InputError("--out: missing: expected a folder for the files of --format chakra");
      }
      folder_.emplace(path_);
    }
    folder_->write(name, piece);
  }
  /// So many ranks are through: of the first ones how large all will be.
  void tell_size(std::size_t done, std::size_t ranks) {
    if (!size_) {
      size_.emplace(ranks);
    }
    size_->wrote(std::exchange(bytes_, 0));
    tell_if_large(path_, size_->after(done).value_or(0));
  }
  void finish() {
    if (file_) {
      file_->finish();
    }
    if (folder_) {
      folder_->finish();
    }
  }

 private:
  std::string path_;
  std::optional<OutputFile> file_;
  std::optional<OutputFolder> folder_;
  std::optional<SizeForecast> size_;
  std::size_t bytes_ = 0;
};

int export_command(const QuestionCommand<ExportRequest, ExportFiles>& command) {
  ExportRequest request = command.request();
  check_ending("--out", command.own().out, request.format);
  ExportTarget target(command.own().out);
  request.write = [&](const std::string& name, std::string_view piece) {
    target.write(name, piece);
  };
  ExportOutcome outcome;
  {
    Progress progress;
    const auto show = progress.counting("ranks");
    request.progress = [&](std::size_t done, std::size_t ranks) {
      target.tell_size(done, ranks);
      show(done, ranks);
    };
    outcome = ask(request);
  }
  target.finish();
  tell_notes(outcome.notes);
  return kSuccess;
}

}  // namespace

Command add_export(CLI::App& program) {
  CLI::App* app = program.add_subcommand(
      "export", "Write a run for the launcher of its software, or a step as GOAL or Chakra traces");
  app->footer(
      "Launchers: megatron and slurm (scripts with Megatron-LM's arguments), nemo, megatron-bridge "
      "(YAML),\ntorchtitan (TOML), deepspeed (JSON). Simulators: goal (LogGOPSim), chakra "
      "(ASTRA-sim).\n"
      "Examples:\n"
      "  titer export gpt3-175b-64xa100 --format megatron --out pretrain.sh\n"
      "  titer export gpt3-175b-64xa100 --format goal --detail pass --out step.goal\n"
      "  titer export my-run.json --format chakra --out traces\n"
      "traces then holds step.<rank>.et and comm_group.json.");
  return question_command(
      *app, export_options(), kExportFiles, export_command, {.has_report = false});
}

}  // namespace titer
