#pragma once
// What is thrown where what the user gave is wrong.

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace titer {

/// The user's mistake(s): one line each, "file:line:column: key.path: value: what was expected".
struct InputError : std::runtime_error {
  explicit InputError(std::vector<std::string> problem_lines);
  explicit InputError(std::string line) : InputError(std::vector{std::move(line)}) {}
  std::vector<std::string> lines;
};

}  // namespace titer
