#pragma once
// The time of a pipeline, for stages of any cost: the recurrence that the order of the schedule
// implies, evaluated once over its passes. Lowering the same passes to tasks and running the engine
// must give the same ticks.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
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

 private:
  class Ordering;
  void count(std::size_t places);
  void find_likenesses(const Schedule& schedule);

  PipelineShape shape_;
  Schedule schedule_;
  std::vector<PipelinePass> passes_;
  std::size_t slot_count_ = 0;
  std::vector<PassCounts> counts_;
  bool uniform_ = true;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> likenesses_;
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
  /// How often each kind of pass is done at a place, in the last run.
  [[nodiscard]] PassCounts counts(std::size_t place) const;

 private:
  class LaneWalk;
  const PipelineProgram& program(const Schedule& schedule, PipelineShape shape);
  void follow(const PipelineProgram& program, const PassTicks& ticks, std::vector<Ticks>& finish);
  [[nodiscard]] std::optional<Ticks> period(const PipelineProgram& program) const;
  /// Of fewer micro-batches, if the schedule has periods to leave out.
  const PipelineProgram* shorter_program(const Schedule& schedule, PipelineShape shape);
  /// How much later the whole shape ends than the shorter one just followed, if periods are alike.
  [[nodiscard]] std::optional<Ticks> left_out(const Schedule& schedule,
                                              PipelineShape shape,
                                              const PipelineProgram& shorter) const;

  std::vector<PipelineProgram> programs_;
  std::size_t oldest_ = 0;
  std::size_t last_ = 0;      // of programs_, followed last
  int micro_batches_ = 0;     // per chunk, of the shape run last
  std::vector<Ticks> slots_;  // of the program followed last
  std::vector<LaneEnds> ends_;
  std::vector<Ticks> send_ends_;
  std::vector<int> gradients_left_;  // passes of each place that make gradients, still to come
  // With two copies of the model: when and by which kind of pass a place made its last gradients,
  // and the times in which a rank did nothing after it made some of them.
  std::vector<std::pair<Ticks, std::size_t>> made_;
  std::vector<std::vector<std::pair<Ticks, Ticks>>> gaps_;
};

}  // namespace titer
