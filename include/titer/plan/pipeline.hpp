#pragma once
// The time of a pipeline, for stages of any cost: the recurrence that the order of the schedule
// implies, evaluated once over its passes. Lowering the same passes to tasks and running the engine
// must give the same ticks.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "titer/plan/pipeline_lanes.hpp"
#include "titer/plan/pipeline_program.hpp"
#include "titer/plan/schedule.hpp"

namespace titer {

/// What a data lane beside a pipeline meets, in order: a rank waits while it may be busy, or has
/// made the last gradients of a place.
struct LaneEvent {
  Ticks from = 0;  // of the wait
  Ticks to = 0;    // of the wait; of the gradients, when their pass and its message are through
  std::uint16_t rank = 0;
  std::uint16_t place = 0;  // of the gradients
  std::uint16_t pass = 0;   // PipelinePass::kind of the pass that made them
  bool waits = false;
  GradientPass kind = GradientPass::whole;
};

/// A pipeline without lanes, once it has been followed.
struct FollowedPipeline {
  Schedule schedule;
  PipelineShape shape;
  PassTicks ticks;
  std::vector<Ticks> finish;
  std::vector<LaneEvent> events;   // of the passes followed
  Ticks later = 0;                 // how much later they are, for periods left out
  std::vector<PassCounts> counts;  // by place
};

/// Evaluates pipelines. Keeps the programs of the last shapes and its working memory: evaluating a
/// shape again allocates nothing.
///
/// Of long pipelines one period is followed again and again, until all ends that the next one
/// takes are one and the same time later than a period before: then everything after them is too,
/// since a pass starts at the maximum of two ends, and the periods left are added.
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
  /// The one that followed() returned last, and whether it is of this schedule and shape.
  [[nodiscard]] const FollowedPipeline& last() const { return followed_[last_followed_]; }
  [[nodiscard]] bool followed_last(const Schedule& schedule, const PipelineShape& shape) const {
    return !followed_.empty() && last().shape == shape && is_same(last().schedule, schedule);
  }

 private:
  class LaneWalk;
  const PipelineProgram& program(const Schedule& schedule, PipelineShape shape);
  void follow(const PipelineProgram& program, int periods, FollowedPipeline& into);
  void follow(std::span<const PipelinePass> passes, std::size_t first, const PassTicks& ticks);
  [[nodiscard]] std::optional<Ticks> later_by(const PipelineProgram::Repeated& repeated) const;
  void fill_events(const PipelineProgram& program, std::vector<LaneEvent>& events);
  void fill_counts(const PipelineProgram& program, std::vector<PassCounts>& counts) const;
  void follow_all(FollowedPipeline& into);

  std::deque<PipelineProgram> programs_;  // the oldest first
  std::size_t passes_kept_ = 0;           // of all of them
  std::vector<FollowedPipeline> followed_;
  std::unordered_multimap<std::uint64_t, std::size_t> known_;  // by a hash, into followed_
  std::vector<std::uint64_t> hashes_;                          // of followed_
  std::size_t oldest_followed_ = 0;
  std::size_t last_followed_ = 0;
  int micro_batches_ = 0;              // per chunk, of the shape run last
  std::vector<Ticks> ends_of_passes_;  // of the program followed last; see PipelinePass
  std::vector<LaneEvent> events_;
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
