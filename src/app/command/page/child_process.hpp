#pragma once
// Another process of this program, which may fail or be ended without harm to this one.

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace titer {

struct ChildOutcome {
  std::optional<int> code;  // none: it was ended, by its limits or a defect
  std::string out;
};

/// Runs this program with these arguments and that text on its standard input; ended after that
/// time. Throws std::system_error where the system has no process to spare.
[[nodiscard]] ChildOutcome run_child(std::vector<std::string> arguments,
                                     const std::string& input,
                                     std::chrono::milliseconds patience);

}  // namespace titer
