#pragma once
// The file of `titer report`: questions, each a command.

#include <memory>
#include <string>
#include <vector>

#include "app/program.hpp"
#include "titer/input/document.hpp"

namespace titer {

struct WrittenAnswer {
  std::string question;
  std::string text;
  std::string command;
  const Value* place = nullptr;  // of the command, in its document
  std::shared_ptr<Program> program = nullptr;
  const Command* chosen = nullptr;  // of the program
};
struct WrittenReport {
  std::string title;
  std::string text;
  std::vector<WrittenAnswer> answers;
};

/// Throws InputError with all that is wrong, words of commands included. The document must outlive
/// the report.
[[nodiscard]] WrittenReport read_report(const Document& document);
[[nodiscard]] Value report_schema();

}  // namespace titer
