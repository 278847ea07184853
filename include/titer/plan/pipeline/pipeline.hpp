#pragma once
// The time of a pipeline, for stages of any cost: the recurrence that the order of the schedule
// implies, evaluated once over its passes. Lowering the same passes to tasks and running the engine
// must give the same ticks.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "titer/plan/pipeline/pipeline_lanes.hpp"
#include "titer/plan/pipeline/pipeline_program.hpp"
#include "titer/plan/schedule/schedule.hpp"

namespace titer {

/// A pipeline without lanes, but for gathers at its start, once it has been followed.
struct FollowedPipeline {
  Schedule schedule;
  PipelineShape shape;
  PassTicks ticks;
  StartGathers gathers;  // messages included
  std::vector<Ticks> finish;
  std::vector<LaneEnds> starts;      // of each rank, after its gathers
  std::vector<Ticks> before_ending;  // what that takes, where it was asked for
  bool has_before_ending = false;
  Ticks later = 0;  // how much later these are, for periods left out
  PipelineCounts counts;
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
  [[nodiscard]] const PipelineCounts& counts() const { return counts_; }

  /// The first run() above, of ranks that wait for their messages: these are in `ticks` and in the
  /// gathers. `to_end_beside`: with what end_beside() needs. One of the last few
  /// hundred pipelines is not followed again. Valid until the next call. REQUIRES no gathers where
  /// the schedule may pair passes, or has two copies of the model.
  const FollowedPipeline& followed(const Schedule& schedule,
                                   PipelineShape shape,
                                   const PassTicks& ticks,
                                   const StartGathers& gathers,
                                   bool to_end_beside);
  /// The one that followed() returned last. REQUIRES followed_last().
  const FollowedPipeline& last(bool to_end_beside) { return known(last_followed_, to_end_beside); }
  /// The pipeline that was returned last with buckets of gradients beside its last passes: what the
  /// lanes of each rank do, and when it ends its passes. REQUIRES one copy of the model.
  void end_beside(const PipelineLanes& lanes,
                  std::vector<LaneEnds>& ends,
                  std::vector<Ticks>& finish);
  /// Whether it is of these.
  [[nodiscard]] bool followed_last(const Schedule& schedule,
                                   const PipelineShape& shape,
                                   const StartGathers& gathers) const {
    return !followed_.empty() && is_of(followed_[last_followed_], schedule, shape, gathers);
  }

 private:
  class LaneWalk;
  /// What a pipeline is followed by: a program, and how many periods more than its own.
  struct Course {
    const PipelineProgram* program = nullptr;
    int periods = 0;
  };
  const PipelineProgram& program(const Schedule& schedule, PipelineShape shape);
  Course course(const Schedule& schedule, const PipelineShape& shape);
  std::size_t room_for(std::uint64_t hash);
  const FollowedPipeline& known(std::size_t at, bool to_end_beside);
  void follow(std::size_t at);
  [[nodiscard]] static bool is_of(const FollowedPipeline& one,
                                  const Schedule& schedule,
                                  const PipelineShape& shape,
                                  const StartGathers& gathers) {
    return one.shape == shape && is_same(one.schedule, schedule) && one.gathers == gathers;
  }
  void follow(const PipelineProgram& program, int periods, FollowedPipeline& into);
  void follow(const PipelineProgram& program,
              std::size_t begin,
              std::size_t end,
              const PassTicks& ticks);
  void follow_gathers(const PipelineProgram& program, FollowedPipeline& into);
  [[nodiscard]] std::optional<Ticks> later_by(const PipelineProgram::Repeated& repeated) const;

  std::deque<PipelineProgram> programs_;  // the oldest first
  std::size_t passes_kept_ = 0;           // of all of them
  std::vector<FollowedPipeline> followed_;
  std::unordered_multimap<std::uint64_t, std::size_t> known_;  // by a hash, into followed_
  std::vector<std::uint64_t> hashes_;                          // of followed_
  std::size_t oldest_followed_ = 0;
  std::size_t last_followed_ = 0;
  std::vector<Ticks> ends_of_passes_;     // of the program followed last; see PipelinePass
  std::optional<std::size_t> ends_of_{};  // which of followed_ these are of
  std::vector<Ticks> ends_of_ending_;
  PipelineCounts counts_;
  std::vector<LaneEnds> ends_;
  std::vector<int> gradients_left_;  // passes of each place that make gradients, still to come
  // With two copies of the model: when and by which kind of pass a place made its last gradients,
  // and the times in which a rank did nothing after it made some of them.
  std::vector<std::pair<Ticks, GradientPass>> made_;
  std::vector<std::vector<std::pair<Ticks, Ticks>>> gaps_;
};

}  // namespace titer
