#pragma once
// The rows of a sweep, computed beside the thread that takes them.

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "titer/sweep/sweep_run.hpp"

namespace titer::python {

/// Computes a sweep from its construction on; its destruction stops what is left of it.
class SweepStream {
 public:
  /// The sweep must outlive it.
  SweepStream(const Sweep& sweep, SweepOptions options);
  ~SweepStream();
  SweepStream(const SweepStream&) = delete;
  SweepStream& operator=(const SweepStream&) = delete;
  SweepStream(SweepStream&&) = delete;
  SweepStream& operator=(SweepStream&&) = delete;

  /// Waits at most so long, and returns the rows that have come, in order, as a JSON array of
  /// objects; nothing when there are no more. Throws what the computation threw.
  [[nodiscard]] std::optional<std::string> next(std::chrono::milliseconds longest);

 private:
  void compute(const Sweep& sweep, const SweepOptions& options);
  void add(std::string_view lines);

  std::mutex mutex_;  // of what follows
  std::condition_variable came_;
  std::string rows_;  // JSON, a line each
  bool finished_ = false;
  std::exception_ptr failure_;
  std::atomic<bool> stopped_ = false;
  std::jthread thread_;  // last: it uses all of the above
};

}  // namespace titer::python
