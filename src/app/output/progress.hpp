#pragma once
// How far a long command is, for whoever watches.

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

namespace titer {

/// What a progress line tells.
struct ProgressState {
  std::string_view what;  // is counted, "points"
  std::size_t total = 0;
  std::size_t done = 0;    // `before` included
  std::size_t before = 0;  // done by an earlier run
  double seconds = 0.0;    // since this run began
};

/// "[=====>    ] 51%  8200 of 16128 points (4096 before), 24000/s, 3 s left".
[[nodiscard]] std::string progress_text(const ProgressState& state);

/// A line on the terminal, at most ten times a second; nothing where stderr is not a terminal.
class Progress {
 public:
  /// `what` is counted, "points"; `before` of them were done by an earlier run.
  Progress(std::string_view what, std::size_t total, std::size_t before = 0);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  /// Wipes the line.
  ~Progress();

  /// `done` counts those before as well.
  void update(std::size_t done);

 private:
  std::string what_;
  std::size_t total_;
  std::size_t before_;
  bool shown_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point last_ = begin_;
};

}  // namespace titer
