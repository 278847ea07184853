#pragma once
// What a program imports from other files of its own.

#include <string>
#include <string_view>
#include <vector>

#include "titer/script/foreign_text.hpp"
#include "titer/script/python/python_names.hpp"

namespace titer {

class PythonImports {
 public:
  PythonImports(const Defines& defines, const FindSourced& find_sourced)
      : defines_(defines), find_sourced_(find_sourced) {}

  /// "from config import MODEL, BATCH" or "import config": puts what these names stand for in a
  /// file config.py that is at hand beside what is known. The files that were read for it.
  std::vector<std::string> add(std::string_view statement, PythonNames& into);

 private:
  [[nodiscard]] std::optional<SourcedFile> find(std::string_view module) const;
  [[nodiscard]] PythonNames constants_of(const SourcedFile& file);
  void take(const PythonNames& from,
            std::string_view name,
            const std::string& as,
            PythonNames& into) const;

  const Defines& defines_;
  const FindSourced& find_sourced_;
  int depth_ = 0;  // of files that import others
};

}  // namespace titer
