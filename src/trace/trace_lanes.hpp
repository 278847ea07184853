#pragma once
// The lines of a trace while its events come: which of them are of a device is known at the end,
// since their names may come last.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trace_kinds.hpp"

namespace titer {

/// Microseconds with fractions as written, to the nearest nanosecond; nothing where that is no
/// number or too large. Digits are not lost in a double.
[[nodiscard]] std::optional<TraceTime> nanoseconds(std::string_view microseconds);

enum class LaneSort : std::uint8_t {
  kernels,  // PyTorch's categories say that a device did it
  unnamed,  // the line's name will tell
};

struct LaneKey {
  std::string_view process;
  std::string_view thread;
  LaneSort sort = LaneSort::kernels;
};

class TraceLanes {
 public:
  void span(const LaneKey& key, TraceTime start, TraceTime duration, const SpanFacts& facts);
  /// A step, of a device's process, or of the host where that is "".
  void step(TraceStep step, std::string_view process);
  /// process_name or thread_name of a line's.
  void name(std::string_view process,
            std::string_view thread,
            std::string_view what,
            std::string_view name);
  /// An event without a time.
  void skip(LaneSort sort) { skipped_ += sort == LaneSort::kernels ? 1 : 0; }

  /// Puts everything into the trace. Throws InputError when no device did anything.
  void finish(Trace& trace);

 private:
  struct Lane {
    std::string process;
    std::string thread;
    LaneSort sort = LaneSort::kernels;
    std::deque<TraceSpan> spans;
    Seconds busy{};
  };

  [[nodiscard]] Lane& lane(const LaneKey& key);
  [[nodiscard]] std::string_view process_name(std::string_view process) const;
  [[nodiscard]] std::string_view thread_name(const Lane& lane) const;
  void finish_pytorch(Trace& trace);
  void finish_xla(Trace& trace);
  void add_lane(TraceDevice& device, Lane& lane, std::string name);

  std::vector<Lane> lanes_;  // in the order of their first spans
  std::size_t last_ = 0;     // the lane of the span before
  std::map<std::string, std::string, std::less<>> processes_;
  std::map<std::pair<std::string, std::string>, std::string> threads_;
  std::map<std::string, std::vector<TraceStep>, std::less<>> steps_;  // by process
  std::int64_t skipped_ = 0;
  TraceKinds kinds_;
};

}  // namespace titer
