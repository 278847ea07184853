#include "rank_breakdown.hpp"

namespace titer {
namespace {

class RankBreakdown {
 public:
  RankBreakdown(const StepCosts& costs,
                const StagePasses& passes,
                const PipelineCounts& counts,
                const PassTicks& send,
                int rank)
      : costs_(costs), passes_(passes), counts_(counts), send_(send), rank_(rank) {}

  void fill(StepResult& result) {
    for (int chunk = 0; chunk < chunks_per_rank(costs_.placement, costs_.shape); ++chunk) {
      add_chunk(chunk);
    }
    const StageTail& tail = costs_.tails[static_cast<std::size_t>(rank_)];
    parts_.optimizer = rounded(tail.optimizer);
    const Seconds synchronised =
        rounded(tail.gradient_sync) + rounded(tail.parameter_sync) + rounded(tail.meeting);
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

  void add_chunk(int chunk) {
    const int stage = stage_of(costs_.placement, {.rank = rank_, .chunk = chunk}, costs_.shape);
    const std::size_t place = pass_place(costs_.placement, costs_.stages, rank_, stage);
    const PassCounts counts = counts_.of(place);
    const int backwards = counts.of(Pass::backward) + counts.of(Pass::input_gradient);
    for (const bool overlapped : {false, true}) {
      const BlockCost& cost = passes_.cost(stage, overlapped);
      const auto number = [&](Pass pass) { return counts.of(pass, overlapped); };
      add(&Breakdown::forward, number(Pass::forward), cost.forward);
      add(&Breakdown::recompute,
          number(Pass::backward) + number(Pass::input_gradient),
          cost.recompute);
      add(&Breakdown::backward, number(Pass::backward), cost.backward);
      add(&Breakdown::backward, number(Pass::input_gradient), cost.input_gradient);
      add(&Breakdown::backward, number(Pass::weight_gradient), cost.weight_gradient);
    }
    parts_.pipeline_comm +=
        counts.of(Pass::forward) * to_seconds(send_[pass_kind(place, Pass::forward)]) +
        backwards * to_seconds(send_[pass_kind(place, Pass::backward)]);
    if (counts.pairs > 0) {
      add_pairs(counts.pairs, stage, place);
    }
    if (!costs_.buckets.empty()) {
      for (const GradientBucket& bucket : costs_.buckets[static_cast<std::size_t>(stage)]) {
        total_.data += rounded(bucket.sync) + rounded(bucket.gather);
      }
    }
  }

  /// A pair's time is its forward's and its recomputation's, and the rest its backward's.
  void add_pairs(int count, int stage, std::size_t place) {
    const int other = costs_.stages - 1 - stage;
    PassCost pair = costs_.pair(stage);
    round_to_ticks(pair);
    const Seconds forward = passes_.cost(stage).forward.compute;
    const Seconds recompute = passes_.cost(other).recompute.compute;
    parts_.forward += count * forward;
    parts_.recompute += count * recompute;
    parts_.backward += count * (pair.compute - forward - recompute);
    add_transfers(count, pair);
    const std::size_t end = pair_end_kind(pass_places(costs_.placement, costs_.stages), place);
    parts_.pipeline_comm += count * (to_seconds(send_[end]) + to_seconds(send_[pair_kind(place)]));
  }

  const StepCosts& costs_;
  const StagePasses& passes_;
  const PipelineCounts& counts_;
  const PassTicks& send_;
  int rank_;
  Breakdown parts_;
  CommunicationTotal total_;
};

}  // namespace

void fill_breakdown(const StepCosts& costs,
                    const StagePasses& passes,
                    const PipelineCounts& counts,
                    const PassTicks& send,
                    StepResult& result) {
  RankBreakdown(costs, passes, counts, send, result.reference_stage).fill(result);
}

}  // namespace titer
