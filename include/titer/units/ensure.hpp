#pragma once
// Our own mistakes. A user's mistake is an InputError (room input); a broken promise inside the
// program is a Defect: checked in every build, reported with its place, exit code 3.

#include <stdexcept>
#include <string_view>

namespace titer {

/// Thrown when the program breaks one of its own invariants.
struct Defect : std::logic_error {
  using std::logic_error::logic_error;
};

[[noreturn]] void report_defect(std::string_view sentence, std::string_view file, int line);

/// Demands `condition`; otherwise throws a Defect that names the caller's file and line (by the
/// builtins, because clang 14 has no std::source_location).
constexpr void ensure(bool condition,
                      std::string_view sentence,
                      const char* file = __builtin_FILE(),
                      int line = __builtin_LINE()) {
  if (!condition) {
    report_defect(sentence, file, line);
  }
}

}  // namespace titer
