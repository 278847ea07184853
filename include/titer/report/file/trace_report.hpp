#pragma once
// A timeline as Chrome's trace event JSON, which Perfetto and chrome://tracing show: a process per
// rank, a thread per lane, arrows for messages, a counter for memory.

#include <functional>
#include <string>
#include <string_view>

#include "titer/simulate/timeline.hpp"

namespace titer {

/// Added fields leave it as it is; a changed meaning raises it.
inline constexpr int kTraceFormatVersion = 1;

struct TraceHeading {
  std::string program;  // "titer 0.1.0"
  std::string title;    // what was run
};

/// Writes the trace piece by piece. Times are in microseconds with three decimals: a span begins
/// and ends at the nearest nanosecond, so that spans that touch still do. Spans of one lane at the
/// same time go to threads of their own.
void write_trace(const StepTimeline& timeline,
                 const TraceHeading& heading,
                 const std::function<void(std::string_view)>& write);

}  // namespace titer
