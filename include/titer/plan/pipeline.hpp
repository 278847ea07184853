#pragma once
// The time of a pipeline without overlap, for stages of any cost: the recurrence that the order of
// the schedule implies, evaluated once over its passes. Lowering the same passes to tasks and
// running the engine must give the same ticks.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "titer/engine/task_graph.hpp"
#include "titer/plan/schedule.hpp"

namespace titer {

/// One pass of the whole pipeline, in an order in which every pass follows those it waits for.
/// A pass waits for its rank's previous pass and for its input slot, and fills its output slot.
struct PipelinePass {
  std::uint16_t rank = 0;
  std::uint16_t kind = 0;   // 2 * virtual stage + (backward ? 1 : 0)
  std::uint32_t input = 0;  // slot 0 is always ready
  std::uint32_t output = 0;
};

/// Ticks of each kind of pass: what it occupies its rank for, sending its result included.
/// Index: PipelinePass::kind; virtual stage = chunk * p + rank.
using PassTicks = std::vector<Ticks>;

/// The passes of one schedule and shape, in the order in which they would run if all took as long.
class PipelineProgram {
 public:
  PipelineProgram(const Schedule& schedule, PipelineShape shape);

  [[nodiscard]] std::span<const PipelinePass> passes() const { return passes_; }
  [[nodiscard]] std::size_t slots() const { return slot_count_; }
  [[nodiscard]] const PipelineShape& shape() const { return shape_; }
  [[nodiscard]] std::size_t schedule() const { return schedule_; }

  /// Output slots of passes of the steady phase, each with its likeness one period later: as many
  /// as an input can reach over. Empty if the schedule has no such phase or it is shorter.
  [[nodiscard]] std::span<const std::pair<std::uint32_t, std::uint32_t>> likenesses() const {
    return likenesses_;
  }

 private:
  void order_passes(const Schedule& schedule);
  void find_likenesses(const Schedule& schedule);

  PipelineShape shape_;
  std::size_t schedule_;  // index of the Schedule's alternative
  std::vector<PipelinePass> passes_;
  std::size_t slot_count_ = 0;
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

 private:
  const PipelineProgram& program(const Schedule& schedule, PipelineShape shape);
  void follow(const PipelineProgram& program, const PassTicks& ticks, std::vector<Ticks>& finish);
  [[nodiscard]] std::optional<Ticks> period(const PipelineProgram& program) const;

  std::vector<PipelineProgram> programs_;
  std::size_t oldest_ = 0;
  std::vector<Ticks> slots_;  // of the program followed last
};

}  // namespace titer
