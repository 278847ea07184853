#include "shell_reference.hpp"

#include <algorithm>

#include "shell_text.hpp"

namespace titer::shell {

Reference reference_of(std::string_view inside) {
  Reference made;
  std::size_t end = end_of_name(inside, 0);
  while (end == 0 && end < inside.size() && is_digit(inside[end])) {
    end = std::min(inside.find_first_not_of("0123456789"), inside.size());
  }
  if (end == 0 && !inside.empty() &&
      std::string_view("@*#?$!-").find(inside[0]) != std::string_view::npos) {
    end = 1;
  }
  made.name = inside.substr(0, end);
  if (end < inside.size() && inside[end] == '[') {
    const std::size_t close = inside.find(']', end);
    if (close == std::string_view::npos) {
      return {};
    }
    made.subscript = inside.substr(end + 1, close - end - 1);
    end = close + 1;
  }
  const bool has_colon = end < inside.size() && inside[end] == ':';
  const std::size_t sign = end + (has_colon ? 1 : 0);
  const bool is_known =
      sign < inside.size() && std::string_view("-=+?").find(inside[sign]) != std::string_view::npos;
  made.operation = inside.substr(end, is_known ? sign + 1 - end : std::string_view::npos);
  made.operand = is_known ? sign + 1 : inside.size();
  return made;
}

}  // namespace titer::shell
