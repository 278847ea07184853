#pragma once
// A command's manual page, made of the options that it was declared with, as its help is.

#include <string>

namespace CLI {
class App;
}

namespace titer {

/// "titer" of the program, "titer-run" of a command.
[[nodiscard]] std::string man_name(const CLI::App& app);
/// In troff, section 1: for man(1).
[[nodiscard]] std::string man_page(const CLI::App& app);

}  // namespace titer
