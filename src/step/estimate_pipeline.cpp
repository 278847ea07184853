// The closed form of a step's pipeline: ticks of the passes, lanes beside them, tails, and where
// the time of a rank goes.

#include <algorithm>
#include <cmath>

#include "titer/step/estimate.hpp"
#include "titer/step/pass_ticks.hpp"

namespace titer {
namespace {

constexpr std::array kAllPasses = {
    Pass::forward, Pass::backward, Pass::input_gradient, Pass::weight_gradient};

Seconds rounded(Seconds time) { return to_seconds(to_ticks(time)); }

/// What sending takes after each kind of pass. Of a pair, the gradient goes before the activation.
void fill_sends(const StepCosts& costs, PassTicks& send) {
  const auto stages = static_cast<std::size_t>(costs.stages);
  const std::size_t places = pass_places(costs.placement, costs.stages);
  send.assign(pass_kinds(places), 0);
  if (costs.shape.stages == 1) {
    return;
  }
  for (std::size_t place = 0; place < places; ++place) {
    const StagePlace from = place_of(costs.placement,
                                     static_cast<int>(place % stages),
                                     static_cast<int>(place / stages),
                                     costs.shape);
    for (const Pass pass : kAllPasses) {
      send[pass_kind(place, pass)] = to_ticks(costs.send_after(from, pass));
    }
    send[pair_end_kind(places, place)] = send[pass_kind(place, Pass::forward)];
  }
  for (std::size_t place = 0; place < places; ++place) {
    send[pair_kind(place)] = send[pass_kind(opposite_place(places, place), Pass::backward)];
  }
}

/// Whether the passes of a stage, alone and with those of the stage as far from the end, are those
/// of the stage before.
bool is_alike(const StepCosts& costs, int stage) {
  const int opposite = costs.stages - 1 - stage;
  return costs.alike(stage, stage - 1) && costs.contents.same(opposite, opposite + 1);
}

/// The passes by themselves: of both copies of the model the same. `pairs`: whether some are done
/// together.
void fill_ticks(const StepCosts& costs, bool pairs, PassTicks& ticks) {
  const std::size_t places = pass_places(costs.placement, costs.stages);
  ticks.assign(pass_kinds(places), 0);
  for (int stage = 0; stage < costs.stages; ++stage) {
    const auto place = static_cast<std::size_t>(stage);
    Ticks* const first = ticks.data() + kKindsOfPlace * place;
    if (is_alike(costs, stage)) {
      std::copy(first - kKindsOfPlace, first, first);
      continue;
    }
    const BlockCost cost = costs.chunk(stage);
    const Ticks recompute = busy_ticks(cost.recompute);
    for (const Pass pass : kAllPasses) {
      ticks[pass_kind(place, pass)] =
          (sends_gradient(pass) ? recompute : 0) + busy_ticks(cost.of(pass));
    }
    ticks[pair_kind(place)] = pairs ? busy_ticks(costs.pair(stage)) : 0;
  }
  if (costs.placement == Placement::two_ways) {
    Ticks* const second = ticks.data() + instant_kind(places) / 2;
    std::copy(ticks.data(), second, second);
  }
}

Ticks share(double part, Ticks of) {
  return static_cast<Ticks>(std::llround(part * static_cast<double>(of)));
}

/// The buckets of every stage, for each kind of pass that can be the last to make its gradients.
void fill_buckets(const StepCosts& costs, bool pairs, PipelineLanes& lanes) {
  for (auto& by_stage : lanes.buckets) {
    by_stage.resize(costs.buckets.size());
  }
  lanes.like.resize(costs.buckets.size());
  const bool one_kind = costs.kinds.size() == 1;  // whose layers come in one order only
  for (std::size_t stage = 0; stage < costs.buckets.size(); ++stage) {
    const int at = static_cast<int>(stage);
    if (one_kind && is_alike(costs, at) && costs.placement != Placement::two_ways) {
      lanes.like[stage] = lanes.like[stage - 1];
      continue;
    }
    lanes.like[stage] = stage;
    const BlockCost cost = costs.chunk(at);
    const std::array<Ticks, 3> making = {busy_ticks(cost.backward),
                                         busy_ticks(cost.weight_gradient),
                                         pairs ? busy_ticks(costs.pair(costs.stages - 1 - at)) : 0};
    for (std::size_t kind = 0; kind < making.size(); ++kind) {
      auto& buckets = lanes.buckets[kind][stage];
      buckets.clear();
      for (const GradientBucket& bucket : costs.buckets[stage]) {
        buckets.push_back({.left = making[kind] - share(bucket.ready, making[kind]),
                           .sync = to_ticks(bucket.sync)});
      }
    }
  }
}

/// Each rank gathers stage by stage, in the order of the forward pass; a first forward pass goes on
/// where its next bucket has come. A bucket that is ready early in the backward pass is needed late
/// in the forward pass.
void fill_gathers(const StepCosts& costs, PipelineLanes& lanes) {
  const int p = costs.shape.stages;
  const int chunks = chunks_per_rank(costs.placement, costs.shape);
  lanes.gathers.assign(static_cast<std::size_t>(p), 0);
  lanes.gathered.assign(static_cast<std::size_t>(p) * static_cast<std::size_t>(chunks), 0);
  for (int rank = 0; rank < p; ++rank) {
    Ticks& now = lanes.gathers[static_cast<std::size_t>(rank)];
    // With two ways, the second half of the ranks has the earlier stage in chunk 1.
    const bool turned = costs.placement == Placement::two_ways && rank >= p / 2;
    for (int i = 0; i < chunks; ++i) {
      const int chunk = turned ? chunks - 1 - i : i;
      const int stage = stage_of(costs.placement, {.rank = rank, .chunk = chunk}, costs.shape);
      Ticks& end = lanes.gathered[pass_place(costs.placement, costs.stages, rank, stage)];
      const Ticks forward = busy_ticks(costs.chunk(stage).forward);
      const auto& buckets = costs.buckets[static_cast<std::size_t>(stage)];
      for (auto bucket = buckets.rbegin(); bucket != buckets.rend(); ++bucket) {
        now += to_ticks(bucket->gather);
        end = std::max(end, now + forward - share(1.0 - bucket->ready, forward));
      }
    }
  }
}

/// Where the time of a rank goes, before its bubble.
class RankBreakdown {
 public:
  /// `counts`: of the passes at each place.
  RankBreakdown(const StepCosts& costs, const std::vector<PassCounts>& counts, int rank)
      : costs_(costs), counts_(counts), rank_(rank) {}

  void fill(StepResult& result) {
    last_ = stage_of(costs_.placement, {.rank = rank_, .chunk = 0}, costs_.shape);
    parts_ = {};
    total_ = {};
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
    parts_.*part += count * rounded(cost.compute);
    add_transfers(count, cost);
  }
  void add_transfers(int count, const PassCost& cost) {
    for (const PassComm comm : kAllPassComms) {
      const CommSlots& slots = slots_of(comm);
      parts_.*slots.exposed += count * rounded(cost.exposed[comm]);
      total_.*slots.total += count * cost.transfers[comm];
    }
  }

  void add_chunk(StagePlace place) {
    const int stage = stage_of(costs_.placement, place, costs_.shape);
    if (last_ == stage || !costs_.alike(stage, last_)) {
      cost_ = costs_.chunk(stage);
    }
    last_ = stage;
    const BlockCost& cost = cost_;
    const PassCounts& counts = counts_[pass_place(costs_.placement, costs_.stages, rank_, stage)];
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
    const PassCost pair = costs_.pair(stage);
    const Seconds forward = rounded(cost.forward.compute);
    const Seconds recompute = rounded(costs_.chunk(other).recompute.compute);
    parts_.forward += count * forward;
    parts_.recompute += count * recompute;
    parts_.backward += count * (rounded(pair.compute) - forward - recompute);
    add_transfers(count, pair);
    parts_.pipeline_comm += count * (send(place, Pass::forward) + send(back, Pass::backward));
  }

  [[nodiscard]] Seconds send(StagePlace place, Pass pass) const {
    return rounded(costs_.send_after(place, pass));
  }

  const StepCosts& costs_;
  const std::vector<PassCounts>& counts_;
  int rank_;
  int last_ = 0;  // the stage looked at last; what its passes take is
  BlockCost cost_;
  Breakdown parts_;
  CommunicationTotal total_;
};

/// One collective of every rank's tail. Both ranks of a stage take part where two copies of the
/// model go opposite ways: it begins when the later one is there.
void add_collective(const StepCosts& costs,
                    Seconds StageTail::*part,
                    std::vector<LaneEnds>& ends,
                    std::vector<Ticks>& finish) {
  const auto wait = [&](std::size_t s, Ticks until) {
    ends[s].wait(finish[s], until, ends[s].send);
    finish[s] = until;
  };
  for (std::size_t s = 0; s < finish.size(); ++s) {
    const std::size_t other = finish.size() - 1 - s;
    const Seconds time = costs.tails[s].*part;
    if (costs.placement == Placement::two_ways && s < other && time > Seconds{}) {
      const Ticks met = std::max(finish[s], finish[other]);
      wait(s, met);
      wait(other, met);
    }
    const Ticks end = finish[s] + to_ticks(time);
    // A message counts before it.
    const Ticks sending = std::clamp(ends[s].send, finish[s], end) - finish[s];
    ends[s].send_exposed += sending;
    ends[s].data_exposed -= sending;
    finish[s] = end;
  }
}

}  // namespace

void add_tails(const StepCosts& costs, std::vector<Ticks>& finish) {
  std::vector<LaneEnds> none(finish.size());
  add_tails(costs, none, finish);
}

void add_tails(const StepCosts& costs, std::vector<LaneEnds>& ends, std::vector<Ticks>& finish) {
  if (costs.embedding_sync > Seconds{}) {
    const Ticks met = std::max(finish.front(), finish.back());
    ends.front().wait(finish.front(), met, ends.front().send);
    ends.back().wait(finish.back(), met, ends.back().send);
    finish.front() = met + to_ticks(costs.embedding_sync);
    finish.back() = finish.front();
  }
  for (std::size_t s = 0; s < finish.size(); ++s) {
    const Ticks synchronised = std::max(finish[s], ends[s].data);
    ends[s].wait(finish[s], synchronised, ends[s].send);
    ends[s].data_exposed -= ends[s].data_idle;
    finish[s] = synchronised;
  }
  add_collective(costs, &StageTail::gradient_sync, ends, finish);
  for (std::size_t s = 0; s < finish.size(); ++s) {
    finish[s] += to_ticks(costs.tails[s].optimizer) + to_ticks(costs.tails[s].host);
  }
  add_collective(costs, &StageTail::parameter_sync, ends, finish);
}

/// Where ranks wait for their messages and nothing is gathered at the start, passes take their time
/// whatever is beside them, and a pipeline that is known need not be followed again.
void Estimator::run(const Scenario& scenario) {
  const StepCosts& costs = finder_.costs();
  const Schedule& schedule = scenario.plan.schedule;
  lanes_.overlapped_sends =
      scenario.pipeline_send() == PipelineSend::overlapped && costs.shape.stages > 1;
  const bool gathers = !costs.buckets.empty() && scenario.overlap_param_gather();
  const bool two_ways = costs.placement == Placement::two_ways && !costs.buckets.empty();
  if (!finder_.same_sends()) {
    fill_sends(costs, lanes_.send);
  }
  // Those of a schedule without pairs, of the same stages, have no pairs' ticks.
  const bool pairs = may_pair(schedule);
  if (!finder_.same_passes() || pairs) {
    fill_ticks(costs, pairs, passes_);
  }
  same_ticks_ = same_ticks_ && finder_.same_sends() && finder_.same_passes();
  if (lanes_.overlapped_sends || gathers || two_ways) {
    run_with_lanes(scenario, gathers);
    return;
  }
  const FollowedPipeline& pipeline = follow(schedule);
  finish_ = pipeline.finish;
  counts_ = &pipeline.counts;
  ends_.assign(finish_.size(), {});
  if (!costs.buckets.empty()) {
    fill_buckets(costs, pairs, lanes_);
    data_lanes(pipeline, lanes_, ends_);
  }
}

const FollowedPipeline& Estimator::follow(const Schedule& schedule) {
  const PipelineShape& shape = finder_.costs().shape;
  if (same_ticks_ && pipeline_.followed_last(schedule, shape)) {
    return pipeline_.last();
  }
  ticks_.resize(passes_.size());
  for (std::size_t kind = 0; kind < ticks_.size(); ++kind) {
    ticks_[kind] = passes_[kind] + lanes_.send[kind];
  }
  same_ticks_ = true;
  return pipeline_.followed(schedule, shape, ticks_);
}

void Estimator::run_with_lanes(const Scenario& scenario, bool gathers) {
  const StepCosts& costs = finder_.costs();
  fill_buckets(costs, may_pair(scenario.plan.schedule), lanes_);
  if (gathers) {
    fill_gathers(costs, lanes_);
  } else {
    lanes_.gathers.clear();
    lanes_.gathered.clear();
  }
  pipeline_.run(scenario.plan.schedule, costs.shape, passes_, lanes_, finish_);
  ends_ = pipeline_.lane_ends();
  counts_ = &pipeline_.counts();
}

void Estimator::estimate(const Scenario& scenario, Changed changed, StepResult& result) {
  finder_.find(scenario, changed);
  const StepCosts& costs = finder_.costs();
  if (!finder_.same_layers()) {
    flops_ = trained_flops(scenario, costs.blocks);
  }
  run(scenario);
  add_tails(costs, ends_, finish_);
  const auto last = std::max_element(finish_.begin(), finish_.end());
  result.reference_stage = static_cast<int>(last - finish_.begin());
  result.iteration_time = to_seconds(*last);
  RankBreakdown(costs, *counts_, result.reference_stage).fill(result);
  const LaneEnds& ends = ends_[static_cast<std::size_t>(result.reference_stage)];
  if (lanes_.overlapped_sends) {
    const Seconds embedding =
        result.reference_stage == 0 || result.reference_stage == costs.shape.stages - 1
            ? rounded(costs.embedding_sync)
            : Seconds{};
    result.breakdown.pipeline_comm = to_seconds(ends.send_exposed) + embedding;
  }
  result.breakdown.data_comm += to_seconds(ends.data_exposed);
  fill_bubble(result);
  const MemoryNeeds needs = memory_needs(scenario, costs.blocks);
  memory_.find(scenario.plan, needs, costs.contents, result.memory);
  fill_derived(scenario, flops_, result);
}

}  // namespace titer
