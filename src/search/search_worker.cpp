#include "search_worker.hpp"

#include <algorithm>
#include <limits>

#include "titer/estimate/device_classes.hpp"
#include "titer/estimate/step_length.hpp"
#include "titer/input/defect.hpp"
#include "titer/plan/plan_fields.hpp"
#include "titer/scenario/command_text.hpp"
#include "titer/search/search_bound.hpp"

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

SearchWorker::SearchWorker(const Search& search, const PlanTree& tree, const SearchOptions& options)
    : search_(&search),
      tree_(&tree),
      options_(&options),
      scorer_(search),
      scenario_(search.scenario),
      plain_(search.scenario),
      capacity_((1 - search.limits.memory_margin) * least_memory(search.scenario)) {}

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

/// Whether the plan's layers and place are sound; its blocks and costs are then known.
bool SearchWorker::put_plain() {
  plain_.plan = scenario_.plan;
  make_plain(plain_.plan);
  if (!is_sound(plain_)) {
    return false;
  }
  step_costs(plain_, costs_);
  if (!is_short(plain_, costs_)) {
    return false;
  }
  costs_.tails.assign(costs_.tails.size(), {});
  costs_.embedding_sync = {};
  return true;
}

/// Counts plans that a defect keeps from being told apart, and forgets what it had in work.
void SearchWorker::leave_out(const std::string& defect, std::size_t plans, SearchCounts& counts) {
  leaf_ = CostFinder();
  memory_ = MemoryFinder();
  estimator_ = Estimator();
  counts += {.defects = plans,
             .defect = defect + "; with" + set_options(plan_assignments(scenario_.plan))};
}

/// A layer without a bound is searched: its plans are left out one by one, if need be.
LayerBound SearchWorker::bound(const LayerChoice& layer) {
  LayerBound bound;
  if (defect_met([&] { bound = sound_bound(layer); })) {
    bound = {};
    bound.least.fill(-std::numeric_limits<double>::infinity());
  }
  return bound;
}

LayerBound SearchWorker::sound_bound(const LayerChoice& layer) {
  tree_->put(layer, scenario_.plan);
  for (const PlanPlace& place : tree_->layout(layer).places) {
    if (!tree_->has_batch(layer, place) || tree_->pipelines(layer, place).empty()) {
      continue;
    }
    PlanTree::put(place, scenario_.plan);
    if (put_plain()) {
      const Seconds least = work_bound(plain_, costs_);
      return {.over_limit = least > search_->limits.longest(plain_),
              .least = scorer_.bound(plain_, least, {})};
    }
  }
  return {.refusal = refusal_};
}

void SearchWorker::search(std::uint32_t number, BestPlans& best, SearchCounts& counts) {
  const LayerChoice& layer = tree_->layers()[number];
  tree_->put(layer, scenario_.plan);
  number_[0] = number;
  const std::vector<PlanPlace>& places = tree_->layout(layer).places;
  for (std::size_t i = 0; i < places.size() && !stopped(); ++i) {
    if (!tree_->has_batch(layer, places[i])) {
      continue;
    }
    number_[1] = static_cast<std::uint32_t>(i);
    PlanTree::put(places[i], scenario_.plan);
    longest_ = search_->limits.longest(scenario_);
    const std::size_t below = tree_->count(layer, places[i]);
    counts.plans += below;
    if (below == 0) {
      continue;
    }
    SearchCounts here;
    if (const auto defect = defect_met([&] { try_place(below, best, here); })) {
      leave_out(*defect, below - here.reached(), here);
    }
    counts += here;
  }
}

void SearchWorker::try_place(std::size_t below, BestPlans& best, SearchCounts& counts) {
  if (!options_->exhaustive && !put_plain()) {
    counts += {.refused = below, .refusal = refusal_};
  } else if (!options_->exhaustive && is_too_large()) {
    counts.over_memory += below;
  } else {
    search_place(best, counts);
  }
}

void SearchWorker::search_place(BestPlans& best, SearchCounts& counts) {
  const LayerChoice& layer = tree_->layers()[number_[0]];
  const PlanPlace& place = tree_->layout(layer).places[number_[1]];
  const std::vector<PipelineChoice>& pipelines = tree_->pipelines(layer, place);
  const Seconds alone = options_->exhaustive ? Seconds{} : place_bound(plain_, costs_);
  for (std::size_t i = 0; i < pipelines.size(); ++i) {
    number_[2] = static_cast<std::uint32_t>(i);
    tree_->put(pipelines[i], scenario_.plan);
    leaves_ = tree_->count(layer, place) / pipelines.size();
    if (options_->exhaustive) {
      search_pipeline(best, counts);
      continue;
    }
    least_ = alone;
    if (!scenario_.plan.schedule.entry().pairs && is_out(best, counts)) {
      continue;
    }
    costs_.shape = scenario_.shape();
    costs_.placement = placement(scenario_.plan.schedule);
    costs_.stages = model_stages(costs_.placement, costs_.shape);
    costs_.contents.fill(scenario_.plan, costs_.blocks);
    least_ = step_bound(scenario_, costs_);
    if (!is_out(best, counts)) {
      search_pipeline(best, counts);
    }
  }
}

void SearchWorker::search_pipeline(BestPlans& best, SearchCounts& counts) {
  const LayerChoice& layer = tree_->layers()[number_[0]];
  const auto& states = tree_->states(layer, tree_->layout(layer).places[number_[1]]);
  if (!options_->exhaustive && keeps_activations()) {
    tree_->put(states.front(), states.front().overlaps.front(), scenario_.plan);
    if (keeps_too_much() || any_state(scenario_, scenario_.shape()).most > capacity_) {
      counts.over_memory += leaves_;
      return;
    }
  }
  leaves_ = 1;
  for (std::size_t i = 0; i < states.size(); ++i) {
    number_[3] = static_cast<std::uint32_t>(i);
    search_state(best, counts);
  }
}

/// Memory is the same for all ways to overlap.
void SearchWorker::search_state(BestPlans& best, SearchCounts& counts) {
  const LayerChoice& layer = tree_->layers()[number_[0]];
  const StateChoice& state =
      tree_->states(layer, tree_->layout(layer).places[number_[1]])[number_[3]];
  tree_->put(state, state.overlaps.front(), scenario_.plan);
  if (!options_->exhaustive) {
    memory_.find(scenario_.plan, memory_needs(scenario_, costs_.blocks), stages_);
    peak_ = {};
    for (const StageMemory& stage : stages_) {
      peak_ = std::max(peak_, stage.total());
    }
    if (peak_ > capacity_) {
      counts.over_memory += state.overlaps.size();
      return;
    }
  }
  const Seconds of_place = least_;
  for (std::size_t i = 0; i < state.overlaps.size(); ++i) {
    number_[4] = static_cast<std::uint32_t>(i);
    tree_->put(state, state.overlaps[i], scenario_.plan);
    least_ = of_place;
    search_leaf(best, counts);
  }
  least_ = of_place;
  peak_ = {};
}

void SearchWorker::search_leaf(BestPlans& best, SearchCounts& counts) {
  if (const auto defect = defect_met([&] { try_leaf(best, counts); })) {
    leave_out(*defect, 1, counts);
  }
}

void SearchWorker::try_leaf(BestPlans& best, SearchCounts& counts) {
  if (!options_->exhaustive && is_out(best, counts)) {
    return;
  }
  if (!is_sound(scenario_)) {
    counts += {.refused = 1, .refusal = refusal_};
    return;
  }
  if (!options_->exhaustive) {
    leaf_.find(scenario_, Changed::plan);
    if (!is_short(scenario_, leaf_.costs())) {
      counts += {.refused = 1, .refusal = refusal_};
      return;
    }
    least_ = step_bound(scenario_, leaf_.costs());
    if (is_out(best, counts)) {
      return;
    }
  }
  evaluate_leaf(best, counts);
}

bool SearchWorker::keeps_activations() const {
  const std::vector<Offload>& offloads = tree_->space().offload;
  return std::none_of(offloads.begin(), offloads.end(), [](const Offload& offload) {
    return offload.activations.has_value();
  });
}

/// Whether a schedule that goes back only after all forward passes keeps too much by the least of
/// its chunks alone: told without following it.
bool SearchWorker::keeps_too_much() {
  if (!scenario_.plan.schedule.entry().forwards_first) {
    return false;
  }
  stage_activations(
      scenario_.plan, memory_needs(scenario_, costs_.blocks), costs_.contents, activations_);
  Bytes least = activations_.front().kept;
  for (const StageActivations& stage : activations_) {
    least = std::min(least, stage.kept);
  }
  return in_flight(scenario_.plan.schedule, 0, costs_.shape) * least > capacity_;
}

/// What ranks need for activations and outside the tensors, however their state is kept.
SearchWorker::LeastMemory SearchWorker::any_state(const Scenario& scenario, PipelineShape shape) {
  MemoryNeeds needs = memory_needs(scenario, costs_.blocks);
  needs.shape = shape;
  needs.step = {};  // by how their state is kept
  memory_.find(scenario.plan, needs, stages_);
  LeastMemory memory{.least = needs.runtime + stages_.front().activations, .most = {}};
  for (const StageMemory& stage : stages_) {
    memory.least = std::min(memory.least, needs.runtime + stage.activations);
    memory.most = std::max(memory.most, needs.runtime + stage.activations + stage.working);
  }
  return memory;
}

/// Whether some rank cannot keep the activations of one micro-batch. After the forward pass of its
/// last chunk it has those of all its chunks: with any schedule some rank keeps no less than the
/// mean of all, which is no less than the least with one chunk each.
bool SearchWorker::is_too_large() {
  if (!keeps_activations() || plain_.plan.recompute_layers) {
    return false;
  }
  PipelineShape shape = plain_.shape();
  shape.micro_batches = 1;
  return any_state(plain_, shape).least > capacity_;
}

/// Leaves that are not better than the best, or over a limit, are counted.
bool SearchWorker::is_out(const BestPlans& best, SearchCounts& counts) const {
  if (least_ > longest_) {
    counts.over_limit += leaves_;
    return true;
  }
  if (best.excludes(scorer_.bound(scenario_, least_, peak_))) {
    counts.bounded += leaves_;
    return true;
  }
  return false;
}

void SearchWorker::evaluate_leaf(BestPlans& best, SearchCounts& counts) {
  try {
    estimator_.estimate(scenario_, Changed::plan, result_);
  } catch (const InputError& error) {
    counts += {.refused = 1, .refusal = error.lines.front()};
    return;
  }
  if (result_.memory_peak > capacity_ || !result_.tiers_fit()) {
    ++counts.over_memory;
  } else if (result_.iteration_time > longest_) {
    ++counts.over_limit;
  } else {
    ++counts.evaluated;
    best.offer({.scores = scorer_.of(scenario_, result_), .number = number_},
               form_of(scenario_.plan));
  }
}

void SearchWorker::put_numbered(const PlanNumber& number) {
  const LayerChoice& layer = tree_->layers()[number[0]];
  const PlanPlace& place = tree_->layout(layer).places[number[1]];
  const StateChoice& state = tree_->states(layer, place)[number[3]];
  tree_->put(layer, scenario_.plan);
  PlanTree::put(place, scenario_.plan);
  tree_->put(tree_->pipelines(layer, place)[number[2]], scenario_.plan);
  tree_->put(state, state.overlaps[number[4]], scenario_.plan);
}

FoundPlan SearchWorker::found(const AlikePlans& group) {
  std::vector<Plan> alike;
  for (auto other = group.plans.begin() + 1; other != group.plans.end(); ++other) {
    put_numbered(other->number);
    alike.push_back(scenario_.plan);
  }
  const ScoredPlan& plan = group.plans.front();
  put_numbered(plan.number);
  FoundPlan found{
      .plan = scenario_.plan,
      .devices = scenario_.plan.devices(),
      .scores = {plan.scores.begin(), plan.scores.begin() + std::ssize(search_->objectives)},
      .place = {plan.number.begin(), plan.number.end()},
      .result = {},
      .alike = std::move(alike),
      .alike_count = group.count - 1};
  estimator_.estimate(scenario_, Changed::plan, found.result);
  if (search_->economy) {
    found.bill = bill(*search_->economy,
                      scenario_.cluster.chip,
                      found.devices,
                      found.result.iteration_time,
                      computing_share(found.result));
  }
  if (search_->reliability) {
    found.goodput = goodput(*search_->reliability, scenario_, found.result.iteration_time);
  }
  return found;
}

}  // namespace titer
