#include "progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace titer {
namespace {

constexpr std::size_t kBarWidth = 20;

/// "45 s", "12 min", "3.5 h".
std::string duration_text(double seconds) {
  if (!std::isfinite(seconds)) {
    return "?";
  }
  if (seconds < 100.0) {
    return fmt::format("{:.0f} s", seconds);
  }
  return seconds < 6000.0 ? fmt::format("{:.0f} min", seconds / 60.0)
                          : fmt::format("{:.1f} h", seconds / 3600.0);
}

}  // namespace

std::string progress_text(const ProgressState& state) {
  if (state.done == state.before) {
    return fmt::format("{} so far", duration_text(std::floor(state.seconds)));
  }
  const double share =
      state.total > 0 ? static_cast<double>(state.done) / static_cast<double>(state.total) : 1.0;
  const auto filled = std::min(kBarWidth, static_cast<std::size_t>(share * kBarWidth));
  const std::string bar = std::string(filled, '=') + (filled < kBarWidth ? ">" : "");
  const double rate = static_cast<double>(state.done - state.before) / state.seconds;
  return fmt::format("[{:<{}}] {:3.0f}%  {} of {} {}{}, {}{} left",
                     bar,
                     kBarWidth,
                     std::floor(100.0 * share),
                     state.done,
                     state.total,
                     state.what,
                     state.before > 0 ? fmt::format(" ({} before)", state.before) : "",
                     rate >= 1 ? fmt::format("{:.0f}/s, ", rate) : "",
                     duration_text(static_cast<double>(state.total - state.done) / rate));
}

Progress::Progress() {
  if (isatty(STDERR_FILENO) == 1) {
    ticker_ = std::jthread([this](const std::stop_token& end) { show_every_second(end); });
  }
}

Progress::Progress(std::string_view what, std::size_t total, std::size_t before) : Progress() {
  begin(what, total);
  const std::lock_guard lock(mutex_);
  done_ = before_ = before;
}

Progress::~Progress() {
  if (ticker_.joinable()) {
    ticker_.request_stop();
    ticker_.join();
  }
  if (is_shown_) {
    std::fputs("\r\033[K", stderr);
  }
}

void Progress::update(std::size_t done) {
  const std::lock_guard lock(mutex_);
  done_ = done;
  if (ticker_.joinable() && Clock::now() - last_ >= std::chrono::milliseconds(100)) {
    show();
  }
}

std::function<void(std::size_t, std::size_t)> Progress::counting(std::string_view what) {
  return [this, what = std::string(what)](std::size_t done, std::size_t of) {
    begin(what, of);
    update(done);
  };
}

void Progress::begin(std::string_view what, std::size_t total) {
  const std::lock_guard lock(mutex_);
  if (total_ != 0 && total_ != total) {
    begin_ = Clock::now();
  }
  what_ = what;
  total_ = total;
}

/// REQUIRES the mutex.
void Progress::show() {
  last_ = Clock::now();
  is_shown_ = true;
  const std::string text =
      progress_text({.what = what_,
                     .total = total_,
                     .done = done_,
                     .before = before_,
                     .seconds = std::chrono::duration<double>(last_ - begin_).count()});
  std::fputs(("\r" + text + "\033[K").c_str(), stderr);
}

void Progress::show_every_second(const std::stop_token& end) {
  std::unique_lock lock(mutex_);
  while (
      !ended_.wait_for(lock, end, std::chrono::seconds(1), [&] { return end.stop_requested(); })) {
    show();
  }
}

}  // namespace titer
