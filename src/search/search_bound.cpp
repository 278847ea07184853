#include "titer/search/search_bound.hpp"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "titer/estimate/pass_ticks.hpp"

namespace titer {
namespace {

constexpr double kBelowRounding = 1 - 1e-6;  // more than what whole picoseconds make of a pass

/// Kernels and launches alone.
Seconds launched_work(const BlockCost& cost) {
  return cost.forward.launched + cost.recompute.launched +
         std::min(cost.backward.launched,
                  cost.input_gradient.launched + cost.weight_gradient.launched);
}

/// What a stage takes for one micro-batch, in ticks.
struct StageTicks {
  Ticks forward = 0;
  Ticks backward = 0;  // with its recomputation
  Ticks making = 0;    // without: gradients are ready within it
  Ticks sync = 0;      // of its buckets
};

class OneWayBound {
 public:
  OneWayBound(const Scenario& scenario, const StepCosts& costs)
      : costs_(costs),
        whole_(!scenario.plan.schedule.entry().splits),
        waits_(scenario.pipeline_send() != PipelineSend::overlapped),
        micro_batches_(costs.shape.micro_batches) {
    for (int stage = 0; stage < costs.stages; ++stage) {
      // Most are as the one before.
      const bool alike = costs.buckets.empty() && costs.alike(stage, stage - 1);
      stages_.push_back(alike ? stages_.back() : stage_ticks(stage));
    }
  }

  [[nodiscard]] Ticks find() const {
    const int p = costs_.shape.stages;
    Ticks bound = 0;
    Ticks head = 0;   // forward passes and messages of the stages before
    Ticks drain = 0;  // backward ones
    Ticks first_end = 0;
    for (int rank = 0; rank < p; ++rank) {
      const Ticks end = head + micro_batches_ * busy(rank);
      bound = std::max(bound, end + tail(rank, end));
      const StagePlace place{.rank = rank, .chunk = 0};
      const Ticks forth = sent(place, Pass::forward);
      const Ticks back = sent(place, Pass::backward);
      // Where the rank waits for its message, that is in its passes.
      first_end = std::max(first_end, end + (waits_ ? 0 : back) + drain);
      const StageTicks& stage = stages_[static_cast<std::size_t>(rank)];
      head += stage.forward + forth;
      drain += stage.backward + back;
    }
    // The first rank's last pass is the model's first stage's where passes are whole.
    return whole_ ? std::max(bound, first_end + tail(0, first_end)) : bound;
  }

 private:
  [[nodiscard]] StageTicks stage_ticks(int stage) const {
    const BlockCost cost = costs_.chunk(stage);
    StageTicks ticks{.forward = busy_ticks(cost.forward), .making = busy_ticks(cost.backward)};
    const Ticks parts = busy_ticks(cost.input_gradient) + busy_ticks(cost.weight_gradient);
    ticks.backward =
        busy_ticks(cost.recompute) + (whole_ ? ticks.making : std::min(ticks.making, parts));
    if (!costs_.buckets.empty()) {
      for (const GradientBucket& bucket : costs_.buckets[static_cast<std::size_t>(stage)]) {
        ticks.sync += to_ticks(bucket.sync);
      }
    }
    return ticks;
  }

  [[nodiscard]] Ticks sent(StagePlace place, Pass pass) const {
    const Seconds time = costs_.send_after(place, pass);
    if (time != sent_.first) {  // most boundaries are alike
      sent_ = {time, to_ticks(time)};
    }
    return sent_.second;
  }

  /// Of one micro-batch. Messages are in it where the rank waits for them.
  [[nodiscard]] Ticks busy(int rank) const {
    Ticks sum = 0;
    for (int chunk = 0; chunk < costs_.contents.chunks(); ++chunk) {
      const StagePlace place{.rank = rank, .chunk = chunk};
      const StageTicks& stage =
          stages_[static_cast<std::size_t>(stage_of(costs_.placement, place, costs_.shape))];
      sum += stage.forward + stage.backward;
      if (waits_ && costs_.shape.stages > 1) {
        sum += sent(place, Pass::forward) + sent(place, Pass::backward);
      }
    }
    return sum;
  }

  /// After the rank's last pass, which ends no earlier than `end`. A whole one is of its first
  /// chunk, whose buckets are synchronised one after the other from its beginning on.
  [[nodiscard]] Ticks tail(int rank, Ticks end) const {
    const StageTail& own = costs_.tails[static_cast<std::size_t>(rank)];
    const bool at_end = rank == 0 || rank == costs_.shape.stages - 1;
    Ticks passes = end + (at_end ? to_ticks(costs_.embedding_sync) : 0);
    if (whole_ && !costs_.buckets.empty()) {
      const StagePlace place{.rank = rank, .chunk = 0};
      const StageTicks& stage = stages_[static_cast<std::size_t>(rank)];
      passes = std::max(passes, end - sent(place, Pass::backward) - stage.making + stage.sync);
    }
    return passes - end + to_ticks(own.gradient_sync) + to_ticks(own.optimizer) +
           to_ticks(own.host) + to_ticks(own.parameter_sync) + to_ticks(own.meeting);
  }

  const StepCosts& costs_;
  bool whole_;
  bool waits_;
  Ticks micro_batches_;
  std::vector<StageTicks> stages_;
  mutable std::pair<Seconds, Ticks> sent_{};  // found last
};

/// All that is transferred, hidden or not.
Seconds transferred_work(const BlockCost& cost) {
  return cost.forward.comm_total() + cost.recompute.comm_total() +
         std::min(cost.backward.comm_total(),
                  cost.input_gradient.comm_total() + cost.weight_gradient.comm_total());
}

/// What a stage takes for one micro-batch where passes run in pairs or alone.
struct PairedWork {
  Seconds forward;    // alone
  Seconds backward;   // likewise, with its recomputation
  Seconds launched;   // of both
  Seconds transfers;  // of both, hidden or not
};

PairedWork paired_work(const BlockCost& cost, bool alone) {
  PairedWork work{.forward = cost.forward.busy(),
                  .backward = cost.recompute.busy() + cost.backward.busy(),
                  .launched = launched_work(cost),
                  .transfers = transferred_work(cost)};
  if (alone) {
    work.launched = work.forward + work.backward;
  }
  return work;
}

/// A rank begins after forward passes that have nothing to be paired with: nothing goes back before
/// something has gone all the way forth. Then it does the passes of its chunks for all
/// micro-batches, or with two copies of the model for half of them. A pair takes no less than its
/// compute, nor than its transfers, and so do passes alone. Where all are alone and whole
/// (Chimera), after the last one of a rank come those of the stages before.
Seconds paired_bound(const Scenario& scenario, const StepCosts& costs) {
  const Schedule& schedule = scenario.plan.schedule;
  const bool alone = !schedule.entry().pairs && !schedule.entry().splits;
  std::vector<PairedWork> work;
  std::vector<Seconds> heads(1);   // forward passes of the stages before
  std::vector<Seconds> drains(1);  // and their backward passes
  for (int stage = 0; stage < costs.stages; ++stage) {
    work.push_back(paired_work(costs.chunk(stage), alone));
    heads.push_back(heads.back() + work.back().forward);
    drains.push_back(drains.back() + work.back().backward);
  }
  const double passes =
      (costs.placement == Placement::two_ways ? 0.5 : 1.0) * costs.shape.micro_batches;
  Seconds bound;
  for (int rank = 0; rank < costs.shape.stages; ++rank) {
    Seconds launched;
    Seconds transfers;
    std::size_t first = work.size();
    for (int chunk = 0; chunk < costs.contents.chunks(); ++chunk) {
      const auto stage = static_cast<std::size_t>(costs.contents.of(rank, chunk));
      launched += work[stage].launched;
      transfers += work[stage].transfers;
      first = std::min(first, stage);
    }
    const StageTail& tail = costs.tails[static_cast<std::size_t>(rank)];
    const Seconds own = tail.total();
    const Seconds end = heads[first] + passes * std::max(launched, transfers);
    bound = std::max({bound, end + own, end + (alone ? drains[first] : Seconds{})});
  }
  return kBelowRounding * bound;
}

/// Where only some layers are computed again, they take no less than this.
BlockCost not_repeated(BlockCost layer) {
  layer.recompute = {};
  return layer;
}

/// What transfers expose of all passes of a block.
Seconds busy_work(const BlockCost& cost) {
  return cost.forward.busy() + cost.recompute.busy() +
         std::min(cost.backward.busy(), cost.input_gradient.busy() + cost.weight_gradient.busy());
}

/// The sum of a time over every block of the model.
template <class Work>
Seconds sum_of_blocks(const Plan& plan, const StepCosts& costs, const Work& work) {
  Seconds sum = work(costs.embedding) + work(costs.head);
  for (const LayerRun& run : costs.blocks.order) {
    const BlockCost& layer = costs.kinds[static_cast<std::size_t>(run.kind)];
    sum += static_cast<double>(run.count) *
           (plan.recompute_layers ? work(not_repeated(layer)) : work(layer));
  }
  return sum;
}

/// A rank's mean share of what all blocks take for one micro-batch.
Seconds mean_work(const Scenario& scenario, Seconds work) {
  const Plan& plan = scenario.plan;
  const double passes = static_cast<double>(scenario.training.global_batch) /
                        static_cast<double>(plan.micro_batch * plan.data * plan.pipeline);
  return kBelowRounding * passes * work;
}

}  // namespace

BlockWork block_work(const Plan& plan, const StepCosts& costs) {
  return {.launched = sum_of_blocks(plan, costs, launched_work),
          .busy = sum_of_blocks(plan, costs, busy_work),
          .transferred = sum_of_blocks(plan, costs, transferred_work),
          .slowdown = costs.slowdown};
}

/// What runs beside a transfer has been slowed down at most so much.
Seconds work_bound(const Scenario& scenario, const BlockWork& work) {
  return mean_work(scenario, work.launched) / work.slowdown;
}

Seconds place_bound(const Scenario& scenario, const BlockWork& work) {
  return mean_work(scenario, work.busy);
}

Seconds paired_place_bound(const Scenario& scenario, const BlockWork& work) {
  return std::max(mean_work(scenario, work.launched), mean_work(scenario, work.transferred));
}

Seconds step_bound(const Scenario& scenario, const StepCosts& costs) {
  const bool one_way = costs.placement != Placement::two_ways;
  return one_way && !scenario.plan.schedule.entry().pairs
             ? to_seconds(OneWayBound(scenario, costs).find())
             : paired_bound(scenario, costs);
}

}  // namespace titer
