#pragma once
// Steps of several ranks of one run: their mean, and which of them the others wait for.

#include <optional>
#include <string>
#include <vector>

#include "titer/trace/trace_breakdown.hpp"

namespace titer {

/// A rank's step by what it was spent on; the parts add up to it, communication first.
struct RankStep {
  std::string source;
  std::optional<int> rank{};
  Seconds time;
  Seconds communication;
  Seconds compute;
  Seconds copies;
  Seconds idle;
};

struct TraceRanks {
  StepBreakdown mean;  // of all, with the kinds of all
  std::vector<RankStep> ranks;
  // A collective ends at once for all that take part, so a rank that is in collectives for longer
  // than the one that is in them least came earlier and waited: mean over the ranks.
  Seconds waiting;
  std::size_t late = 0;  // the rank that was in collectives least
};

/// REQUIRES one or more, all of whole times or all of shares.
[[nodiscard]] TraceRanks join_ranks(const std::vector<StepBreakdown>& steps);
/// "rank 3 (rank3.json) comes last: it computes for 1.2 s where the middle rank takes 1.05 s; the
/// others wait 85 ms for it in a step"; "" for one rank, or where none waits a hundredth of a step.
[[nodiscard]] std::string straggler_sentence(const TraceRanks& ranks);

}  // namespace titer
