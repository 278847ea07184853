#include "titer/input/input_error.hpp"

#include "titer/input/words.hpp"

namespace titer {
namespace {

const std::vector<std::string>& make_visible(std::vector<std::string>& lines) {
  for (std::string& line : lines) {
    line = visible(line);
  }
  return lines;
}

std::string joined_lines(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) {
    text += text.empty() ? "" : "\n";
    text += line;
  }
  return text;
}

}  // namespace

InputError::InputError(std::vector<std::string> problem_lines)
    : std::runtime_error(joined_lines(make_visible(problem_lines))),
      lines(std::move(problem_lines)) {}

}  // namespace titer
