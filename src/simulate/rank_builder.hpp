#pragma once
// Writes the instructions of one rank of the pipeline, pass by pass.

#include "pass_work.hpp"
#include "titer/simulate/messages.hpp"
#include "titer/simulate/step_program.hpp"

namespace titer {

/// Everything that the program of any rank depends on.
struct Plans {
  const StepCosts& costs;
  const Messages& messages;
  PipelineSend send;
  SimulatedMembers members;
  // Where what runs beside a transfer slows it down, the members of its group go on together.
  bool leave_together;
  bool islands_have_links;  // of their own, beside the cluster's network
};

/// Goes through the schedule of a rank once.
class RankBuilder {
 public:
  RankBuilder(const Plans& plans, int rank, const ActionList& list)
      : plans_(plans), costs_(plans.costs), rank_(rank), cutter_(plans.costs, rank, list) {
    program_.actions = list;
    program_.units = units_of(list);
  }

  RankProgram build();

 private:
  std::vector<Instruction>& track(Track track);
  std::vector<Instruction>& main() { return track(Track::main); }
  void wait(Post post, std::uint32_t count) { pending_.push_back({post, count}); }

  /// Adds to the main stream what waits for everything asked for since the last time.
  void on_main(Instruction instruction);
  void take_waits(Instruction& instruction);

  /// The main stream has come as far as this: a signal of what it did last, if it need not wait.
  void signal(Post post);

  /// The main stream arrives at a meeting and waits for the others.
  void meet(Post post, std::uint32_t& meetings, int members);
  void meet(Meeting meeting) { meet(post_of(meeting), meetings(meeting), plans_.members[meeting]); }
  void leave(Meeting meeting);
  [[nodiscard]] std::uint32_t& meetings(Meeting meeting) {
    return meetings_[static_cast<std::size_t>(meeting)];
  }

  /// A bucket in the data track; `ready` buckets are complete before a synchronisation. Experts
  /// have replicas of their own.
  void add_transfer(const BucketPlace& place, std::uint32_t ready);
  void add_transfer(Instruction transfer, Meeting meeting, std::uint32_t ready);
  void add_gathers();
  [[nodiscard]] const GradientBucket& bucket(const BucketPlace& place) const;

  /// Both ranks of a stage, where two copies of the model go opposite ways, need one order.
  void add_syncs();

  void add_unit();
  void wait_for_input(const Action& action);
  void emit(const PassWork& work);

  /// Of the next transfer that is affected like this. The members of a group follow programs with
  /// the same transfers, so that all number one alike.
  std::uint32_t number(Affected affected) { return drawn_[static_cast<std::size_t>(affected)]++; }

  void add_exposed(const Segment& segment, PassComm comm);
  [[nodiscard]] Instruction pass_transfer(const Segment& segment, PassComm comm, Ticks duration);
  void begin_hidden(const Segment& segment, PassComm comm);
  void add_compute(const Segment& segment);
  void send(std::size_t index);
  void add_tail();

  /// `experts`: of `time`, what theirs take; both rounded together, as the closed form does.
  void synchronise(Seconds time, Seconds experts, bool gathers);
  void synchronise(Ticks duration, Meeting meeting, bool gathers);

  const Plans& plans_;
  const StepCosts& costs_;
  int rank_;
  PassCutter cutter_;
  RankProgram program_;
  std::uint32_t unit_ = 0;
  std::vector<PostWait> pending_;                    // of the next instruction of the main stream
  std::uint32_t sent_ = 0;                           // messages so far; likewise below
  std::uint32_t hidden_ = 0;                         // transfers beside compute
  std::uint32_t transfers_ = 0;                      // buckets in the data track
  std::array<std::uint32_t, kPassComms> begun_{};    // transfers beside compute, of each kind
  std::array<std::uint32_t, kMeetings> meetings_{};  // of each group
  std::vector<BucketPlace> complete_;                // gradient buckets, in order
  std::array<std::uint32_t, kAffected> drawn_{};
};

}  // namespace titer
