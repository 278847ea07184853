#pragma once
// The closed form of one step: costs, the schedule's recurrence, and the sum by category. Lanes of
// data-parallel transfers and messages beside the passes slow these down, and these them; whatever
// else shares a link, or happens to run beside something, is for the event simulation.

#include <vector>

#include "titer/cost/cost_finder.hpp"
#include "titer/estimate/known_memory.hpp"
#include "titer/estimate/result.hpp"
#include "titer/estimate/stage_passes.hpp"
#include "titer/plan/pipeline/pipeline.hpp"

namespace titer {

/// FLOPs of one iteration of a model, forward and backward passes. A frozen layer has half a
/// backward pass, or none.
struct TrainedFlops {
  Flops full;            // all pairs of tokens attend
  Flops causal;          // half of them
  ForwardFlops forward;  // of `full`, the forward passes alone
};

/// Estimates scenarios one after the other, keeping its working memory: estimating again with the
/// same schedule, p, m and v, into the same result, allocates nothing.
class Estimator {
 public:
  // Defined in one place: every file that copies one would compile them again.
  Estimator();
  Estimator(const Estimator& other);
  Estimator(Estimator&& other) noexcept;
  Estimator& operator=(const Estimator& other);
  Estimator& operator=(Estimator&& other) noexcept;
  ~Estimator();

  /// REQUIRES validate(scenario) to be empty. Batched sends are taken as blocking ones: evaluate()
  /// refuses them where the closed form itself is asked for.
  void estimate(const Scenario& scenario, StepResult& result) {
    estimate(scenario, Changed::anything, result);
  }
  /// With Changed::plan what the plan has in common with that of the estimate before is kept.
  /// REQUIRES that nothing else is otherwise than there, if there was one.
  void estimate(const Scenario& scenario, Changed changed, StepResult& result);

 private:
  void fill_ticks(const Scenario& scenario);
  void run(const Scenario& scenario);
  const FollowedPipeline& follow(const Schedule& schedule);

  CostFinder finder_;
  PipelineClock pipeline_;
  StagePasses passes_;
  PassTicks pass_ticks_;     // without what sends take
  PassTicks ticks_;          // with it
  bool same_ticks_ = false;  // those are of the pipeline followed last
  PipelineLanes lanes_;
  StartGathers gathers_;                    // with what sends take
  const PipelineCounts* counts_ = nullptr;  // of pipeline_, in this estimate
  std::vector<Ticks> finish_;
  std::vector<LaneEnds> ends_;
  KnownMemory memory_;
  TrainedFlops flops_;
};

/// A single estimate.
[[nodiscard]] StepResult estimate(const Scenario& scenario);

/// What the memory of a scenario depends on. It keeps pointers to both.
[[nodiscard]] MemoryNeeds memory_needs(const Scenario& scenario, const ModelBlocks& blocks);

/// The parts of a result that follow from the iteration time and the scenario alone: rates,
/// utilisations, memory, grade. `blocks`: of the scenario's model and slice.
/// REQUIRES result.iteration_time and breakdown.
void fill_derived(const Scenario& scenario,
                  const ModelBlocks& blocks,
                  MemoryFinder& memory,
                  StepResult& result);
[[nodiscard]] TrainedFlops trained_flops(const Scenario& scenario, const ModelBlocks& blocks);
/// The same where FLOPs and memory are known.
void fill_derived(const Scenario& scenario,
                  const ModelBlocks& blocks,
                  const TrainedFlops& flops,
                  StepResult& result);

/// The bubble: what the other parts of the breakdown leave of the iteration time.
void fill_bubble(StepResult& result);

/// When a stage is through with its backward passes, synchronisation and optimizer step: the tied
/// token table's gradient first (both ends of the pipeline together), then the stage's own tail,
/// whose collectives begin when the ranks of both copies of the model are there.
/// `finish`: end of each stage's passes; returns the end of each stage in place. Data lanes must be
/// through before the optimizer step: `ends` takes what was exposed of them.
void add_tails(const StepCosts& costs, std::vector<LaneEnds>& ends, std::vector<Ticks>& finish);

}  // namespace titer
