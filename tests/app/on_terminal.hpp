#pragma once
// The program as somebody watches it, who may end it before it is done.

#include <gtest/gtest.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "app/program.hpp"

namespace titer::testing {

inline std::vector<std::string> names_in(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

/// The program with a terminal as its standard error.
class OnATerminal {
 public:
  explicit OnATerminal(std::vector<std::string> arguments) {
    terminal_ = posix_openpt(O_RDWR | O_NOCTTY);
    EXPECT_EQ(grantpt(terminal_) + unlockpt(terminal_), 0);
    const std::string name = ptsname(terminal_);
    arguments.insert(arguments.begin(), program());
    std::vector<std::string> environment = environment_with(root().string());
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, name.c_str(), O_RDWR | O_NOCTTY, 0);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);  // ignored where a script runs the tests in the background
    posix_spawnattr_setsigdefault(&attributes, &signals);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
    EXPECT_EQ(posix_spawn(&child_,
                          arguments.front().c_str(),
                          &actions,
                          &attributes,
                          pointers(arguments).data(),
                          pointers(environment).data()),
              0);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
  }
  OnATerminal(const OnATerminal&) = delete;
  OnATerminal& operator=(const OnATerminal&) = delete;
  ~OnATerminal() { close(terminal_); }

  /// Reads until the text has been seen, or nothing more comes.
  bool saw(std::string_view text) {
    std::array<char, 4096> part{};
    while (seen.find(text) == std::string::npos) {
      pollfd ready = {.fd = terminal_, .events = POLLIN, .revents = 0};
      const ssize_t bytes =
          poll(&ready, 1, 20'000) == 1 ? read(terminal_, part.data(), part.size()) : 0;
      if (bytes <= 0) {
        return false;
      }
      seen.append(part.data(), static_cast<std::size_t>(bytes));
    }
    return true;
  }
  void send(int signal) const { kill(child_, signal); }
  int code() {
    int status = 0;
    EXPECT_EQ(waitpid(child_, &status, 0), child_);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

  std::string seen;

 private:
  int terminal_ = -1;
  pid_t child_ = 0;
};

}  // namespace titer::testing
