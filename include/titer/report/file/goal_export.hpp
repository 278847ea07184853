#pragma once
// An exported step as a GOAL schedule, the text that LogGOPSim reads: calculations in nanoseconds,
// sends and receives in bytes, and what requires what.  [Hoefler, Schneider & Lumsdaine 2010]
//
// The format has no collectives: each becomes the messages of the algorithm that our costs take for
// it, or, where switches add, of the fastest one without them.

#include <cstdint>
#include <functional>
#include <string_view>

#include "titer/export/exported_step.hpp"

namespace titer {

/// Text, some at a time.
using TextSink = std::function<void(std::string_view)>;

/// More lines than this are refused.
inline constexpr std::int64_t kMostGoalLines = 100'000'000;

/// Throws InputError when it gets too long.
void write_goal(const ExportedStep& step,
                const TextSink& sink,
                const std::function<void(int ranks)>& done = {});

}  // namespace titer
