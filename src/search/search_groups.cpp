// What no plan of a group of layers is under.

#include <algorithm>
#include <limits>

#include "search_worker.hpp"
#include "titer/input/defect.hpp"

namespace titer {
namespace {

constexpr Seconds kForever = Seconds::from_si(std::numeric_limits<double>::infinity());

}  // namespace

/// A group without a bound is searched: its plans are left out one by one, if need be.
GroupBound SearchWorker::bound(const AlikeLayers& group) {
  GroupBound bound;
  if (defect_met([&] { bound = sound_bound(group); })) {
    bound = {};
    bound.least.fill(-std::numeric_limits<double>::infinity());
  }
  return bound;
}

GroupBound SearchWorker::sound_bound(const AlikeLayers& group) {
  GroupBound bound;
  std::optional<Seconds> least;
  if (asks_.times) {
    least = bound_times(group, bound);
    if (!least) {
      bound.refusal = refusal_;
      return bound;
    }
    bound.over_limit = *least > search_->limits.longest(plain_);
  }
  const Bytes memory = asks_.memory ? least_memory_of(group) : Bytes{};
  bound.least = scorer_.bound(scenario_, least.value_or(Seconds{}), memory);
  return bound;
}

/// The least of all places; none where no plan is sound.
std::optional<Seconds> SearchWorker::bound_times(const AlikeLayers& group, GroupBound& bound) {
  const LayerChoice& layer = tree_->layers()[group.front()];
  const std::vector<PlanPlace>& places = tree_->layout(layer).places;
  bound.places.resize(places.size());
  of_kernels_ = {};
  std::optional<Seconds> least;
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (!tree_->has_pipelines(layer, places[i])) {
      continue;
    }
    number_[1] = static_cast<std::uint32_t>(i);
    if (const auto here = least_in_place(group)) {
      bound.places[i] = *here;
      least = least ? std::min(*least, *here) : here;
    }
  }
  return least;
}

/// Of what its kernels take, and its transfers where these are known too: longer than anybody asks
/// for.
std::optional<Seconds> SearchWorker::kernels_beyond_limit(const LayerPlaces* place,
                                                          bool own_experts) {
  const Seconds longest = search_->limits.longest(plain_);
  if (longest >= kForever || !known_->find_kernels(plain_, place, own_experts, work_)) {
    return std::nullopt;
  }
  const Seconds bound = bound_of_place();
  return bound > longest ? std::optional(bound) : std::nullopt;
}

/// What its work takes at least, if that is longer than anybody asks for; its work is known behind
/// it, whole where it is not.
std::optional<Seconds> SearchWorker::bound_beyond_limit() {
  if (!known_->find(plain_, place_, false, work_)) {
    // Where its kernels alone take too long, nobody needs to know what its transfers take.
    if (const auto bound = kernels_beyond_limit(&place_, place_.own_experts)) {
      return bound;
    }
    find_work(false);
  }
  const Seconds bound = bound_of_place();
  return bound > search_->limits.longest(plain_) ? std::optional(bound) : std::nullopt;
}

/// Of kernels alone, whether the place is sound or not.
std::optional<Seconds> SearchWorker::unsound_beyond_limit() {
  const bool own_experts = plain_.plan.expert_replicas() == 1;
  std::optional<Seconds>& known = of_kernels_[own_experts ? 1 : 0];
  if (!known) {  // all places of a layout have as many replicas and stages together
    known = kernels_beyond_limit(nullptr, own_experts);
  }
  return known;
}

/// By what its layers do besides recomputing; none where no layer is sound.
std::optional<Seconds> SearchWorker::least_in_place(const AlikeLayers& group) {
  for (const std::uint32_t number : group) {
    const LayerChoice& layer = tree_->layers()[number];
    const PlanPlace& place = tree_->layout(layer).places[number_[1]];
    number_[0] = number;
    placed_count_ = 0;
    tree_->put(layer, scenario_.plan);
    tree_->put(place, scenario_.plan);
    take_plain();
    if (!options_->tells_reasons) {
      if (const auto bound = unsound_beyond_limit()) {
        return bound;
      }
    }
    if (!is_plain_sound()) {
      if (!refusal_of_place().empty()) {
        return std::nullopt;  // whatever they recompute
      }
      continue;
    }
    if (const auto bound = bound_beyond_limit()) {
      return bound;
    }
    return least_of_pipelines(tree_->pipelines(layer, place).size());
  }
  return std::nullopt;
}

/// Of a place's; by work_.
std::optional<Seconds> SearchWorker::least_of_pipelines(std::size_t count) {
  std::optional<Seconds> least;
  for (std::size_t i = 0; i < count; ++i) {
    put_pipeline(i);
    const Seconds bound = bound_of_pipeline();
    least = least ? std::min(*least, bound) : bound;
  }
  return least;
}

/// Of its layers in all places.
Bytes SearchWorker::least_memory_of(const AlikeLayers& group) {
  std::optional<Bytes> least;
  for (const std::uint32_t number : group) {
    const LayerChoice& layer = tree_->layers()[number];
    const std::vector<PlanPlace>& places = tree_->layout(layer).places;
    number_[0] = number;
    for (std::size_t i = 0; i < places.size(); ++i) {
      if (tree_->has_pipelines(layer, places[i])) {
        number_[1] = static_cast<std::uint32_t>(i);
        const Bytes here = least_memory_in_place();
        least = least ? std::min(*least, here) : here;
      }
    }
    tree_->put(layer, scenario_.plan);
    tree_->put(places.front(), scenario_.plan);
  }
  return least.value_or(Bytes{});
}

}  // namespace titer
