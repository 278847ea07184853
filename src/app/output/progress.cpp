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
  const double share =
      state.total > 0 ? static_cast<double>(state.done) / static_cast<double>(state.total) : 1.0;
  const auto filled = std::min(kBarWidth, static_cast<std::size_t>(share * kBarWidth));
  const std::string bar = std::string(filled, '=') + (filled < kBarWidth ? ">" : "");
  const double rate = static_cast<double>(state.done - state.before) / state.seconds;
  return fmt::format("[{:<{}}] {:3.0f}%  {} of {} {}{}, {:.0f}/s, {} left",
                     bar,
                     kBarWidth,
                     std::floor(100.0 * share),
                     state.done,
                     state.total,
                     state.what,
                     state.before > 0 ? fmt::format(" ({} before)", state.before) : "",
                     rate,
                     duration_text(static_cast<double>(state.total - state.done) / rate));
}

Progress::Progress(std::string_view what, std::size_t total, std::size_t before)
    : what_(what), total_(total), before_(before), shown_(isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() {
  if (shown_) {
    std::fputs("\r\033[K", stderr);
  }
}

void Progress::update(std::size_t done) {
  const auto now = std::chrono::steady_clock::now();
  if (!shown_ || now - last_ < std::chrono::milliseconds(100)) {
    return;
  }
  last_ = now;
  const std::string text =
      progress_text({.what = what_,
                     .total = total_,
                     .done = done,
                     .before = before_,
                     .seconds = std::chrono::duration<double>(now - begin_).count()});
  std::fputs(("\r" + text + "\033[K").c_str(), stderr);
}

}  // namespace titer
