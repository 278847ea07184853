#include "titer/scenario/conditions.hpp"

#include <algorithm>

namespace titer {
namespace {

// Purposes of draws, a multiple of 16 each.
constexpr std::uint8_t kComputeDraw = 0;
constexpr std::uint8_t kTransferDraw = 16;
constexpr std::uint8_t kStragglerDraw = 32;

bool is_straggler(const Stragglers& stragglers, DrawName name) {
  name.purpose = kStragglerDraw;
  if (stragglers.per != Stragglers::Per::pass) {
    name.number = 0;
  }
  if (stragglers.per == Stragglers::Per::device) {
    name.sample = 0;
  }
  return uniform_pair(name).first < stragglers.probability;
}

DrawName draw_name(std::uint64_t seed,
                   std::int64_t device,
                   std::uint64_t draw,
                   std::uint32_t sample) {
  return {
      .seed = seed, .sample = sample, .device = static_cast<std::uint64_t>(device), .number = draw};
}

bool changes_nothing(const DeviceCondition& condition) {
  return condition.compute == 1 && condition.node == 1 && condition.network == 1 && !condition.chip;
}

}  // namespace

Conditions Conditions::quiet() const {
  Conditions same = *this;
  same.compute_jitter.reset();
  same.transfer_jitter.reset();
  same.stragglers.reset();
  return same;
}

const DeviceCondition* Conditions::of(std::int64_t device) const {
  const auto after = std::ranges::upper_bound(devices, device, {}, &DeviceCondition::first);
  if (after == devices.begin() || device > std::prev(after)->last) {
    return nullptr;
  }
  return &*std::prev(after);
}

double Conditions::compute_factor(std::int64_t device,
                                  std::uint64_t draw,
                                  std::uint32_t sample) const {
  const DeviceCondition* fixed = of(device);
  double factor = fixed == nullptr ? 1 : fixed->compute;
  if (!compute_jitter && !stragglers) {
    return factor;
  }
  DrawName name = draw_name(seed, device, draw, sample);
  if (stragglers && is_straggler(*stragglers, name)) {
    factor *= stragglers->slowdown;
  }
  name.purpose = kComputeDraw;
  return compute_jitter ? factor * compute_jitter->factor(name) : factor;
}

double Conditions::transfer_factor(std::int64_t device, bool network) const {
  const DeviceCondition* fixed = of(device);
  if (fixed == nullptr) {
    return 1;
  }
  return network ? fixed->network : fixed->node;
}

double Conditions::transfer_noise(std::int64_t device,
                                  std::uint64_t draw,
                                  std::uint32_t sample) const {
  if (!transfer_jitter) {
    return 1;
  }
  DrawName name = draw_name(seed, device, draw, sample);
  name.purpose = kTransferDraw;
  return transfer_jitter->factor(name);
}

std::size_t Conditions::chip_class(std::int64_t device) const {
  const DeviceCondition* fixed = of(device);
  return fixed == nullptr || !fixed->chip ? 0 : *fixed->chip + 1;
}

std::vector<DeviceCondition> disjoint(const std::vector<DeviceCondition>& conditions) {
  std::vector<std::int64_t> cuts;
  std::vector<std::size_t> by_first(conditions.size());
  for (std::size_t i = 0; i < conditions.size(); ++i) {
    cuts.insert(cuts.end(), {conditions[i].first, conditions[i].last + 1});
    by_first[i] = i;
  }
  std::ranges::sort(cuts);
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  std::ranges::stable_sort(by_first, [&](std::size_t a, std::size_t b) {
    return conditions[a].first < conditions[b].first;
  });
  std::vector<DeviceCondition> pieces;
  std::vector<std::size_t> here;  // the conditions that hold between two cuts, as written
  auto next = by_first.begin();
  for (std::size_t c = 0; c + 1 < cuts.size(); ++c) {
    std::erase_if(here, [&](std::size_t i) { return conditions[i].last < cuts[c]; });
    for (; next != by_first.end() && conditions[*next].first == cuts[c]; ++next) {
      here.insert(std::ranges::lower_bound(here, *next), *next);
    }
    DeviceCondition piece = {.first = cuts[c], .last = cuts[c + 1] - 1};
    for (const std::size_t i : here) {
      piece.compute *= conditions[i].compute;
      piece.node *= conditions[i].node;
      piece.network *= conditions[i].network;
      piece.chip = conditions[i].chip ? conditions[i].chip : piece.chip;
    }
    if (!here.empty() && !changes_nothing(piece)) {
      piece.entry = conditions[here.front()].entry;
      pieces.push_back(piece);
    }
  }
  return pieces;
}

}  // namespace titer
