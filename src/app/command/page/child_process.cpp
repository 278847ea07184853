#include "child_process.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <system_error>
#include <thread>

namespace titer {
namespace {

constexpr std::chrono::milliseconds kPause{2};

[[noreturn]] void fail(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

/// A file in memory, without a name; no other process inherits it.
class MemoryFile {
 public:
  explicit MemoryFile(const char* name) : number_(memfd_create(name, MFD_CLOEXEC)) {
    if (number_ < 0) {
      fail("memfd_create");
    }
  }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  ~MemoryFile() { close(number_); }

  [[nodiscard]] int number() const { return number_; }

  void fill(const std::string& text) const {
    for (std::size_t at = 0; at < text.size();) {
      const ssize_t written = write(number_, text.data() + at, text.size() - at);
      if (written < 0) {
        fail("write");
      }
      at += static_cast<std::size_t>(written);
    }
    lseek(number_, 0, SEEK_SET);
  }

  [[nodiscard]] std::string text() const {
    struct stat status {};
    if (fstat(number_, &status) != 0) {
      fail("fstat");
    }
    std::string whole(static_cast<std::size_t>(status.st_size), '\0');
    std::size_t at = 0;
    while (at < whole.size()) {
      const ssize_t got =
          pread(number_, whole.data() + at, whole.size() - at, static_cast<off_t>(at));
      if (got <= 0) {
        fail("pread");
      }
      at += static_cast<std::size_t>(got);
    }
    return whole;
  }

 private:
  int number_;
};

pid_t spawn(std::vector<std::string> arguments, const MemoryFile& in, const MemoryFile& out) {
  arguments.insert(arguments.begin(), "titer");
  std::vector<char*> pointers;
  pointers.reserve(arguments.size() + 1);
  for (std::string& argument : arguments) {
    pointers.push_back(argument.data());
  }
  pointers.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in.number(), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, out.number(), STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  errno = posix_spawn(&child, "/proc/self/exe", &actions, nullptr, pointers.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (errno != 0) {
    fail("posix_spawn");
  }
  return child;
}

}  // namespace

ChildOutcome run_child(std::vector<std::string> arguments,
                       const std::string& input,
                       std::chrono::milliseconds patience) {
  const MemoryFile in("question");
  const MemoryFile out("answer");
  in.fill(input);
  const auto end = std::chrono::steady_clock::now() + patience;
  const pid_t child = spawn(std::move(arguments), in, out);
  int status = 0;
  while (waitpid(child, &status, WNOHANG) == 0) {
    if (std::chrono::steady_clock::now() > end) {
      kill(child, SIGKILL);
      waitpid(child, &status, 0);
      return {};
    }
    std::this_thread::sleep_for(kPause);
  }
  if (!WIFEXITED(status)) {
    return {};
  }
  return {.code = WEXITSTATUS(status), .out = out.text()};
}

}  // namespace titer
