#pragma once
// Where the time of a measured step went.
//
// Of each device's spans the union counts, cut at the steps. Where several run at once there are
// two conventions, and both are kept: communication first, then compute, so that compute is what
// no communication hides [seed 003]; and compute first, so that communication is what no compute
// hides. Copies count last in both. Of two kinds of one class that run at once, the first in the
// order of TraceCategory counts. What nothing runs in is idle.

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "titer/trace/trace.hpp"

namespace titer {

struct CategoryTime {
  Seconds communication_first;  // these and the idle time add up to the step
  Seconds compute_first;        // likewise
  Seconds busy;                 // while any of it ran
  double calls = 0;
};

/// Spans that have something in common, per step.
struct KindUse {
  TraceKind kind;
  double calls = 0;
  Seconds time;     // of all of them
  Seconds fastest;  // of one
};

/// Means over steps and devices.
struct StepBreakdown {
  std::string source;
  std::string format;
  std::string chip;
  std::optional<int> rank{};
  std::optional<int> world_size{};
  int devices = 1;
  int streams = 0;
  double steps = 1;
  Seconds time;                     // of a step
  std::optional<Seconds> median{};  // where each step has its own
  std::array<CategoryTime, kTraceCategories> categories{};
  Seconds idle;
  std::vector<KindUse> kinds;        // of one name each, those that took most, longest first
  std::vector<KindUse> collectives;  // of each category of communication and group, one
  std::vector<std::string> remarks;  // how it was counted, what was left out
  // Only shares are known: `time` is of everything profiled, on all cores and in all steps.
  bool only_shares = false;

  [[nodiscard]] const CategoryTime& operator[](TraceCategory category) const {
    return categories[static_cast<std::size_t>(category)];
  }
  [[nodiscard]] Seconds sum(TraceClass of, Seconds CategoryTime::*what) const;
};

/// REQUIRES a device with a span.
[[nodiscard]] StepBreakdown break_down(Trace trace);

/// The step of a file that trace_format() takes for a trace, of whatever format. Throws InputError.
[[nodiscard]] StepBreakdown load_step(const std::filesystem::path& path);

}  // namespace titer
