#include "terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>

namespace titer {
namespace {

std::string_view environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string_view() : value;
}

}  // namespace

TextStyle terminal_style() {
  if (isatty(STDOUT_FILENO) == 0) {
    return {};
  }
  winsize size{};
  const bool is_known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0;
  return style_of({.width = is_known ? size.ws_col : std::size_t{0},
                   .columns = environment("COLUMNS"),
                   .no_colour = environment("NO_COLOR"),
                   .kind = environment("TERM")});
}

}  // namespace titer
