#pragma once
// The program's command line: all subcommands, of which words choose one.

#include <memory>
#include <string>
#include <vector>

#include "command.hpp"

namespace titer {

class Program {
 public:
  Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  ~Program();

  /// Runs what a command line asks for; what is wrong with its words is said. Returns the exit
  /// code. Throws InputError where something else is.
  [[nodiscard]] int run(int argc, const char* const* argv);

  /// Chooses the subcommand that words behind "titer" ask for. Throws InputError where they are
  /// wrong, or ask for help.
  [[nodiscard]] const Command& choose(const std::vector<std::string>& words);
  /// The names of those whose answers can be had as reports.
  [[nodiscard]] std::vector<std::string> reporting() const;

 private:
  [[nodiscard]] const Command* chosen() const;

  std::unique_ptr<CLI::App> app_;
  std::vector<Command> commands_;
};

}  // namespace titer
