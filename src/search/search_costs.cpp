// What the layers of a plan cost in their place, whatever its pipeline and state.

#include <algorithm>

#include "search_worker.hpp"
#include "titer/cost/cost_parts.hpp"
#include "titer/estimate/step_length.hpp"
#include "titer/plan/plan_fields.hpp"

namespace titer {
namespace {

/// 1F1B with one chunk a rank, nothing sharded, nothing beside the passes: what all plans of a
/// place take at least.
void make_plain(Plan& plan) {
  leave_out_additions(plan);
  plan.overlap_grad_reduce = false;
  plan.overlap_param_gather = false;
}

}  // namespace

bool SearchWorker::is_sound(const Scenario& scenario) {
  const std::vector<Violation> violations = validate(scenario);
  if (!violations.empty()) {
    refusal_ = violations.front().text();
  }
  return violations.empty();
}

bool SearchWorker::is_short(const Scenario& scenario, const StepCosts& costs) {
  try {
    check_length(scenario, costs);
    return true;
  } catch (const InputError& error) {
    refusal_ = error.lines.front();
    return false;
  }
}

/// Whether the plan's layers and place are sound; where its groups lie is then known.
bool SearchWorker::put_plain() {
  plain_.plan = scenario_.plan;
  make_plain(plain_.plan);
  if (!is_sound(plain_)) {
    return false;
  }
  place_ = layers_place(plain_);
  return true;
}

/// Known from elsewhere, or of its costs.
BlockWork SearchWorker::work_in_place() {
  KnownWork* const elsewhere = options_->known_work;
  if (elsewhere != nullptr) {
    if (const auto known = elsewhere->find(plain_, place_)) {
      return *known;
    }
  }
  const BlockWork work = block_work(plain_.plan, layers_in_place());
  if (elsewhere != nullptr) {
    elsewhere->add(plain_, place_, work);
  }
  return work;
}

/// Of the same layer with its groups in the same places, if that was there before.
StepCosts& SearchWorker::layers_in_place() {
  const auto end = placed_.begin() + static_cast<std::ptrdiff_t>(placed_count_);
  const auto same = std::find_if(
      placed_.begin(), end, [&](const PlacedLayers& known) { return known.place == place_; });
  if (same != end) {
    return same->costs;
  }
  if (placed_count_ == placed_.size()) {
    placed_.emplace_back();
  }
  PlacedLayers& next = placed_[placed_count_];
  next.place = place_;
  fill_layer_costs(plain_, next.costs);
  ++placed_count_;  // unless a defect kept it from its costs
  return next.costs;
}

/// What is sent between stages, and nothing after the last pass: a pipeline's stages go in.
void SearchWorker::take_plain_costs() {
  fill_shape(plain_, *costs_);
  costs_->contents = contents_of(plain_.plan);
  fill_sends(plain_, *costs_);
  costs_->tails.assign(static_cast<std::size_t>(costs_->shape.stages), {});
}

/// Those of scenario_'s pipeline.
void SearchWorker::put_stages() {
  fill_shape(scenario_, *costs_);
  costs_->contents = contents_of(scenario_.plan);
}

/// All plans of a search that have as many stages share out the layers alike.
const StageBlocks& SearchWorker::contents_of(const Plan& plan) {
  const ModelBlocks& blocks = costs_->blocks;
  if (blocks.order != order_) {
    contents_.clear();
    order_ = blocks.order;
  }
  const std::tuple key(plan.pipeline, plan.virtual_stages, placement(plan.schedule));
  const auto [at, is_new] = contents_.try_emplace(key);
  if (is_new) {
    at->second.fill(plan, blocks);
  }
  return at->second;
}

}  // namespace titer
