#include "rank_builder.hpp"

#include <algorithm>

namespace titer {

RankProgram RankBuilder::build() {
  add_gathers();
  for (unit_ = 0; unit_ < program_.units.size(); ++unit_) {
    add_unit();
  }
  add_tail();
  return std::move(program_);
}

std::vector<Instruction>& RankBuilder::track(Track track) {
  return program_.tracks[static_cast<std::size_t>(track)];
}

void RankBuilder::on_main(Instruction instruction) {
  while (pending_.size() > 4) {
    Instruction gate;
    take_waits(gate);
    gate.unit = unit_;
    main().push_back(gate);
  }
  take_waits(instruction);
  instruction.unit = unit_;
  main().push_back(instruction);
}

void RankBuilder::take_waits(Instruction& instruction) {
  const std::size_t count = std::min<std::size_t>(pending_.size(), 4);
  for (std::size_t i = 0; i < count; ++i) {
    instruction.waits.add(pending_[i]);
  }
  pending_.erase(pending_.begin(), pending_.begin() + static_cast<std::ptrdiff_t>(count));
}

void RankBuilder::signal(Post post) {
  if (!pending_.empty() || main().empty() || main().back().signals.size() > 1) {
    on_main({});
  }
  main().back().signals.add(post);
}

void RankBuilder::meet(Post post, std::uint32_t& meetings, int members) {
  ++meetings;
  if (members > 1) {
    signal(post);
    wait(post, meetings * static_cast<std::uint32_t>(members));
  }
}

void RankBuilder::leave(Meeting meeting) {
  if (plans_.leave_together) {
    meet(meeting);
  }
}

void RankBuilder::add_unit() {
  const std::size_t begin = main().size();
  const std::size_t first = program_.units[unit_];
  const std::size_t count = done_together(program_.actions, first);
  for (std::size_t i = first; i < first + count; ++i) {
    wait_for_input(program_.actions[i]);
  }
  if (plans_.send == PipelineSend::batched && sent_ > 0) {
    wait(Post::sent, sent_);
  }
  if (count == 2) {
    emit(cutter_.pair(first));
  } else {
    emit(cutter_.recomputation(first));
    emit(cutter_.pass(first));
  }
  if (main().size() == begin || !pending_.empty()) {
    on_main({});
  }
  main()[begin].opens = true;
  main().back().closes = true;
  if (plans_.send != PipelineSend::blocking) {
    main().back().signals.add(Post::done);
  }
  for (const std::size_t index : sending_order(program_.actions, program_.units[unit_])) {
    send(index);
  }
}

void RankBuilder::wait_for_input(const Action& action) {
  const PipelineMessage* message = plans_.messages.before({rank_, action.chunk}, action);
  if (message != nullptr) {
    wait(message->onward ? Post::from_previous : Post::from_next, message->number);
  }
}

void RankBuilder::emit(const PassWork& work) {
  for (const Segment& segment : work.segments) {
    if (segment.gathers > 0) {
      wait(Post::data, segment.gathers);
    }
    // The transfers beside compute begin with it, and end before those that it waits for.
    const std::uint32_t hidden_before = hidden_;
    for (const PassComm comm : kAllPassComms) {
      begin_hidden(segment, comm);
    }
    add_compute(segment);
    if (hidden_ > hidden_before) {
      wait(Post::hidden, hidden_);
    }
    for (const PassComm comm : kAllPassComms) {
      add_exposed(segment, comm);
    }
    if (segment.bucket) {
      signal(Post::ready);
      complete_.push_back(*segment.bucket);
    }
  }
}

void RankBuilder::add_exposed(const Segment& segment, PassComm comm) {
  const Ticks duration = segment.exposed[static_cast<std::size_t>(comm)];
  if (duration == 0) {
    return;
  }
  const auto meeting = meeting_of(affected_by(comm));
  if (meeting) {
    meet(*meeting);
  }
  on_main(pass_transfer(segment, comm, duration));
  if (meeting) {
    leave(*meeting);
  }
}

TaskPart part_of(PassComm comm) {
  constexpr std::array<TaskPart, kPassComms> parts = {TaskPart::tensor_comm,
                                                      TaskPart::context_comm,
                                                      TaskPart::expert_comm,
                                                      TaskPart::data_comm,
                                                      TaskPart::host_copy};
  return parts[static_cast<std::size_t>(comm)];
}

Instruction RankBuilder::pass_transfer(const Segment& segment, PassComm comm, Ticks duration) {
  constexpr std::array<DeviceLane, kPassComms> lanes = {DeviceLane::tensor_comm,
                                                        DeviceLane::context_comm,
                                                        DeviceLane::expert_comm,
                                                        DeviceLane::data_comm,
                                                        DeviceLane::host_copy};
  return {.duration = duration,
          .lane = lanes[static_cast<std::size_t>(comm)],
          .part = part_of(comm),
          .affected = affected_by(comm),
          .stage = static_cast<std::int16_t>(segment.stage),
          .micro_batch = segment.micro_batch,
          .draw = number(affected_by(comm))};
}

void RankBuilder::begin_hidden(const Segment& segment, PassComm comm) {
  const Ticks duration = segment.hidden[static_cast<std::size_t>(comm)];
  if (duration == 0) {
    return;
  }
  const auto meeting = meeting_of(affected_by(comm));
  const Post begin = meeting ? begin_of(*meeting) : Post::host_begin;
  signal(begin);
  Instruction transfer = pass_transfer(segment, comm, duration);
  const auto members = static_cast<std::uint32_t>(meeting ? plans_.members[*meeting] : 1);
  transfer.waits.add({begin, ++begun_[static_cast<std::size_t>(comm)] * members});
  transfer.signals.add(Post::hidden);
  transfer.unit = unit_;
  track(Track::beside).push_back(transfer);
  ++hidden_;
}

void RankBuilder::add_compute(const Segment& segment) {
  if (segment.compute > 0) {
    on_main({.duration = segment.compute,
             .lane = DeviceLane::compute,
             .part = segment.part,
             .affected = Affected::compute,
             .stage = static_cast<std::int16_t>(segment.stage),
             .micro_batch = segment.micro_batch});
  }
}

void RankBuilder::send(std::size_t index) {
  const Action& action = program_.actions[index];
  const PipelineMessage* message = plans_.messages.after({rank_, action.chunk}, action);
  if (message == nullptr) {
    return;
  }
  ++sent_;
  const Affected affected = message->onward ? Affected::to_next : Affected::to_previous;
  Instruction send{.duration = message->duration,
                   .lane = DeviceLane::pipeline_send,
                   .part = TaskPart::pipeline_comm,
                   .affected = affected,
                   .stage = static_cast<std::int16_t>(cutter_.stage(index)),
                   .micro_batch = action.micro_batch,
                   .draw = number(affected),
                   .unit = unit_};
  send.signals.add(message->onward ? Post::to_next : Post::to_previous);
  if (plans_.send == PipelineSend::blocking) {
    on_main(send);
    return;
  }
  send.waits.add({Post::done, unit_ + 1});
  if (plans_.send == PipelineSend::batched) {
    // The receiver is there when it has done all passes before the one that waits.
    if (message->unit > 0) {
      send.waits.add({message->onward ? Post::next_done : Post::previous_done, message->unit});
    }
    send.signals.add(Post::sent);
  }
  track(Track::send).push_back(send);
}

}  // namespace titer
