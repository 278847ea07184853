#pragma once
// The files of a run, read as what they are.

#include <string>
#include <vector>

#include "formats.hpp"
#include "titer/script/sourced_files.hpp"

namespace titer {

/// Those that are given, and those at hand that a command of one of them starts its program with.
class FilesRead {
 public:
  FilesRead(const ImportOptions& options, SourcedFiles& sourced)
      : options_(options), sourced_(sourced) {}

  void add(const std::string& text, const std::string& name);

  [[nodiscard]] std::vector<Foreign>& parsed() { return parsed_; }
  [[nodiscard]] std::vector<std::string>& names() { return names_; }

 private:
  /// Of a command before it.
  [[nodiscard]] std::string started_recipe() const;

  const ImportOptions& options_;
  SourcedFiles& sourced_;
  std::vector<Foreign> parsed_;
  std::vector<std::string> names_;  // of these files
};

}  // namespace titer
