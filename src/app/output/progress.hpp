#pragma once
// How far a long command is, for whoever watches.

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

namespace titer {

/// What a progress line tells.
struct ProgressState {
  std::string_view what;  // is counted, "points"; empty: nothing is
  std::size_t total = 0;
  std::size_t done = 0;    // `before` included
  std::size_t before = 0;  // done by an earlier run
  double seconds = 0.0;    // since this run began
};

/// "[=====>    ] 51%  8200 of 16128 points (4096 before), 24000/s, 3 s left", or how long it has
/// been, "12 s so far", where nothing is counted or done.
[[nodiscard]] std::string progress_text(const ProgressState& state);

/// A line on the terminal: after a second, and at most ten times a second where something is
/// counted; nothing where stderr is not a terminal. It has to end before an answer is printed.
class Progress {
 public:
  /// Of what counts nothing, or not yet.
  Progress();
  /// `what` is counted, "points"; `before` of them were done by an earlier run.
  Progress(std::string_view what, std::size_t total, std::size_t before = 0);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  /// Wipes the line.
  ~Progress();

  /// `done` counts those before as well.
  void update(std::size_t done);
  /// Counts `what`, done and in all; another total begins anew. `this` must stay.
  [[nodiscard]] std::function<void(std::size_t done, std::size_t of)> counting(
      std::string_view what);

 private:
  using Clock = std::chrono::steady_clock;
  void begin(std::string_view what, std::size_t total);
  void show();
  void show_every_second(const std::stop_token& end);

  std::mutex mutex_;  // of all below
  std::string what_;
  std::size_t total_ = 0;
  std::size_t done_ = 0;
  std::size_t before_ = 0;
  Clock::time_point begin_ = Clock::now();
  Clock::time_point last_ = begin_;
  bool is_shown_ = false;
  std::condition_variable_any ended_;
  std::jthread ticker_;  // runs where stderr is a terminal
};

/// The answer to a request; how long it takes is shown, or how much of `what` is done where the
/// request counts that.
template <class Request>
[[nodiscard]] auto ask_with_progress(Request& request, std::string_view what = {}) {
  Progress progress;
  if constexpr (requires { request.progress; }) {
    request.progress = progress.counting(what);
  }
  return ask(request);
}

}  // namespace titer
