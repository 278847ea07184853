#include "search_worker.hpp"

#include <algorithm>

#include "titer/estimate/device_classes.hpp"
#include "titer/input/defect.hpp"
#include "titer/scenario/command_text.hpp"

namespace titer {

SearchWorker::SearchWorker(const Search& search,
                           const PlanTree& tree,
                           const SearchOptions& options,
                           KnownWork& known)
    : search_(&search),
      tree_(&tree),
      options_(&options),
      known_(&known),
      scorer_(search),
      best_of_(search.objectives.size() == 1 ? search.best_of : BestPlanOf::plan),
      scenario_(search.scenario),
      plain_(search.scenario),
      capacity_((1 - search.limits.memory_margin) * least_memory(search.scenario)),
      asks_(what_is_asked(search)),
      memory_bound_(search.scenario, tree) {
  const Conditions& conditions = search.scenario.conditions;
  scenario_.conditions = conditions.quiet();
  plain_.conditions = scenario_.conditions;
  for (const DeviceCondition& device : conditions.devices) {
    least_factor_ = std::min({least_factor_, device.compute, device.node, device.network});
    most_factor_ = std::max(most_factor_, device.chip ? 1.0 : device.compute);
  }
  for (const Chip& chip : conditions.chips) {
    of_chips_.push_back(search.scenario);
    of_chips_.back().cluster.chip = chip;
  }
}

/// Counts plans that a defect keeps from being told apart, and forgets what it had in work.
void SearchWorker::leave_out(const std::string& defect, std::size_t plans, SearchCounts& counts) {
  leaf_ = CostFinder();
  blocks_ = {};
  peak_ = {};
  memory_ = MemoryFinder();
  estimator_ = Estimator();
  counts += {.defects = plans,
             .defect = defect + "; with" + set_options(plan_assignments(scenario_.plan))};
}

void SearchWorker::search(const AlikeLayers& group,
                          const GroupBound& bound,
                          BestPlans& best,
                          SearchCounts& counts) {
  for (const std::uint32_t number : group) {
    number_[0] = number;
    search_layer(bound, best, counts);
  }
}

void SearchWorker::search_layer(const GroupBound& bound, BestPlans& best, SearchCounts& counts) {
  const LayerChoice& layer = tree_->layers()[number_[0]];
  placed_count_ = 0;
  tree_->put(layer, scenario_.plan);
  const std::vector<PlanPlace>& places = tree_->layout(layer).places;
  for (std::size_t i = 0; i < places.size() && !stopped(); ++i) {
    if (!tree_->has_batch(layer, places[i])) {
      continue;
    }
    number_[1] = static_cast<std::uint32_t>(i);
    tree_->put(places[i], scenario_.plan);
    longest_ = search_->limits.longest(scenario_);
    const std::size_t below = tree_->count(layer, places[i]);
    counts.plans += below;
    if (below == 0) {
      continue;
    }
    SearchCounts here;
    peak_ = {};
    leaves_ = below;
    least_ = bound.places.empty() ? Seconds{} : bound.places[i];
    if (options_->exhaustive || !is_out_of_place(best, here)) {
      if (const auto defect = defect_met([&] { try_place(below, best, here); })) {
        leave_out(*defect, below - here.reached(), here);
      }
    }
    counts += here;
  }
}

void SearchWorker::try_place(std::size_t below, BestPlans& best, SearchCounts& counts) {
  const LayerChoice& layer = tree_->layers()[number_[0]];
  const PlanPlace& place = tree_->layout(layer).places[number_[1]];
  const std::vector<PipelineChoice>& pipelines = tree_->pipelines(layer, place);
  of_pipeline_ = below / pipelines.size();
  if (options_->exhaustive) {
    for (std::size_t i = 0; i < pipelines.size(); ++i) {
      put_pipeline(i);
      search_pipeline(best, counts);
    }
  } else if (!put_plain()) {
    counts += {.refused = below, .refusal = refusal_};
  } else if (asks_.times) {
    search_place(best, counts);
  } else {
    search_untimed_place(best, counts);
  }
}

/// None where the program meets a defect: plans that are not sound have not been left out yet.
Bytes SearchWorker::least_memory_in_place() {
  Bytes least;
  const auto defect =
      defect_met([&] { least = memory_bound_.find(tree_->layers()[number_[0]], number_[1]); });
  return defect ? Bytes{} : least;
}

/// By what all plans of the place take, and need.
bool SearchWorker::is_out_of_place(const BestPlans& best, SearchCounts& counts) {
  if (is_out(best, counts)) {
    return true;
  }
  place_peak_ = least_memory_in_place();
  if (place_peak_ > capacity_) {
    counts.over_memory += leaves_;
    return true;
  }
  peak_ = place_peak_;
  return asks_.memory && is_out(best, counts);
}

void SearchWorker::put_pipeline(std::size_t number) {
  const LayerChoice& layer = tree_->layers()[number_[0]];
  const PlanPlace& place = tree_->layout(layer).places[number_[1]];
  number_[2] = static_cast<std::uint32_t>(number);
  tree_->put(tree_->pipelines(layer, place)[number], scenario_.plan);
  leaves_ = of_pipeline_;
}

/// Those pipelines first that may be the fastest: what is found in them excludes others.
void SearchWorker::search_place(BestPlans& best, SearchCounts& counts) {
  bound_pipelines(best, counts);
  const std::size_t below = pipelines_.size() * of_pipeline_;
  if (pipelines_.empty()) {
    return;
  }
  costs_ = &layers_in_place();
  take_plain_costs();
  if (!is_short(plain_, *costs_)) {
    counts += {.refused = below, .refusal = refusal_};
    return;
  }
  for (auto& [least, number] : pipelines_) {
    put_pipeline(number);
    put_stages();
    least = bound_of_step(*costs_);
  }
  std::ranges::sort(pipelines_);
  for (const auto& [least, number] : pipelines_) {
    put_pipeline(number);
    least_ = least;
    if (!is_out(best, counts)) {
      put_stages();
      search_pipeline(best, counts);
    }
  }
}

/// Where memory alone is asked for, and no time is too long: without what its layers take.
void SearchWorker::search_untimed_place(BestPlans& best, SearchCounts& counts) {
  costs_ = &untimed_;
  scenario_blocks(plain_, untimed_.blocks);
  const LayerChoice& layer = tree_->layers()[number_[0]];
  const PlanPlace& place = tree_->layout(layer).places[number_[1]];
  least_ = {};
  for (std::size_t i = 0; i < tree_->pipelines(layer, place).size(); ++i) {
    put_pipeline(i);
    put_stages();
    search_pipeline(best, counts);
  }
}

/// The place's pipelines of which some plan may be good enough.
void SearchWorker::bound_pipelines(const BestPlans& best, SearchCounts& counts) {
  const LayerChoice& layer = tree_->layers()[number_[0]];
  const std::size_t all = tree_->pipelines(layer, tree_->layout(layer).places[number_[1]]).size();
  take_work(true);
  pipelines_.clear();
  for (std::size_t i = 0; i < all; ++i) {
    put_pipeline(i);
    least_ = bound_of_pipeline();
    if (!is_out(best, counts)) {
      pipelines_.emplace_back(least_, i);
    }
  }
}

void SearchWorker::search_pipeline(BestPlans& best, SearchCounts& counts) {
  const LayerChoice& layer = tree_->layers()[number_[0]];
  const auto& states = tree_->states(layer, tree_->layout(layer).places[number_[1]]);
  if (!options_->exhaustive) {
    if (is_out_of_pipeline(states, best, counts)) {
      return;
    }
  }
  leaves_ = 1;
  for (std::size_t i = 0; i < states.size(); ++i) {
    number_[3] = static_cast<std::uint32_t>(i);
    search_state(best, counts);
  }
}

/// By the memory that all plans of the pipeline need: first without following its schedule.
bool SearchWorker::is_out_of_pipeline(std::span<const StateChoice> states,
                                      const BestPlans& best,
                                      SearchCounts& counts) {
  const Bytes before = place_peak_;
  const auto is_out_with = [&](Bytes least) {
    if (least > capacity_) {
      counts.over_memory += leaves_;
      return true;
    }
    peak_ = std::max(least, before);
    const bool out = asks_.memory && is_out(best, counts);
    peak_ = before;
    return out;
  };
  // Few of those that are fast enough need too much.
  const bool is_likely = asks_.memory || scenario_.plan.schedule.entry().forwards_first;
  if (is_likely &&
      is_out_with(memory_bound_.of_pipeline(states, costs_->blocks, costs_->contents, scenario_))) {
    return true;
  }
  tree_->put(states.front(), states.front().overlaps.front(), scenario_.plan);
  return memory_bound_.keeps_activations() && is_out_with(any_state());
}

/// Memory is the same for all ways to overlap.
void SearchWorker::search_state(BestPlans& best, SearchCounts& counts) {
  const LayerChoice& layer = tree_->layers()[number_[0]];
  const StateChoice& state =
      tree_->states(layer, tree_->layout(layer).places[number_[1]])[number_[3]];
  tree_->put(state, state.overlaps.front(), scenario_.plan);
  if (!options_->exhaustive) {
    memory_.find(
        scenario_.plan, memory_needs(scenario_, costs_->blocks), costs_->contents, stages_);
    peak_ = {};
    for (const StageMemory& stage : stages_) {
      peak_ = std::max(peak_, stage.total());
    }
    if (peak_ > capacity_) {
      counts.over_memory += state.overlaps.size();
      peak_ = place_peak_;
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
  peak_ = place_peak_;
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
  if (!options_->exhaustive && asks_.times) {
    leaf_.find(scenario_, Changed::plan);
    if (!is_short(scenario_, leaf_.costs())) {
      counts += {.refused = 1, .refusal = refusal_};
      return;
    }
    least_ = bound_of_step(leaf_.costs());
    if (is_out(best, counts)) {
      return;
    }
  }
  evaluate_leaf(best, counts);
}

/// Leaves that are not better than the best, or over a limit, are counted.
bool SearchWorker::is_out(const BestPlans& best, SearchCounts& counts) const {
  if (least_ > longest_) {
    counts.over_limit += leaves_;
    return true;
  }
  if (best.excludes(scorer_.bound(scenario_, least_, peak_), form_of(scenario_.plan, best_of_))) {
    counts.bounded += leaves_;
    return true;
  }
  return false;
}

void SearchWorker::evaluate_leaf(BestPlans& best, SearchCounts& counts) {
  try {
    find_result(result_);
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
               form_of(scenario_.plan, best_of_));
  }
}

}  // namespace titer
