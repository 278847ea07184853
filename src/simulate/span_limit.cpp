#include "span_limit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "titer/simulate/simulate.hpp"

namespace titer {
namespace {

/// At most as many as a timeline of these devices has; a message is a span at both of its ends.
std::int64_t most_spans(const World& world, const StepProgram& program) {
  std::vector<std::int64_t> of_stage;
  for (const RankProgram& rank : program.ranks) {
    std::int64_t spans = 0;
    for (const std::vector<Instruction>& track : rank.tracks) {
      spans += std::ssize(track);
      spans += std::ranges::count_if(track, [](const Instruction& instruction) {
        return instruction.affected == Affected::to_previous ||
               instruction.affected == Affected::to_next;
      });
    }
    of_stage.push_back(spans);
  }
  std::int64_t all = 0;
  for (const TimelineRank& rank : world.ranks()) {
    all += of_stage[static_cast<std::size_t>(rank.stage)];
  }
  return all;
}

}  // namespace

void check_recordable(const World& world, const StepProgram& program) {
  const std::int64_t spans = most_spans(world, program);
  if (spans > kMostRecordedSpans) {
    throw InputError(
        fmt::format("plan: {} devices with a timeline of {} spans: expected at most {} to record; "
                    "fewer micro-batches, or one device for those that do the same, have fewer",
                    world.ranks().size(),
                    spans,
                    kMostRecordedSpans));
  }
}

}  // namespace titer
