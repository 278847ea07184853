#pragma once
// The time of a pipeline, for stages of any cost: the recurrence that the order of the schedule
// implies, evaluated once over its passes. Lowering the same passes to tasks and running the engine
// must give the same ticks.

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "titer/plan/pass_kinds.hpp"
#include "titer/plan/pipeline_lanes.hpp"
#include "titer/plan/schedule.hpp"

namespace titer {

/// One pass of the whole pipeline, in an order in which every pass follows those it waits for.
/// A pass waits for its rank's previous pass and for its input slot, and fills its output slot. A
/// forward and a backward done together are three: one of no duration that waits for the forward's
/// input, the pair, which sends the gradient, and one that only sends the activation.
struct PipelinePass {
  std::uint16_t rank = 0;
  std::uint16_t kind = 0;   // pass_kind(), pair_kind(), instant_kind() or pair_end_kind()
  std::uint32_t input = 0;  // slot 0 is always ready
  std::uint32_t output = 0;
};

/// How often each kind of pass is done at a place. Pairs are counted where their forward is.
struct PassCounts {
  std::array<int, kPasses> alone{};
  int pairs = 0;

  [[nodiscard]] int of(Pass pass) const { return alone[static_cast<std::size_t>(pass)]; }
};

/// The passes of one schedule and shape, in the order in which they would run if all took as long.
class PipelineProgram {
 public:
  PipelineProgram(const Schedule& schedule, PipelineShape shape);

  [[nodiscard]] std::span<const PipelinePass> passes() const { return passes_; }
  [[nodiscard]] std::size_t slots() const { return slot_count_; }
  [[nodiscard]] const PipelineShape& shape() const { return shape_; }
  [[nodiscard]] const Schedule& schedule() const { return schedule_; }

  /// Of the place; see pass_place().
  [[nodiscard]] const PassCounts& counts(std::size_t place) const { return counts_[place]; }
  [[nodiscard]] std::size_t places() const { return counts_.size(); }
  /// Whether no place does a pass in several ways: every micro-batch then goes the same way.
  [[nodiscard]] bool uniform() const { return uniform_; }

  /// Output slots of passes of the steady phase, each with its likeness one period later: as many
  /// as an input can reach over. Empty if the schedule has no such phase or it is shorter.
  [[nodiscard]] std::span<const std::pair<std::uint32_t, std::uint32_t>> likenesses() const {
    return likenesses_;
  }
  /// The passes after which a place has made all of its gradients, in their order: index of the
  /// pass, place, and the kind of pass that made the last of them.
  struct Made {
    std::size_t pass = 0;
    std::size_t place = 0;
    GradientPass kind = GradientPass::whole;
  };
  [[nodiscard]] std::span<const Made> made() const { return made_; }

 private:
  class Ordering;
  void count(std::size_t places);
  void find_made();
  void find_likenesses(const Schedule& schedule);

  PipelineShape shape_;
  Schedule schedule_;
  std::vector<PipelinePass> passes_;
  std::size_t slot_count_ = 0;
  std::vector<PassCounts> counts_;
  bool uniform_ = true;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> likenesses_;
  std::vector<Made> made_;
};

/// What a data lane beside a pipeline meets, in order: a rank waits while it may be busy, or has
/// made the last gradients of a place.
struct LaneEvent {
  std::uint16_t rank = 0;
  bool waits = false;
  GradientPass kind = GradientPass::whole;  // that made them, at `place`
  std::uint16_t pass = 0;                   // PipelinePass::kind of that pass
  std::uint32_t place = 0;
  Ticks from = 0;  // of the wait
  Ticks to = 0;    // of the wait; of the gradients, when their pass and its message are through
};

/// A pipeline without lanes, once it has been followed.
struct FollowedPipeline {
  Schedule schedule;
  PipelineShape shape;
  PassTicks ticks;
  std::vector<Ticks> finish;
  std::vector<LaneEvent> events;   // of the passes followed
  Ticks later = 0;                 // how much later all of them are, for periods left out
  std::vector<PassCounts> counts;  // by place
};

/// Evaluates pipelines. Keeps the programs of the last shapes and its working memory: evaluating a
/// shape again allocates nothing.
///
/// Long pipelines are not followed to their end. Once every pass of a stretch of the steady phase
/// ends exactly one and the same time after its likeness of the period before, all later passes do
/// too: a pass starts at the maximum of ends that have all moved by that time, since no input comes
/// from before the stretch. So a pipeline of few micro-batches is followed, that stretch compared
/// tick by tick, and the periods left out are added. If it differs, all passes are followed.
class PipelineClock {
 public:
  /// When each rank ends its last pass: a pass starts at the later of its rank's previous end and
  /// its input (max-plus).
  void run(const Schedule& schedule,
           PipelineShape shape,
           const PassTicks& ticks,
           std::vector<Ticks>& finish);
  /// The same with lanes beside the passes; what these did is in lane_ends(), by rank.
  void run(const Schedule& schedule,
           PipelineShape shape,
           const PassTicks& ticks,
           const PipelineLanes& lanes,
           std::vector<Ticks>& finish);
  [[nodiscard]] const std::vector<LaneEnds>& lane_ends() const { return ends_; }
  /// How often each kind of pass is done at each place, in the last run.
  [[nodiscard]] const std::vector<PassCounts>& counts() const { return counts_; }

  /// The first run() above, which the data lanes of data_lanes() leave as it is. One of the last
  /// few hundred pipelines is not followed again. Valid until the next call.
  const FollowedPipeline& followed(const Schedule& schedule,
                                   PipelineShape shape,
                                   const PassTicks& ticks);

 private:
  class LaneWalk;
  const PipelineProgram& program(const Schedule& schedule, PipelineShape shape);
  void follow(const PipelineProgram& program, FollowedPipeline& into);
  void follow_tail(const PipelineProgram& program, std::size_t begin, FollowedPipeline& into);
  void fill_counts(const PipelineProgram& program, std::vector<PassCounts>& counts) const;
  void follow_all(FollowedPipeline& into);
  [[nodiscard]] std::optional<Ticks> period(const PipelineProgram& program) const;
  /// Of fewer micro-batches, if the schedule has periods to leave out.
  const PipelineProgram* shorter_program(const Schedule& schedule, PipelineShape shape);
  /// How much later the whole shape ends than the shorter one just followed, if periods are alike.
  [[nodiscard]] std::optional<Ticks> left_out(const Schedule& schedule,
                                              PipelineShape shape,
                                              const PipelineProgram& shorter) const;

  std::deque<PipelineProgram> programs_;  // the oldest first
  std::size_t passes_kept_ = 0;           // of all of them
  std::vector<FollowedPipeline> followed_;
  std::unordered_multimap<std::uint64_t, std::size_t> known_;  // by a hash, into followed_
  std::vector<std::uint64_t> hashes_;                          // of followed_
  std::size_t oldest_followed_ = 0;
  int micro_batches_ = 0;     // per chunk, of the shape run last
  std::vector<Ticks> slots_;  // of the program followed last
  std::vector<PassCounts> counts_;
  std::vector<LaneEnds> ends_;
  std::vector<Ticks> send_ends_;
  std::vector<int> gradients_left_;  // passes of each place that make gradients, still to come
  // With two copies of the model: when and by which kind of pass a place made its last gradients,
  // and the times in which a rank did nothing after it made some of them.
  std::vector<std::pair<Ticks, GradientPass>> made_;
  std::vector<std::vector<std::pair<Ticks, Ticks>>> gaps_;
};

/// What the data lanes of the ranks do beside a pipeline whose ranks wait for their messages, where
/// nothing is gathered at the start and there is one copy of the model: then they change no pass.
/// Fills `ends` by rank.
void data_lanes(const FollowedPipeline& pipeline,
                const PipelineLanes& lanes,
                std::vector<LaneEnds>& ends);

}  // namespace titer
