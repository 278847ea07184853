#include "progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

namespace titer {

Progress::Progress(std::string_view what, std::size_t total)
    : what_(what), total_(total), shown_(isatty(STDERR_FILENO) == 1) {}

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
  const double seconds = std::chrono::duration<double>(now - begin_).count();
  const double rate = static_cast<double>(done) / seconds;
  const std::string text = fmt::format("\r{} of {} {}, {:.0f}/s, {:.0f} s left\033[K",
                                       done,
                                       total_,
                                       what_,
                                       rate,
                                       static_cast<double>(total_ - done) / rate);
  std::fputs(text.c_str(), stderr);
}

}  // namespace titer
