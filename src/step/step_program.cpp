#include "titer/step/step_program.hpp"

#include <algorithm>
#include <numeric>

#include "pass_work.hpp"
#include "titer/step/messages.hpp"

namespace titer {
namespace {

/// Everything that the program of any rank depends on.
struct Plans {
  const StepCosts& costs;
  const Messages& messages;
  PipelineSend send;
  SimulatedMembers members;
  // Where what runs beside a transfer slows it down, the members of its group go on together.
  bool leave_together;
};

class RankBuilder {
 public:
  RankBuilder(const Plans& plans, int rank, const ActionList& list)
      : plans_(plans), costs_(plans.costs), rank_(rank), cutter_(plans.costs, rank, list) {
    program_.actions = list;
    program_.units = units_of(list);
  }

  RankProgram build() {
    add_gathers();
    for (unit_ = 0; unit_ < program_.units.size(); ++unit_) {
      add_unit();
    }
    add_tail();
    return std::move(program_);
  }

 private:
  std::vector<Instruction>& track(Track track) {
    return program_.tracks[static_cast<std::size_t>(track)];
  }
  std::vector<Instruction>& main() { return track(Track::main); }
  void wait(Post post, std::uint32_t count) { pending_.push_back({post, count}); }

  /// Adds to the main stream what waits for everything asked for since the last time.
  void on_main(Instruction instruction) {
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
  void take_waits(Instruction& instruction) {
    const std::size_t count = std::min<std::size_t>(pending_.size(), 4);
    for (std::size_t i = 0; i < count; ++i) {
      instruction.waits.add(pending_[i]);
    }
    pending_.erase(pending_.begin(), pending_.begin() + static_cast<std::ptrdiff_t>(count));
  }

  /// The main stream has come as far as this: a signal of what it did last, if it need not wait.
  void signal(Post post) {
    if (!pending_.empty() || main().empty() || main().back().signals.size() > 1) {
      on_main({});
    }
    main().back().signals.add(post);
  }

  /// The main stream arrives at a meeting and waits for the others.
  void meet(Post post, std::uint32_t& meetings, int members) {
    ++meetings;
    if (members > 1) {
      signal(post);
      wait(post, meetings * static_cast<std::uint32_t>(members));
    }
  }

  void leave(Post post, std::uint32_t& meetings, int members) {
    if (plans_.leave_together) {
      meet(post, meetings, members);
    }
  }

  /// A transfer of the data track; `ready` buckets are complete before a synchronisation.
  void add_transfer(const BucketPlace& place, std::uint32_t ready) {
    const bool gathers = ready == 0;
    const Seconds time = gathers ? bucket(place).gather : bucket(place).sync;
    Instruction transfer{.duration = to_ticks(time),
                         .lane = DeviceLane::data_comm,
                         .part = TaskPart::data_comm,
                         .affected = Affected::data,
                         .gathers = gathers,
                         .stage = static_cast<std::int16_t>(place.stage),
                         .bucket = static_cast<std::int16_t>(place.bucket),
                         .draw = number(Affected::data)};
    ++transfers_;
    ++data_meetings_;
    const auto members = static_cast<std::uint32_t>(plans_.members.data);
    if (members > 1) {
      Instruction arrival;
      if (ready > 0) {
        arrival.waits.add({Post::ready, ready});
      }
      arrival.signals.add(Post::data_group);
      track(Track::data).push_back(arrival);
      transfer.waits.add({Post::data_group, data_meetings_ * members});
    } else if (ready > 0) {
      transfer.waits.add({Post::ready, ready});
    }
    if (members > 1 && plans_.leave_together) {
      transfer.signals.add(Post::data_group);
      track(Track::data).push_back(transfer);
      transfer = Instruction{};
      transfer.waits.add({Post::data_group, ++data_meetings_ * members});
    }
    transfer.signals.add(Post::data);
    track(Track::data).push_back(transfer);
  }

  void add_gathers() {
    for (const BucketPlace& place : cutter_.gathers()) {
      add_transfer(place, 0);
    }
  }

  [[nodiscard]] const GradientBucket& bucket(const BucketPlace& place) const {
    return costs_.buckets[static_cast<std::size_t>(place.stage)][place.bucket];
  }

  /// Both ranks of a stage, where two copies of the model go opposite ways, need one order.
  void add_syncs() {
    std::vector<std::uint32_t> order(complete_.size());
    std::iota(order.begin(), order.end(), 0);
    if (costs_.placement == Placement::two_ways) {
      std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
        return complete_[a].stage > complete_[b].stage;
      });
    }
    for (const std::uint32_t index : order) {
      add_transfer(complete_[index], index + 1);
    }
  }

  void add_unit() {
    const std::size_t begin = main().size();
    const std::size_t first = program_.units[unit_];
    const std::size_t count = program_.actions[first].with_next ? 2 : 1;
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
    for (const std::uint32_t index : sending_order(program_.actions, program_.units[unit_])) {
      send(index);
    }
  }

  void wait_for_input(const Action& action) {
    const Message* message = plans_.messages.before({rank_, action.chunk}, action);
    if (message != nullptr) {
      wait(message->onward ? Post::from_previous : Post::from_next, message->number);
    }
  }

  void emit(const PassWork& work) {
    for (const Segment& segment : work.segments) {
      if (segment.gathers > 0) {
        wait(Post::data, segment.gathers);
      }
      // The transfers beside compute begin with it, and end before those that it waits for.
      begin_hidden(segment, segment.hidden);
      add_compute(segment);
      if (segment.hidden > 0) {
        wait(Post::hidden, hidden_);
      }
      if (segment.exposed > 0) {
        meet(Post::tensor, tensor_meetings_, plans_.members.tensor);
        on_main(tensor_transfer(segment, segment.exposed));
        leave(Post::tensor, tensor_meetings_, plans_.members.tensor);
      }
      if (segment.bucket) {
        signal(Post::ready);
        complete_.push_back(*segment.bucket);
      }
    }
  }

  /// Of the next transfer that is affected like this. The members of a group follow programs with
  /// the same transfers, so that all number one alike.
  std::uint32_t number(Affected affected) { return drawn_[static_cast<std::size_t>(affected)]++; }

  [[nodiscard]] Instruction tensor_transfer(const Segment& segment, Ticks duration) {
    return {.duration = duration,
            .lane = DeviceLane::tensor_comm,
            .part = TaskPart::tensor_comm,
            .affected = Affected::tensor,
            .stage = static_cast<std::int16_t>(segment.stage),
            .micro_batch = segment.micro_batch,
            .draw = number(Affected::tensor)};
  }

  void begin_hidden(const Segment& segment, Ticks duration) {
    if (duration == 0) {
      return;
    }
    signal(Post::tensor_begin);
    Instruction transfer = tensor_transfer(segment, duration);
    transfer.waits.add(
        {Post::tensor_begin, ++hidden_ * static_cast<std::uint32_t>(plans_.members.tensor)});
    transfer.signals.add(Post::hidden);
    transfer.unit = unit_;
    track(Track::tensor).push_back(transfer);
  }

  void add_compute(const Segment& segment) {
    if (segment.compute > 0) {
      on_main({.duration = segment.compute,
               .lane = DeviceLane::compute,
               .part = segment.part,
               .affected = Affected::compute,
               .stage = static_cast<std::int16_t>(segment.stage),
               .micro_batch = segment.micro_batch});
    }
  }

  void send(std::size_t index) {
    const Action& action = program_.actions[index];
    const Message* message = plans_.messages.after({rank_, action.chunk}, action);
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

  void add_tail() {
    const StageTail& tail = costs_.tails[static_cast<std::size_t>(rank_)];
    unit_ = static_cast<std::uint32_t>(program_.units.size());
    if (plans_.send == PipelineSend::batched && sent_ > 0) {
      wait(Post::sent, sent_);
    }
    if (costs_.embedding_sync > Seconds{} && (rank_ == 0 || rank_ == costs_.shape.stages - 1)) {
      std::uint32_t meetings = 0;
      meet(Post::ends, meetings, 2);
      on_main({.duration = to_ticks(costs_.embedding_sync),
               .lane = DeviceLane::pipeline_send,
               .part = TaskPart::pipeline_comm,
               .affected = Affected::ends});
    }
    add_syncs();
    synchronise(tail.gradient_sync, false);
    if (transfers_ > 0) {
      wait(Post::data, transfers_);
    }
    if (tail.optimizer > Seconds{} || !pending_.empty()) {
      on_main({.duration = to_ticks(tail.optimizer),
               .lane = DeviceLane::optimizer,
               .part = TaskPart::optimizer,
               .affected = Affected::compute});
    }
    synchronise(tail.parameter_sync, true);
  }

  void synchronise(Seconds time, bool gathers) {
    if (time > Seconds{}) {
      meet(Post::data_group, data_meetings_, plans_.members.data);
      on_main({.duration = to_ticks(time),
               .lane = DeviceLane::data_comm,
               .part = TaskPart::data_comm,
               .affected = Affected::data,
               .gathers = gathers,
               .draw = number(Affected::data)});
      leave(Post::data_group, data_meetings_, plans_.members.data);
    }
  }

  const Plans& plans_;
  const StepCosts& costs_;
  int rank_;
  PassCutter cutter_;
  RankProgram program_;
  std::uint32_t unit_ = 0;
  std::vector<PostWait> pending_;      // of the next instruction of the main stream
  std::uint32_t sent_ = 0;             // messages so far; likewise below
  std::uint32_t hidden_ = 0;           // transfers beside compute
  std::uint32_t tensor_meetings_ = 0;  // of the tensor group
  std::uint32_t data_meetings_ = 0;
  std::uint32_t transfers_ = 0;        // of the data track
  std::vector<BucketPlace> complete_;  // gradient buckets, in order
  std::array<std::uint32_t, kAffected> drawn_{};
};

}  // namespace

bool StepProgram::uses(Track track) const {
  return std::any_of(ranks.begin(), ranks.end(), [&](const RankProgram& rank) {
    return !rank.tracks[static_cast<std::size_t>(track)].empty();
  });
}

StepProgram step_program(const Scenario& scenario,
                         const StepCosts& costs,
                         SimulatedMembers members) {
  const std::vector<ActionList> lists = action_lists(scenario.plan.schedule, costs.shape);
  const Messages messages(costs, lists);
  const Plans plans{.costs = costs,
                    .messages = messages,
                    .send = scenario.pipeline_send(),
                    .members = members,
                    .leave_together = scenario.stack.overlap_slowdown > 1};
  StepProgram program;
  program.ranks.reserve(lists.size());
  for (int rank = 0; rank < costs.shape.stages; ++rank) {
    program.ranks.push_back(
        RankBuilder(plans, rank, lists[static_cast<std::size_t>(rank)]).build());
  }
  return program;
}

}  // namespace titer
