#include "rank_breakdown.hpp"

namespace titer {
namespace {

class RankBreakdown {
 public:
  RankBreakdown(const StepCosts& costs,
                const StagePasses& passes,
                const PipelineCounts& counts,
                int rank)
      : costs_(costs), passes_(passes), counts_(counts), rank_(rank) {}

  void fill(StepResult& result) {
    for (int chunk = 0; chunk < chunks_per_rank(costs_.placement, costs_.shape); ++chunk) {
      add_chunk({.rank = rank_, .chunk = chunk});
    }
    const StageTail& tail = costs_.tails[static_cast<std::size_t>(rank_)];
    parts_.optimizer = rounded(tail.optimizer);
    const Seconds synchronised = rounded(tail.gradient_sync) + rounded(tail.parameter_sync);
    parts_.data_comm += synchronised;
    const Seconds copied = rounded(tail.host);
    parts_.host_comm += copied;
    total_.host += copied;
    if (rank_ == 0 || rank_ == costs_.shape.stages - 1) {
      parts_.pipeline_comm += rounded(costs_.embedding_sync);
    }
    total_.pipeline = parts_.pipeline_comm;
    total_.data += synchronised;
    result.breakdown = parts_;
    result.comm_total = total_;
  }

 private:
  void add(Seconds Breakdown::*part, int count, const PassCost& cost) {
    if (count > 0) {
      parts_.*part += count * cost.compute;
      add_transfers(count, cost);
    }
  }
  void add_transfers(int count, const PassCost& cost) {
    for (const PassComm comm : kAllPassComms) {
      if (cost.transfers[comm] == Seconds{} && cost.exposed[comm] == Seconds{}) {
        continue;
      }
      const CommSlots& slots = slots_of(comm);
      parts_.*slots.exposed += count * cost.exposed[comm];
      total_.*slots.total += count * cost.transfers[comm];
    }
  }

  void add_chunk(StagePlace place) {
    const int stage = stage_of(costs_.placement, place, costs_.shape);
    const BlockCost& cost = passes_.cost(stage);
    const PassCounts counts = counts_.of(pass_place(costs_.placement, costs_.stages, rank_, stage));
    const int backwards = counts.of(Pass::backward) + counts.of(Pass::input_gradient);
    add(&Breakdown::forward, counts.of(Pass::forward), cost.forward);
    add(&Breakdown::recompute, backwards, cost.recompute);
    add(&Breakdown::backward, counts.of(Pass::backward), cost.backward);
    add(&Breakdown::backward, counts.of(Pass::input_gradient), cost.input_gradient);
    add(&Breakdown::backward, counts.of(Pass::weight_gradient), cost.weight_gradient);
    parts_.pipeline_comm += counts.of(Pass::forward) * send(place, Pass::forward) +
                            backwards * send(place, Pass::backward);
    if (counts.pairs > 0) {
      add_pairs(counts.pairs, place, cost);
    }
    if (!costs_.buckets.empty()) {
      for (const GradientBucket& bucket : costs_.buckets[static_cast<std::size_t>(stage)]) {
        total_.data += rounded(bucket.sync) + rounded(bucket.gather);
      }
    }
  }

  /// A pair's time is its forward's and its recomputation's, and the rest its backward's.
  void add_pairs(int count, StagePlace place, const BlockCost& cost) {
    const int stage = stage_of(costs_.placement, place, costs_.shape);
    const int other = costs_.stages - 1 - stage;
    const StagePlace back = place_of(costs_.placement, other, 1 - place.chunk, costs_.shape);
    PassCost pair = costs_.pair(stage);
    round_to_ticks(pair);
    const Seconds forward = cost.forward.compute;
    const Seconds recompute = passes_.cost(other).recompute.compute;
    parts_.forward += count * forward;
    parts_.recompute += count * recompute;
    parts_.backward += count * (pair.compute - forward - recompute);
    add_transfers(count, pair);
    parts_.pipeline_comm += count * (send(place, Pass::forward) + send(back, Pass::backward));
  }

  [[nodiscard]] Seconds send(StagePlace place, Pass pass) const {
    return rounded(costs_.send_after(place, pass));
  }

  const StepCosts& costs_;
  const StagePasses& passes_;
  const PipelineCounts& counts_;
  int rank_;
  Breakdown parts_;
  CommunicationTotal total_;
};

}  // namespace

void fill_breakdown(const StepCosts& costs,
                    const StagePasses& passes,
                    const PipelineCounts& counts,
                    int rank,
                    StepResult& result) {
  RankBreakdown(costs, passes, counts, rank).fill(result);
}

}  // namespace titer
