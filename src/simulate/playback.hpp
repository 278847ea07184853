#pragma once
// Gives the engine the instructions of every device's streams, and hears what becomes of them.

#include <span>
#include <vector>

#include "contention.hpp"
#include "titer/simulate/accounts.hpp"
#include "titer/simulate/network_loads.hpp"
#include "titer/simulate/step_program.hpp"
#include "titer/simulate/world.hpp"

namespace titer {

/// What a simulated step is made of.
struct SimulatedStep {
  const Scenario& scenario;
  const World& world;
  std::span<const StepProgram> programs;    // of each class of chips
  const std::vector<std::size_t>& classes;  // of each device
  const Contention& contention;
  std::uint32_t sample = 0;
  const LinkLoads* links = nullptr;  // of the cluster, where these are followed
};

/// Fills a timeline with what it is told.
class Recorder {
 public:
  /// `fixed`: bytes in use on each pipeline rank besides activations.
  Recorder(StepTimeline& timeline, const World& world, std::vector<Bytes> fixed)
      : timeline_(timeline),
        world_(world),
        fixed_(std::move(fixed)),
        received_(world.ranks().size(), 0) {}

  void add_span(std::size_t rank, const Instruction& instruction, Ticks start, Ticks end);
  void add_memory(std::size_t rank, Ticks now, Bytes activations);

 private:
  StepTimeline& timeline_;
  const World& world_;
  std::vector<Bytes> fixed_;
  std::vector<Ticks> received_;  // end of the last message to each rank
};

class Playback {
 public:
  /// `recorder`: none, or who records.
  Playback(const SimulatedStep& step, Recorder* recorder);

  [[nodiscard]] std::size_t streams() const { return world_.ranks().size() * tracks_.size(); }
  [[nodiscard]] std::size_t rank_of(StreamId stream) const { return stream / tracks_.size(); }
  [[nodiscard]] bool is_main(StreamId stream) const { return stream % tracks_.size() == 0; }
  [[nodiscard]] const Accounts& accounts() const { return accounts_; }
  /// When a rank first had the most memory in use.
  [[nodiscard]] Ticks peak(std::size_t rank) const { return peak_[rank]; }
  /// The instruction that a stream was given last.
  [[nodiscard]] const Instruction& current(StreamId stream) const {
    return list(stream)[next_[stream] - 1];
  }

  bool next(StreamId stream, StreamTask& task) {
    const std::vector<Instruction>& instructions = list(stream);
    const std::uint32_t at = next_[stream];
    if (at == instructions.size()) {
      return false;
    }
    ++next_[stream];
    const Instruction& instruction = instructions[at];
    const std::size_t rank = rank_of(stream);
    task.label = at;
    task.duration = instruction.duration;
    task.load = instruction.load;
    if (instruction.affected != Affected::nothing) {
      affect(rank, instruction, task);
    }
    for (const PostWait& wait : instruction.waits) {
      task.waits.add({world_.semaphore(rank, wait.post), wait.count});
    }
    for (const Post post : instruction.signals) {
      task.signals.add(world_.semaphore(rank, post));
    }
    return true;
  }

  void started(StreamId stream, const StreamTask& task, Ticks now) {
    const Instruction& instruction = list(stream)[task.label];
    const std::size_t rank = rank_of(stream);
    if (task.duration > 0) {
      accounts_.start(rank, instruction.part, now);
    }
    if (instruction.opens) {
      const MemoryWalk& memory = program(rank).memory;
      if (instruction.unit == memory.peak) {
        peak_[rank] = now;
      }
      if (recorder_ != nullptr) {
        recorder_->add_memory(rank, now, memory.during[instruction.unit]);
      }
    }
  }

  void ended(StreamId stream, const StreamTask& task, Ticks start, Ticks now) {
    const Instruction& instruction = list(stream)[task.label];
    const std::size_t rank = rank_of(stream);
    if (now > start) {
      accounts_.end(rank, instruction.part, now);
    }
    if (recorder_ != nullptr) {
      if (now > start) {
        recorder_->add_span(rank, instruction, start, now);
      }
      if (instruction.closes) {
        recorder_->add_memory(rank, now, program(rank).memory.after[instruction.unit]);
      }
    }
  }

 private:
  [[nodiscard]] const RankProgram& program(std::size_t rank) const { return *programs_[rank]; }
  [[nodiscard]] const std::vector<Instruction>& list(StreamId stream) const {
    const Track track = tracks_[stream % tracks_.size()];
    return program(rank_of(stream)).tracks[static_cast<std::size_t>(track)];
  }
  void affect(std::size_t rank, const Instruction& instruction, StreamTask& task) const;
  /// What the conditions make of an instruction's duration.
  [[nodiscard]] double factor(std::size_t rank, const Instruction& instruction) const;

  const Conditions& conditions_;
  const World& world_;
  const Contention& contention_;
  std::uint32_t sample_;
  const LinkLoads* links_;
  Recorder* recorder_;
  std::vector<const RankProgram*> programs_;  // of each device
  std::vector<Track> tracks_;                 // that are used
  std::vector<std::uint32_t> next_;           // instruction of each stream
  Accounts accounts_;
  std::vector<Ticks> peak_;
};

}  // namespace titer
