#include "titer/search/known_work.hpp"

#include <algorithm>

namespace titer {
namespace {

constexpr std::size_t kMostOnShelf = 6250;  // of 64 shelves: some 200 MB
constexpr double kBelowProduct = 1 - 1e-9;  // for what rounding makes of it

/// Kernels slower by a factor make no sum of kernels and transfers longer by more than it, nor
/// shorter.
double share_at_pace(double slower) { return slower < 1 ? kBelowProduct * slower : 1; }

BlockWork::Recompute operator*(double share, const BlockWork::Recompute& work) {
  return {.busy = share * work.busy,
          .launched = share * work.launched,
          .transferred = share * work.transferred};
}

BlockWork operator*(double share, const BlockWork& work) {
  return {.forward = share * work.forward,
          .backward = share * work.backward,
          .parts = share * work.parts,
          .launched = share * work.launched,
          .transferred = share * work.transferred,
          .alone = share * work.alone,
          .recompute = share * work.recompute};
}

void scale(double share, ModelWork& work) {
  for (BlockWork& kind : work.kinds) {
    kind = share * kind;
  }
  work.embedding = share * work.embedding;
  work.head = share * work.head;
}

/// Of its kernels and launches, and of its transfers where they are these: no pass is shorter.
void leave_kernels(double share, bool its_transfers, ModelWork& work) {
  const auto leave = [&](BlockWork& kind) {
    const Seconds launched = share * kind.launched;
    const Seconds transferred = its_transfers ? kBelowProduct * kind.transferred : Seconds{};
    kind = {
        .parts = std::max(launched, transferred), .launched = launched, .transferred = transferred};
  };
  std::ranges::for_each(work.kinds, leave);
  leave(work.embedding);
  leave(work.head);
}

Recomputation way_of(const Plan& plan) { return {plan.recompute, plan.recomputed}; }

}  // namespace

KnownWork::Layout KnownWork::layout_of(const Scenario& scenario) {
  const Plan& plan = scenario.plan;
  return {plan.tensor,
          plan.context,
          plan.expert,
          plan.expert_tensor,
          scenario.cluster.devices_per_node};
}

KnownWork::Layer KnownWork::layer_of(const Plan& plan, std::size_t place) {
  return {.kernels = {plan.micro_batch,
                      plan.sequence_parallel,
                      plan.tensor_overlap,
                      plan.expert_dispatch},
          .expert_overlap = plan.expert_overlap,
          .shared_expert_overlap = plan.shared_expert_overlap,
          .place = place};
}

std::size_t KnownWork::shelf_of(const Layout& layout, std::int64_t micro_batch) {
  const auto& [tensor, context, expert, expert_tensor, node] = layout;
  const std::int64_t mixed = ((tensor * 31 + context) * 31 + expert) * 31 + micro_batch;
  return static_cast<std::size_t>(mixed) % shelf_count;
}

const KnownWork::KnownLayout* KnownWork::Shelf::find(const Layout& layout) const {
  const auto known = layouts.find(layout);
  return known == layouts.end() ? nullptr : &known->second;
}

bool KnownWork::find(const Scenario& scenario,
                     const LayerPlaces& place,
                     bool recomputed,
                     ModelWork& work) const {
  const double pace = kernel_pace(scenario).all;
  const Layout key = layout_of(scenario);
  const Shelf& shelf = shelves_[shelf_of(key, scenario.plan.micro_batch)];
  const std::lock_guard lock(shelf.mutex);
  const KnownLayout* layout = shelf.find(key);
  if (layout == nullptr) {
    return false;
  }
  const auto& [places, layers] = *layout;
  const auto number = static_cast<std::size_t>(std::ranges::find(places, place) - places.begin());
  const auto known = layers.find(layer_of(scenario.plan, number));
  if (known == layers.end()) {
    return false;
  }
  const std::vector<KnownRecompute>& ways = known->second.ways;
  const auto way = std::ranges::find(ways, way_of(scenario.plan), &KnownRecompute::way);
  if (recomputed && way == ways.end()) {
    return false;
  }
  work = known->second.work;
  scale(share_at_pace(pace / known->second.pace), work);
  for (std::size_t kind = 0; recomputed && kind < work.kinds.size(); ++kind) {
    work.kinds[kind].recompute = share_at_pace(pace / way->pace) * way->kinds[kind];
  }
  return true;
}

bool KnownWork::find_kernels(const Scenario& scenario,
                             const LayerPlaces* place,
                             bool own_experts,
                             ModelWork& work) const {
  const double pace = kernel_pace(scenario).all;
  const Layout key = layout_of(scenario);
  const Shelf& shelf = shelves_[shelf_of(key, scenario.plan.micro_batch)];
  const std::lock_guard lock(shelf.mutex);
  const KnownLayout* layout = shelf.find(key);
  if (layout == nullptr) {
    return false;
  }
  const auto& [places, layers] = *layout;
  const Layer first{.kernels = layer_of(scenario.plan, 0).kernels};
  const Known* found = nullptr;
  bool is_here = false;
  // Transfers beside them may have slowed these there, and not here.
  double slowed = scenario.stack.overlap_slowdown;
  for (auto known = layers.lower_bound(first);
       !is_here && known != layers.end() && known->first.kernels == first.kernels;
       ++known) {
    const auto& [layer, other] = *known;
    is_here = place != nullptr && places[layer.place] == *place;
    if (is_here || (found == nullptr && places[layer.place].own_experts == own_experts)) {
      found = &other;
    }
    if (is_here && !layer.expert_overlap && !layer.shared_expert_overlap) {
      slowed = 1;
    }
  }
  if (found == nullptr) {
    return false;
  }
  work = found->work;
  leave_kernels(share_at_pace(pace / found->pace) * kBelowProduct / slowed, is_here, work);
  return true;
}

void KnownWork::add(const Scenario& scenario, const LayerPlaces& place, const ModelWork& work) {
  const double pace = kernel_pace(scenario).all;
  const Layout key = layout_of(scenario);
  Shelf& shelf = shelves_[shelf_of(key, scenario.plan.micro_batch)];
  const std::lock_guard lock(shelf.mutex);
  if (shelf.count >= kMostOnShelf) {  // what comes next asks for what came last
    shelf.layouts.clear();
    shelf.count = 0;
  }
  KnownLayout& layout = shelf.layouts[key];
  const auto found = std::ranges::find(layout.places, place);
  const auto number = static_cast<std::size_t>(found - layout.places.begin());
  if (found == layout.places.end()) {
    layout.places.push_back(place);
  }
  const auto [at, is_new] = layout.layers.try_emplace(layer_of(scenario.plan, number));
  Known& known = at->second;
  if (is_new) {
    known = {.pace = pace, .work = work};
    for (BlockWork& kind : known.work.kinds) {
      kind.recompute = {};
    }
    ++shelf.count;
  }
  if (std::ranges::find(known.ways, way_of(scenario.plan), &KnownRecompute::way) ==
      known.ways.end()) {
    KnownRecompute way{.way = way_of(scenario.plan), .pace = pace};
    for (const BlockWork& kind : work.kinds) {
      way.kinds.push_back(kind.recompute);
    }
    known.ways.push_back(std::move(way));
  }
}

}  // namespace titer
