#include "titer/scenario/command_text.hpp"

#include "titer/units/shell_word.hpp"

namespace titer {
namespace {

/// Text where that is read as the same value, JSON otherwise.
std::string value_text(const Assignment& assignment) {
  if (assignment.value.kind != Value::Kind::text) {
    return to_json(assignment.value, 0);
  }
  const bool is_text = parse_assignment(assignment.path + "=" + assignment.value.text).value.kind ==
                       Value::Kind::text;
  return is_text ? assignment.value.text : to_json(assignment.value, 0);
}

}  // namespace

std::string set_options(const std::vector<Assignment>& assignments) {
  std::string text;
  for (const Assignment& assignment : assignments) {
    text += " --set " + shell_word(assignment.path + "=" + value_text(assignment));
  }
  return text;
}

}  // namespace titer
