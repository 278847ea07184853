#include "playback.hpp"

#include <algorithm>
#include <cmath>

namespace titer {

void Recorder::add_span(std::size_t rank, const Instruction& instruction, Ticks start, Ticks end) {
  LaneSpan span{.rank = static_cast<std::int32_t>(rank),
                .lane = instruction.lane,
                .part = instruction.part,
                .stage = instruction.stage,
                .bucket = instruction.bucket,
                .micro_batch = instruction.micro_batch,
                .start = start,
                .end = end};
  timeline_.spans.push_back(span);
  const bool onward = instruction.affected == Affected::to_next;
  if (!onward && instruction.affected != Affected::to_previous) {
    return;
  }
  // A rank may receive from both sides at once; its lane shows one message after the other.
  const std::size_t receiver = world_.neighbour(rank, onward);
  const auto sent = static_cast<std::uint32_t>(timeline_.spans.size() - 1);
  span.rank = static_cast<std::int32_t>(receiver);
  span.lane = DeviceLane::pipeline_receive;
  span.start = std::max(start, received_[receiver]);
  received_[receiver] = end;
  timeline_.spans.push_back(span);
  timeline_.flows.push_back({.from = sent, .to = sent + 1});
}

void Recorder::add_memory(std::size_t rank, Ticks now, Bytes activations) {
  const auto stage = static_cast<std::size_t>(world_.ranks()[rank].stage);
  timeline_.memory.push_back({.rank = static_cast<std::int32_t>(rank),
                              .tick = now,
                              .in_use = fixed_[stage] + activations});
}

Playback::Playback(const SimulatedStep& step, Recorder* recorder)
    : conditions_(step.scenario.conditions),
      world_(step.world),
      contention_(step.contention),
      sample_(step.sample),
      links_(step.links),
      recorder_(recorder),
      accounts_(step.world.ranks().size()),
      peak_(step.world.ranks().size(), 0) {
  const auto used = [&](Track track) {
    return std::ranges::any_of(step.programs,
                               [&](const StepProgram& program) { return program.uses(track); });
  };
  for (const Track track : {Track::main, Track::beside, Track::send, Track::data}) {
    if (track == Track::main || used(track)) {
      tracks_.push_back(track);
    }
  }
  for (std::size_t rank = 0; rank < world_.ranks().size(); ++rank) {
    const auto stage = static_cast<std::size_t>(world_.ranks()[rank].stage);
    programs_.push_back(&step.programs[step.classes[rank]].ranks[stage]);
    if (recorder_ != nullptr) {
      recorder_->add_memory(rank, 0, {});  // what is there before the first pass
    }
  }
  next_.assign(streams(), 0);
}

double Playback::factor(std::size_t rank, const Instruction& instruction) const {
  const Affected affected = instruction.affected;
  if (affected == Affected::compute) {
    return conditions_.compute_factor(static_cast<std::int64_t>(rank), instruction.unit, sample_);
  }
  // One number for all transfers that a device names: seven kinds of them in turns, and further
  // kinds above.
  constexpr std::uint64_t kinds = 7;
  const auto kind = static_cast<std::uint64_t>(affected);
  const std::uint64_t draw =
      std::uint64_t{instruction.draw} * kinds + kind % kinds + (kind / kinds << 40U);
  const auto first = static_cast<std::int64_t>(world_.first_of(rank, affected));
  return world_.transfer_factor(rank, affected) * conditions_.transfer_noise(first, draw, sample_);
}

void Playback::affect(std::size_t rank, const Instruction& instruction, StreamTask& task) const {
  if (!world_.uniform()) {
    const double time = factor(rank, instruction) * static_cast<double>(task.duration);
    task.duration = std::llround(std::min(time, static_cast<double>(kMaxTicks)));
  }
  if (contention_.exists()) {
    task.load = contention_.load(rank, instruction.affected);
  }
  if (links_ != nullptr && instruction.load != kNoLoad) {
    task.load = links_->of(rank, instruction.load);
  }
}

}  // namespace titer
