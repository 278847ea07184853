#include "titer/estimate/step_length.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "pipeline_ticks.hpp"
#include "titer/estimate/stage_passes.hpp"
#include "titer/input/reader.hpp"
#include "titer/plan/pipeline/pipeline.hpp"

namespace titer {
namespace {

/// Every pass of a block once, whether its schedule has it or not, and all transfers.
Seconds whole_work(const BlockCost& cost) {
  Seconds sum;
  for (const PassCost* pass : {&cost.forward,
                               &cost.backward,
                               &cost.recompute,
                               &cost.input_gradient,
                               &cost.weight_gradient}) {
    sum += pass->busy() + pass->comm_total();
  }
  return sum;
}

Seconds bucket_times(const StepCosts& costs, std::size_t stage) {
  Seconds sum;
  if (!costs.buckets.empty()) {
    for (const GradientBucket& bucket : costs.buckets[stage]) {
      sum += bucket.sync + bucket.gather;
    }
  }
  return sum;
}

/// Of all ranks, one thing after the other.
Seconds one_by_one(const StepCosts& costs) {
  Seconds of_micro_batch = whole_work(costs.embedding) + whole_work(costs.head);
  for (const LayerRun& run : costs.blocks.order) {
    of_micro_batch += static_cast<double>(run.count) *
                      whole_work(costs.kinds[static_cast<std::size_t>(run.kind)]);
  }
  const double chunks = chunks_per_rank(costs.placement, costs.shape);
  Seconds sum = costs.embedding_sync;
  for (const Seconds send : costs.send) {
    of_micro_batch += 2.0 * chunks * send;
  }
  for (const StageTail& tail : costs.tails) {
    sum += tail.total();
  }
  for (int stage = 0; stage < costs.stages; ++stage) {
    sum += bucket_times(costs, static_cast<std::size_t>(stage));
  }
  return costs.slowdown * (static_cast<double>(costs.shape.micro_batches) * of_micro_batch) + sum;
}

/// The passes of a step and their messages so many times faster: what their pipeline depends on.
StepCosts faster_passes(const StepCosts& costs, double times) {
  StepCosts faster = costs;
  const double factor = 1 / times;
  for (BlockCost& kind : faster.kinds) {
    kind = factor * kind;
  }
  faster.embedding = factor * faster.embedding;
  faster.head = factor * faster.head;
  for (Seconds& send : faster.send) {
    send = factor * send;
  }
  return faster;
}

/// When the last rank is through with its passes, where every rank waits for its messages.
Seconds pipeline_length(const Scenario& scenario, const StepCosts& costs) {
  const Schedule& schedule = scenario.plan.schedule;
  StagePasses passes;
  passes.fill(costs, schedule.entry().splits);
  PassTicks ticks;
  fill_pass_ticks(costs, passes, schedule.entry().pairs, ticks);
  PassTicks send;
  fill_send_ticks(costs, send);
  std::ranges::transform(ticks, send, ticks.begin(), std::plus<>());
  PipelineClock clock;
  std::vector<Ticks> finish;
  clock.run(schedule, costs.shape, ticks, finish);
  return to_seconds(*std::ranges::max_element(finish));
}

/// What comes beside the passes and after them, on the rank that has most of it.
Seconds beside_passes(const StepCosts& costs) {
  Seconds most;
  for (int rank = 0; rank < costs.shape.stages; ++rank) {
    Seconds sum = costs.tails[static_cast<std::size_t>(rank)].total();
    for (int chunk = 0; chunk < chunks_per_rank(costs.placement, costs.shape); ++chunk) {
      const int stage = stage_of(costs.placement, {.rank = rank, .chunk = chunk}, costs.shape);
      sum += bucket_times(costs, static_cast<std::size_t>(stage));
    }
    most = std::max(most, sum);
  }
  return most + costs.embedding_sync;
}

}  // namespace

void refuse_length(std::optional<Seconds> step) {
  const double most = kLongestStep / kDay;
  const double days = step ? *step / kDay : most;
  throw InputError(fmt::format(
      "training: a step of {} days: expected at most {:.0f} days, for which picoseconds are "
      "counted (2^62 of them); fewer tokens take less, and so do more or faster devices",
      !(days > most) || std::isinf(days) ? fmt::format("more than {:.0f}", most)
      : days < 1e6                       ? fmt::format("some {:.1f}", days)
                                         : fmt::format("some {:.1e}", days),
      most));
}

void check_length(const Scenario& scenario, const StepCosts& costs) {
  const Seconds most = one_by_one(costs);
  if (most <= kLongestStep) {
    return;  // of nearly all steps: nothing can be longer
  }
  if (std::isinf(most.si())) {
    refuse_length(most);
  }
  // Ranks work at the same time, and a step may yet be short enough: followed so much faster that
  // no sum is too large.
  const double times = std::max(1.0, 2.0 * (most / kLongestStep));
  const Seconds passes = times * pipeline_length(scenario, faster_passes(costs, times));
  const Seconds step = passes + beside_passes(costs);
  if (step > kLongestStep) {
    refuse_length(step);
  }
}

}  // namespace titer
