#include "titer/input/input_error.hpp"

#include "titer/input/words.hpp"
#include "titer/units/listed.hpp"

namespace titer {
namespace {

const std::vector<std::string>& make_visible(std::vector<std::string>& lines) {
  for (std::string& line : lines) {
    line = visible(line);
  }
  return lines;
}

}  // namespace

InputError::InputError(std::vector<std::string> problem_lines)
    : std::runtime_error(listed(make_visible(problem_lines), "\n")),
      lines(std::move(problem_lines)) {}

}  // namespace titer
