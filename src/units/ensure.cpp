#include "titer/units/ensure.hpp"

#include <fmt/format.h>

namespace titer {

void report_defect(std::string_view sentence, std::string_view file, int line) {
  // The compiler writes the whole path of the build machine; the file's name is what helps.
  const auto name = file.substr(file.find_last_of('/') + 1);  // npos + 1 is 0: no folder at all
  throw Defect(fmt::format("{}:{}: {}", name, line, sentence));
}

}  // namespace titer
