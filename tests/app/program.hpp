#pragma once
// Runs the built program as a user does: arguments in; exit code, standard output and standard
// error out, apart from each other.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "paths.hpp"
#include "temporary_folder.hpp"

namespace titer::testing {

struct Outcome {
  int code = -1;
  std::string out;
  std::string err;

  /// The lines of standard error.
  [[nodiscard]] std::vector<std::string> errors() const {
    std::vector<std::string> lines;
    for (std::size_t begin = 0; begin < err.size();) {
      const std::size_t end = std::min(err.find('\n', begin), err.size());
      lines.push_back(err.substr(begin, end - begin));
      begin = end + 1;
    }
    return lines;
  }
};

/// What the program is started with besides its arguments.
struct Surroundings {
  std::string data = root().string();  // $TITER_DATA
  std::string output{};                // standard output goes here instead of into the outcome
  std::string path{};                  // $TITER_PATH, where there is one
  std::string libraries{};             // $LD_LIBRARY_PATH, likewise
};

inline std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> list;
  for (std::string& text : texts) {
    list.push_back(text.data());
  }
  list.push_back(nullptr);
  return list;
}

/// Nothing else that surrounds the tests reaches the program, but for a fault that is planted in
/// both (scripts/plant_faults.py) and what sanitizers are told.
inline std::vector<std::string> environment_with(const std::string& data) {
  std::vector<std::string> environment = {"TITER_DATA=" + data};
  for (const std::string name : {"TITER_FAULT", "LSAN_OPTIONS"}) {
    if (const char* value = std::getenv(name.c_str())) {
      environment.push_back(name + "=" + value);
    }
  }
  return environment;
}

/// Starts the program; `redirect` says where what it reads and writes comes from and goes to.
template <class Redirect>
pid_t spawn(std::vector<std::string> arguments,
            std::vector<std::string> environment,
            const Redirect& redirect) {
  arguments.insert(arguments.begin(), program());
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  redirect(&actions);
  pid_t child = 0;
  EXPECT_EQ(posix_spawn(&child,
                        arguments.front().c_str(),
                        &actions,
                        nullptr,
                        pointers(arguments).data(),
                        pointers(environment).data()),
            0)
      << "cannot start " << arguments.front();
  posix_spawn_file_actions_destroy(&actions);
  return child;
}

/// Waits for the program; a crash is a code of 128 and the signal.
inline Outcome titer(std::vector<std::string> arguments, const Surroundings& around = {}) {
  const TemporaryFolder folder;
  const std::string out = around.output.empty() ? (folder.path() / "out").string() : around.output;
  const std::string err = (folder.path() / "err").string();
  std::vector<std::string> environment = environment_with(around.data);
  if (!around.path.empty()) {
    environment.push_back("TITER_PATH=" + around.path);
  }
  if (!around.libraries.empty()) {
    environment.push_back("LD_LIBRARY_PATH=" + around.libraries);
  }
  const pid_t child = spawn(std::move(arguments), std::move(environment), [&](auto* actions) {
    constexpr int write = O_WRONLY | O_CREAT | O_TRUNC;
    posix_spawn_file_actions_addopen(actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(actions, STDOUT_FILENO, out.c_str(), write, 0600);
    posix_spawn_file_actions_addopen(actions, STDERR_FILENO, err.c_str(), write, 0600);
  });
  int status = 0;
  if (child == 0 || waitpid(child, &status, 0) != child) {
    return {};
  }
  return {.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
          .out = around.output.empty() ? file_text(out) : "",
          .err = file_text(err)};
}

/// Success: data, and nothing said.
inline std::string data_of(const Outcome& outcome) {
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  EXPECT_FALSE(outcome.out.empty());
  return outcome.out;
}

/// The user's mistake: exit code 2, no data, one line. Returns the line.
inline std::string refusal_of(const Outcome& outcome) {
  EXPECT_EQ(outcome.code, 2) << outcome.err;
  EXPECT_EQ(outcome.out, "");
  EXPECT_TRUE(outcome.err.ends_with("\n")) << outcome.err;
  EXPECT_EQ(outcome.errors().size(), 1u) << outcome.err;
  return outcome.errors().empty() ? "" : outcome.errors().front();
}

/// GoogleTest's message of a text that lacks another.
inline ::testing::AssertionResult contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos ? ::testing::AssertionSuccess()
                                                   : ::testing::AssertionFailure()
                                                         << "no \"" << part << "\" in\n"
                                                         << text;
}

}  // namespace titer::testing
