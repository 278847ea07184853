#include "one_way_bound.hpp"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "titer/estimate/pass_ticks.hpp"

namespace titer {
namespace {

Ticks least_ticks(const PassCost& pass) {
  const Ticks alone = busy_ticks(pass);
  return pass.hidden_by_other.sum() > Seconds{} ? std::min(alone, busy_ticks(pass.overlapped()))
                                                : alone;
}

/// What a stage takes for one micro-batch, in ticks.
struct StageTicks {
  Ticks forward = 0;
  Ticks backward = 0;  // with its recomputation
  Ticks making = 0;    // without: gradients are ready within it
  Ticks sync = 0;      // of its buckets
  Ticks alone = 0;     // more, where no other passes are beside
};

class OneWayBound {
 public:
  OneWayBound(const Scenario& scenario, const StepCosts& costs)
      : schedule_(scenario.plan.schedule),
        costs_(costs),
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
      const Ticks end = head + micro_batches_ * busy(rank) + alone(rank);
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
    StageTicks ticks{.forward = least_ticks(cost.forward), .making = least_ticks(cost.backward)};
    ticks.alone =
        busy_ticks(cost.forward) + busy_ticks(cost.backward) - ticks.forward - ticks.making;
    const Ticks parts = least_ticks(cost.input_gradient) + least_ticks(cost.weight_gradient);
    ticks.backward =
        least_ticks(cost.recompute) + (whole_ ? ticks.making : std::min(ticks.making, parts));
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

  /// Of its passes with no other beside them, at least.
  [[nodiscard]] Ticks alone(int rank) const {
    Ticks least = std::numeric_limits<Ticks>::max();
    for (int chunk = 0; chunk < costs_.contents.chunks(); ++chunk) {
      const StagePlace place{.rank = rank, .chunk = chunk};
      const int stage = stage_of(costs_.placement, place, costs_.shape);
      least = std::min(least, stages_[static_cast<std::size_t>(stage)].alone);
    }
    return passes_alone(schedule_, rank, costs_.shape) * least;
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

  const Schedule& schedule_;
  const StepCosts& costs_;
  bool whole_;
  bool waits_;
  Ticks micro_batches_;
  std::vector<StageTicks> stages_;
  mutable std::pair<Seconds, Ticks> sent_{};  // found last
};

}  // namespace

int passes_alone(const Schedule& schedule, int rank, const PipelineShape& shape) {
  const auto steady = shape.overlaps ? steady_phase(schedule, rank, shape) : std::nullopt;
  return steady ? steady->begin : 0;
}

Seconds one_way_step_bound(const Scenario& scenario, const StepCosts& costs) {
  return to_seconds(OneWayBound(scenario, costs).find());
}

}  // namespace titer
