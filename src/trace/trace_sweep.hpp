#pragma once
// One pass over the spans of a device by time, which adds up what is in its windows.

#include <array>
#include <limits>
#include <queue>
#include <utility>
#include <vector>

#include "titer/trace/trace.hpp"

namespace titer {

/// A bit for each category that runs.
using CategoryMask = std::uint32_t;

struct TraceWindow {
  TraceTime start = 0;
  TraceTime end = 0;
};

/// Nanoseconds of one device.
struct CategorySums {
  std::array<TraceTime, kTraceCategories> communication_first{};
  std::array<TraceTime, kTraceCategories> compute_first{};
  std::array<TraceTime, kTraceCategories> busy{};
  TraceTime any = 0;

  void add(CategoryMask running, TraceTime time);
};

struct KindSum {
  std::int64_t calls = 0;
  TraceTime time = 0;
  TraceTime fastest = 0;

  void add(TraceTime duration);
  void add(const KindSum& other);
};

class TraceSweep {
 public:
  /// REQUIRES windows by start that do not overlap.
  TraceSweep(const Trace& trace, std::vector<TraceWindow> windows);

  /// REQUIRES spans by start.
  void run(const std::deque<TraceSpan>& spans);

  [[nodiscard]] const std::vector<TraceWindow>& windows() const { return windows_; }
  [[nodiscard]] const CategorySums& sums() const { return sums_; }
  /// Spans that began in a window.
  [[nodiscard]] std::int64_t calls(std::size_t category) const { return calls_[category]; }
  [[nodiscard]] const std::vector<KindSum>& kinds() const { return kinds_; }
  /// While anything ran after the last window.
  [[nodiscard]] TraceTime after() const { return after_; }
  /// Of all windows.
  [[nodiscard]] TraceTime time() const;

 private:
  void begin(const TraceSpan& span);
  void advance(TraceTime until);
  void count(TraceTime until);
  void add(TraceTime from, TraceTime to);

  const Trace* trace_;
  std::vector<TraceWindow> windows_;
  std::vector<KindSum> kinds_;
  CategorySums sums_;
  std::array<std::int64_t, kTraceCategories> calls_{};
  TraceTime after_ = 0;

  using End = std::pair<TraceTime, std::size_t>;
  std::priority_queue<End, std::vector<End>, std::greater<>> ends_;
  std::array<int, kTraceCategories> running_{};
  CategoryMask mask_ = 0;
  TraceTime now_ = std::numeric_limits<TraceTime>::min();
  std::size_t window_ = 0;  // the first that is not over
};

}  // namespace titer
