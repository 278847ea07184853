#pragma once
// What a program imports from other files of its own.

#include <string>
#include <string_view>
#include <vector>

#include "hf_program_values.hpp"
#include "titer/import/foreign_text.hpp"
#include "titer/import/imported.hpp"

namespace titer {

class PythonImports {
 public:
  PythonImports(const ImportOptions& options, const FindSourced& find_sourced)
      : options_(options), find_sourced_(find_sourced) {}

  /// "from config import MODEL, BATCH" or "import config": puts what these names stand for in a
  /// file config.py that is at hand beside what is known. The files that were read for it.
  std::vector<std::string> add(std::string_view statement, HfProgramValues& into);

 private:
  [[nodiscard]] std::optional<SourcedFile> find(std::string_view module) const;
  [[nodiscard]] HfProgramValues constants_of(const SourcedFile& file);
  void take(const HfProgramValues& from,
            std::string_view name,
            const std::string& as,
            HfProgramValues& into) const;

  const ImportOptions& options_;
  const FindSourced& find_sourced_;
  int depth_ = 0;  // of files that import others
};

}  // namespace titer
