// What the layers of a plan cost in their place, whatever its pipeline and state.

#include <algorithm>
#include <span>
#include <string>

#include "search_worker.hpp"
#include "titer/cost/cost_parts.hpp"
#include "titer/estimate/device_classes.hpp"
#include "titer/estimate/step_length.hpp"
#include "titer/plan/place/torus_place.hpp"
#include "titer/plan/plan_fields.hpp"

namespace titer {
namespace {

void take_least(const BlockWork& other, BlockWork& block) {
  const auto take = [](Seconds its, Seconds& own) { own = std::min(own, its); };
  take(other.forward, block.forward);
  take(other.backward, block.backward);
  take(other.parts, block.parts);
  take(other.launched, block.launched);
  take(other.transferred, block.transferred);
  take(other.alone, block.alone);
  take(other.recompute.busy, block.recompute.busy);
  take(other.recompute.launched, block.recompute.launched);
  take(other.recompute.transferred, block.recompute.transferred);
}

/// Of each block: any rank may have the chip on which that takes least.
void take_least(const ModelWork& other, ModelWork& work) {
  for (std::size_t kind = 0; kind < work.kinds.size(); ++kind) {
    take_least(other.kinds[kind], work.kinds[kind]);
  }
  take_least(other.embedding, work.embedding);
  take_least(other.head, work.head);
}

/// 1F1B with one chunk a rank, nothing sharded, nothing beside the passes: what all plans of a
/// place take at least.
void make_plain(Plan& plan) {
  leave_out_additions(plan);
  plan.servers.reset();
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

/// Of plain_'s: groups that are no boxes of a torus, whatever the layers. Most places have some.
const std::string& SearchWorker::refusal_of_place() {
  static const std::string none;
  const Plan& plan = plain_.plan;
  const Torus* torus = plain_.cluster.torus_of(plan.devices());
  if (torus == nullptr || plan.context_inner != 1 || plan.shard) {
    return none;
  }
  const std::size_t layout = tree_->layers()[number_[0]].layout;
  refusals_.resize(tree_->layouts().size());
  refusals_[layout].resize(tree_->layouts()[layout].places.size());
  std::optional<std::string>& refusal = refusals_[layout][number_[1]];
  if (!refusal) {
    const auto misfit = torus_misfit(plan, *torus);
    refusal = misfit ? Violation{.path = misfit->path,
                                 .value = std::to_string(misfit->degree),
                                 .expected = misfit->expected}
                           .text()
                     : "";
  }
  return *refusal;
}

void SearchWorker::take_plain() {
  plain_.plan = scenario_.plan;
  make_plain(plain_.plan);
  plain_.plan.layers = tree_->any_layers_of(plain_.plan.pipeline);
}

/// Whether the plan's layers and place are sound; where its groups lie is then known.
bool SearchWorker::put_plain() {
  take_plain();
  return is_plain_sound();
}

bool SearchWorker::is_plain_sound() {
  if (const std::string& refusal = refusal_of_place(); !refusal.empty()) {
    refusal_ = refusal;
    return false;
  }
  if (!is_sound(plain_)) {
    return false;
  }
  place_ = layer_places(plain_);
  return true;
}

/// Of plain_ into work_: known from before, or of its costs.
void SearchWorker::take_work(bool recomputed) {
  if (!known_->find(plain_, place_, recomputed, work_)) {
    find_work(recomputed);
  }
}

void SearchWorker::find_work(bool recomputed) {
  if (of_chips_.empty()) {
    work_ = model_work(layers_in_place());
  } else {
    const std::vector<ModelWork>& of_chips = work_on_chips();
    work_ = of_chips.front();
    for (const ModelWork& other : std::span(of_chips).subspan(1)) {
      take_least(other, work_);
    }
  }
  known_->add(plain_, place_, work_);
  for (BlockWork& kind : work_.kinds) {
    kind.recompute = recomputed ? kind.recompute : BlockWork::Recompute{};
  }
}

/// Of plain_'s layers in their place.
const std::vector<ModelWork>& SearchWorker::work_on_chips() {
  PlacedLayers& placed = placed_layers();
  if (placed.of_chips.empty()) {
    placed.of_chips.push_back(model_work(placed.costs));
    for (Scenario& other : of_chips_) {
      other.plan = plain_.plan;
      StepCosts costs;
      scenario_blocks(other, costs.blocks);
      fill_kind_costs(other, costs);
      placed.of_chips.push_back(model_work(costs));
    }
  }
  return placed.of_chips;
}

/// Some rank has a device with each of the chips, and all its passes.
Seconds SearchWorker::bound_of_chips() {
  Seconds bound;
  if (of_chips_.empty() || !scenario_.plan.batch_shares.even()) {
    return bound;
  }
  const std::vector<std::int64_t> devices = chip_counts(scenario_);
  const std::vector<ModelWork>& works = work_on_chips();
  const StageBlocks& contents = contents_of(scenario_.plan, works.front().order);
  for (std::size_t chip = 0; chip < works.size(); ++chip) {
    if (devices[chip] > 0) {
      const Seconds least = scenario_.plan.pipeline == 1
                                ? pipeline_bound(scenario_, works[chip], contents)
                                : compute_bound(scenario_, works[chip], contents);
      bound = std::max(bound, least_factor_ * least);
    }
  }
  return bound;
}

/// Of plans with scenario_'s pipeline, by work_. Some rank has the slowest device, and all its
/// passes.
Seconds SearchWorker::bound_of_pipeline() {
  const StageBlocks& contents = contents_of(scenario_.plan, work_.order);
  const Seconds bound = bounded_share() * pipeline_bound(scenario_, work_, contents);
  if (most_factor_ <= 1 || !scenario_.plan.batch_shares.even()) {
    return bound;
  }
  return std::max(bound, most_factor_ * compute_bound(scenario_, work_, contents));
}

/// Of all plans of plain_'s place, by work_.
Seconds SearchWorker::bound_of_place() { return bounded_share() * place_bound(plain_, work_); }

/// Of scenario_ by what it costs, but where chips or micro-batches differ, of which that tells
/// less.
Seconds SearchWorker::bound_of_step(const StepCosts& costs) {
  if (!is_unlike()) {
    return step_bound(scenario_, costs);
  }
  const Seconds of_pipeline = std::max(bound_of_pipeline(), bound_of_chips());
  return of_chips_.empty() ? std::max(of_pipeline, bounded_share() * step_bound(scenario_, costs))
                           : of_pipeline;
}

/// Of what its micro-batches take on devices without conditions, that no device takes less than.
/// Ranks with smaller micro-batches than the mean may.
double SearchWorker::bounded_share() const {
  return scenario_.plan.batch_shares.even() ? least_factor_ : 0.0;
}

bool SearchWorker::is_unlike() const { return scenario_.unlike().has_value(); }

/// Of the same layer with its groups in the same places, if that was there before.
SearchWorker::PlacedLayers& SearchWorker::placed_layers() {
  const auto end = placed_.begin() + static_cast<std::ptrdiff_t>(placed_count_);
  const auto same = std::find_if(
      placed_.begin(), end, [&](const PlacedLayers& known) { return known.place == place_; });
  if (same != end) {
    return *same;
  }
  if (placed_count_ == placed_.size()) {
    placed_.emplace_back();
  }
  PlacedLayers& next = placed_[placed_count_];
  next.place = place_;
  next.of_chips.clear();
  // Few of a layer's places make other operations of it.
  if (const BlocksKey key = blocks_key(plain_, tree_->layers()[number_[0]]); listed_key_ != key) {
    listed_key_.reset();  // should a defect end the list
    scenario_blocks(plain_, listed_);
    listed_key_ = key;
  }
  next.costs.blocks = listed_;
  fill_kind_costs(plain_, next.costs);
  ++placed_count_;  // unless a defect kept it from its costs
  return next;
}

/// What is sent between stages, and nothing after the last pass: a pipeline's stages go in.
void SearchWorker::take_plain_costs() {
  fill_shape(plain_, *costs_);
  costs_->contents = contents_of(plain_.plan, costs_->blocks.order);
  fill_sends(plain_, *costs_);
  costs_->tails.assign(static_cast<std::size_t>(costs_->shape.stages), {});
}

/// Those of scenario_'s pipeline.
void SearchWorker::put_stages() {
  fill_shape(scenario_, *costs_);
  costs_->contents = contents_of(scenario_.plan, costs_->blocks.order);
}

const StageBlocks& SearchWorker::contents_of(const Plan& plan, const std::vector<LayerRun>& order) {
  if (blocks_.order != order) {
    contents_.clear();
    scenario_blocks(plain_, blocks_);
  }
  const std::tuple key(plan.pipeline, plan.virtual_stages, placement(plan.schedule), plan.layers);
  const auto [at, is_new] = contents_.try_emplace(key);
  if (is_new) {
    at->second.fill(plan, blocks_);
  }
  return at->second;
}

}  // namespace titer
