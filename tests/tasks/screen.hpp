#pragma once
// What somebody sees of an answer on a terminal.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <string>
#include <vector>

#include "app/program.hpp"

namespace titer::testing {

/// A terminal that is so many columns wide; what is written to it, line by line.
class Screen {
 public:
  explicit Screen(unsigned short columns) : terminal_(posix_openpt(O_RDWR | O_NOCTTY)) {
    EXPECT_EQ(grantpt(terminal_) + unlockpt(terminal_), 0);
    const winsize size{.ws_row = 40, .ws_col = columns, .ws_xpixel = 0, .ws_ypixel = 0};
    EXPECT_EQ(ioctl(terminal_, TIOCSWINSZ, &size), 0);
  }
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;
  ~Screen() { close(terminal_); }

  std::vector<std::string> lines_of(std::vector<std::string> arguments) {
    const pid_t child = start(std::move(arguments));
    std::vector<std::string> lines(1);
    std::array<char, 4096> part{};
    for (ssize_t bytes = 0; (bytes = read(terminal_, part.data(), part.size())) > 0;) {
      for (std::size_t i = 0; i < static_cast<std::size_t>(bytes); ++i) {
        if (part[i] == '\n') {
          lines.emplace_back();
        } else if (part[i] != '\r') {
          lines.back() += part[i];
        }
      }
    }
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    return lines;
  }

 private:
  [[nodiscard]] pid_t start(std::vector<std::string> arguments) const {
    std::vector<std::string> environment = environment_with(root().string());
    environment.emplace_back("NO_COLOR=1");
    return spawn(std::move(arguments), std::move(environment), [this](auto* actions) {
      posix_spawn_file_actions_addopen(
          actions, STDOUT_FILENO, ptsname(terminal_), O_RDWR | O_NOCTTY, 0);
      posix_spawn_file_actions_addopen(actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    });
  }

  int terminal_;
};

}  // namespace titer::testing
