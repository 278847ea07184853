// The closed form of a step's pipeline: its passes, the lanes beside them, and the tails.

#include <algorithm>

#include "pipeline_ticks.hpp"
#include "rank_breakdown.hpp"
#include "titer/estimate/check_rates.hpp"
#include "titer/estimate/estimate.hpp"
#include "titer/estimate/model_state.hpp"
#include "titer/estimate/step_length.hpp"

namespace titer {
namespace {

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
    if (time == Seconds{}) {
      continue;
    }
    if (costs.placement == Placement::two_ways && s < other) {
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

/// Of a step that is not too long. What a finder knows of one that is, is of no estimate.
void find_costs(const Scenario& scenario, Changed changed, CostFinder& finder) {
  finder.find(scenario, changed);
  try {
    check_length(scenario, finder.costs());
  } catch (const InputError&) {
    finder = CostFinder();
    throw;
  }
}

}  // namespace

Estimator::Estimator() = default;
Estimator::Estimator(const Estimator& other) = default;
Estimator::Estimator(Estimator&& other) noexcept = default;
Estimator& Estimator::operator=(const Estimator& other) = default;
Estimator& Estimator::operator=(Estimator&& other) noexcept = default;
Estimator::~Estimator() = default;

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
  add_collective(costs, &StageTail::meeting, ends, finish);
}

/// What of the passes and of the lanes beside them is otherwise than in the estimate before.
void Estimator::fill_ticks(const Scenario& scenario) {
  const StepCosts& costs = finder_.costs();
  if (!finder_.same_sends()) {
    fill_send_ticks(costs, lanes_.send);
  }
  // Of the same stages a schedule before may have had neither pairs nor parts of backward passes.
  const bool pairs = scenario.plan.schedule.entry().pairs;
  const bool splits = scenario.plan.schedule.entry().splits;
  const bool same_passes = finder_.same_passes() && (passes_.splits() || !splits);
  if (!same_passes) {
    passes_.fill(costs, splits);
  }
  if (!same_passes || pairs) {
    fill_pass_ticks(costs, passes_, pairs, pass_ticks_);
  }
  same_ticks_ = same_ticks_ && finder_.same_sends() && same_passes;
  lanes_.overlapped_sends =
      scenario.pipeline_send() == PipelineSend::overlapped && costs.shape.stages > 1;
  const bool in_buckets = !costs.buckets.empty();
  if (in_buckets || lanes_.overlapped_sends) {
    fill_slowdowns(costs, passes_, pass_ticks_, lanes_);
    fill_bucket_ticks(costs, passes_, pairs, lanes_);
  }
  lanes_.gathers.clear();
  if (in_buckets && scenario.overlap_param_gather()) {
    fill_gather_ticks(costs, passes_, lanes_);
  }
}

/// Where ranks wait for their messages and there is one copy of the model, data lanes are beside
/// the first passes and the last ones only, and what is between these need not be followed again
/// where it is known.
void Estimator::run(const Scenario& scenario) {
  fill_ticks(scenario);
  const StepCosts& costs = finder_.costs();
  const Schedule& schedule = scenario.plan.schedule;
  const bool in_buckets = !costs.buckets.empty();
  const bool both_copies = in_buckets && costs.placement == Placement::two_ways;
  const bool gathers = !lanes_.gathers.empty();
  if (lanes_.overlapped_sends || both_copies || (gathers && schedule.entry().pairs)) {
    pipeline_.run(schedule, costs.shape, pass_ticks_, lanes_, finish_);
    ends_ = pipeline_.lane_ends();
    counts_ = &pipeline_.counts();
    return;
  }
  const FollowedPipeline& pipeline = follow(schedule);
  counts_ = &pipeline.counts;
  if (in_buckets) {
    pipeline_.end_beside(lanes_, ends_, finish_);
  } else {
    finish_ = pipeline.finish;
    ends_.assign(finish_.size(), {});
  }
}

const FollowedPipeline& Estimator::follow(const Schedule& schedule) {
  const PipelineShape& shape = finder_.costs().shape;
  const bool in_buckets = !finder_.costs().buckets.empty();
  gathers_ = lanes_.gathers;
  if (!gathers_.empty()) {
    gathers_.slower = lanes_.slower;
  }
  for (std::size_t place = 0; place < gathers_.ends.size(); ++place) {
    for (std::size_t i = gathers_.begin(place); i < gathers_.ends[place]; ++i) {
      gathers_.arrivals[i].left += lanes_.send[pass_kind(place, Pass::forward)];
    }
  }
  if (same_ticks_ && pipeline_.followed_last(schedule, shape, gathers_)) {
    return pipeline_.last(in_buckets);
  }
  ticks_.resize(pass_ticks_.size());
  for (std::size_t kind = 0; kind < ticks_.size(); ++kind) {
    ticks_[kind] = pass_ticks_[kind] + lanes_.send[kind];
  }
  same_ticks_ = true;
  return pipeline_.followed(schedule, shape, ticks_, gathers_, in_buckets);
}

void Estimator::estimate(const Scenario& scenario, Changed changed, StepResult& result) {
  find_costs(scenario, changed, finder_);
  const StepCosts& costs = finder_.costs();
  if (!finder_.same_layers()) {
    flops_ = trained_flops(scenario, costs.blocks);
  }
  run(scenario);
  add_tails(costs, ends_, finish_);
  const auto last = std::ranges::max_element(finish_);
  result.reference_stage = static_cast<int>(last - finish_.begin());
  const Ticks waits = input_wait(scenario, *last);
  result.iteration_time = to_seconds(*last + waits);
  fill_breakdown(costs, passes_, *counts_, lanes_.send, result);
  const LaneEnds& ends = ends_[static_cast<std::size_t>(result.reference_stage)];
  if (lanes_.overlapped_sends) {
    const Seconds embedding =
        result.reference_stage == 0 || result.reference_stage == costs.shape.stages - 1
            ? rounded(costs.embedding_sync)
            : Seconds{};
    result.breakdown.pipeline_comm = to_seconds(ends.send_exposed) + embedding;
  }
  result.forward_slowed = to_seconds(ends.forward_slowed);
  result.backward_slowed = to_seconds(ends.backward_slowed);
  result.breakdown.forward += result.forward_slowed;
  result.breakdown.backward += result.backward_slowed;
  result.breakdown.data_comm += to_seconds(ends.data_exposed);
  result.breakdown.input = to_seconds(waits);
  fill_bubble(result);
  result.memory = memory_.find(scenario, costs, finder_.same_layers());
  fill_derived(scenario, costs.blocks, flops_, result);
  check_rates(scenario, result);
}

}  // namespace titer
