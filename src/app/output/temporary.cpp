#include "temporary.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <memory>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

namespace titer {
namespace {

// What a signal handler reaches can only be global.
std::atomic<int> told_signals = -1;  // NOLINT(*-avoid-non-const-global-variables)
static_assert(std::atomic<int>::is_always_lock_free);

extern "C" void tell_signal(int signal) {
  const int before = errno;
  const auto number = static_cast<unsigned char>(signal);
  if (write(told_signals, &number, 1) != 1) {
    std::signal(signal, SIG_DFL);  // the next one ends the process
  }
  errno = before;
}

/// Waits for signals, since their handlers may remove nothing.
class Watch {
 public:
  Watch() {
    if (pipe2(ends_.data(), O_CLOEXEC) != 0) {
      throw std::system_error(errno, std::generic_category(), "a pipe");
    }
    told_signals = ends_[1];
    waiting_ = std::thread([this] { wait(); });
    replace(SIG_DFL, tell_signal);
  }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;
  ~Watch() {
    replace(tell_signal, SIG_DFL);
    const unsigned char none = 0;
    while (write(ends_[1], &none, 1) != 1) {
    }
    waiting_.join();
    std::ranges::for_each(ends_, close);
  }

  void add(const std::filesystem::path& path) {
    const std::lock_guard lock(mutex_);
    paths_.push_back(path);
  }
  void leave(const std::filesystem::path& path) {
    const std::lock_guard lock(mutex_);
    std::erase(paths_, path);
  }

 private:
  /// What others wait for, or a script has ignored, stays theirs.
  static void replace(void (*from)(int), void (*to)(int)) {
    for (const int signal : {SIGINT, SIGTERM}) {
      struct sigaction now {};
      if (sigaction(signal, nullptr, &now) == 0 && now.sa_handler == from) {
        std::signal(signal, to);
      }
    }
  }
  void wait() {
    unsigned char number = 0;
    while (read(ends_[0], &number, 1) != 1) {
    }
    if (number == 0) {
      return;
    }
    const std::lock_guard lock(mutex_);  // until the end: whoever writes may not say that it cannot
    for (const std::filesystem::path& path : paths_) {
      std::error_code ignored;
      std::filesystem::remove_all(path, ignored);
    }
    std::signal(number, SIG_DFL);
    kill(getpid(), number);
    pause();
  }

  std::array<int, 2> ends_{};
  std::mutex mutex_;
  std::vector<std::filesystem::path> paths_;
  std::thread waiting_;
};

/// One for all, as long as there are any.
struct Watched {
  std::mutex mutex;
  std::unique_ptr<Watch> watch;
  int count = 0;
};
Watched& watched() {
  static Watched one;
  return one;
}

}  // namespace

Temporary::Temporary(const std::filesystem::path& target) : path_(target) {
  path_ += ".partial-" + std::to_string(getpid());
  Watched& all = watched();
  const std::lock_guard lock(all.mutex);
  if (!all.watch) {
    all.watch = std::make_unique<Watch>();
  }
  ++all.count;
  all.watch->add(path_);
}

Temporary::~Temporary() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
  Watched& all = watched();
  const std::lock_guard lock(all.mutex);
  all.watch->leave(path_);
  if (--all.count == 0) {
    all.watch.reset();
  }
}

}  // namespace titer
