#pragma once
// How far a long command is, for whoever watches.

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

namespace titer {

/// A line on the terminal, at most ten times a second; nothing where stderr is not a terminal.
class Progress {
 public:
  /// `what` is counted, "points".
  Progress(std::string_view what, std::size_t total);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress();

  void update(std::size_t done);

 private:
  std::string what_;
  std::size_t total_;
  bool shown_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point last_ = begin_;
};

}  // namespace titer
