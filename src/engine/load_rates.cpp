#include "titer/engine/load_rates.hpp"

#include <algorithm>

namespace titer {
namespace {

[[nodiscard]] std::uint64_t hash_of(std::span<const LoadId> set) {
  std::uint64_t hash = set.size();
  for (const LoadId load : set) {  // the finisher of splitmix64
    hash += load + std::uint64_t{0x9e3779b97f4a7c15};
    hash = (hash ^ (hash >> 30)) * std::uint64_t{0xbf58476d1ce4e5b9};
    hash = (hash ^ (hash >> 27)) * std::uint64_t{0x94d049bb133111eb};
    hash ^= hash >> 31;
  }
  return hash;
}

[[nodiscard]] double as_share(Loads::Units units) {
  return static_cast<double>(units) / static_cast<double>(Loads::unit);
}

}  // namespace

void LoadRates::reset(const Loads& loads) {
  loads_ = &loads;
  patterns_ = {};
  places_.assign(places_.size(), {});
  taken_ = 0;
  sets_.clear();
  rates_.clear();
  resources_.assign(loads.resources(), {});
}

std::span<const double> LoadRates::of(std::span<const LoadId> set) {
  const std::uint64_t hash = hash_of(set);
  if (const Known* known = find(hash, set)) {
    ++patterns_.known;
    return {rates_.data() + known->begin, known->count};
  }
  ++patterns_.found;
  solve(set);
  remember(hash, set);
  return found_;
}

const LoadRates::Known* LoadRates::find(std::uint64_t hash, std::span<const LoadId> set) const {
  if (taken_ == 0) {
    return nullptr;
  }
  const std::size_t mask = places_.size() - 1;
  for (std::size_t at = hash & mask; places_[at].count != 0; at = (at + 1) & mask) {
    const Known& known = places_[at];
    if (known.hash == hash && known.count == set.size() &&
        std::equal(set.begin(), set.end(), sets_.data() + known.begin)) {
      return &known;
    }
  }
  return nullptr;
}

void LoadRates::remember(std::uint64_t hash, std::span<const LoadId> set) {
  if (set.empty() || set.size() > capacity_) {
    return;
  }
  if (sets_.size() + set.size() > capacity_) {
    places_.assign(places_.size(), {});
    taken_ = 0;
    sets_.clear();
    rates_.clear();
  }
  if (2 * (taken_ + 1) > places_.size()) {
    grow();
  }
  place({.hash = hash, .begin = sets_.size(), .count = set.size()});
  ++taken_;
  sets_.insert(sets_.end(), set.begin(), set.end());
  rates_.insert(rates_.end(), found_.begin(), found_.end());
}

void LoadRates::place(const Known& known) {
  const std::size_t mask = places_.size() - 1;
  std::size_t at = known.hash & mask;
  while (places_[at].count != 0) {
    at = (at + 1) & mask;
  }
  places_[at] = known;
}

void LoadRates::grow() {
  std::vector<Known> before(std::max<std::size_t>(64, 2 * places_.size()));
  before.swap(places_);
  for (const Known& known : before) {
    if (known.count != 0) {
      place(known);
    }
  }
}

// Progressive filling, level by level. What a resource has left is charged once per level, with the
// exact sum of the shares that stop there: no sum depends on the order of its terms, so equal
// patterns get equal rates to the last bit, whatever the numbers of their loads.
void LoadRates::solve(std::span<const LoadId> set) {
  begin(set);
  double level = 0.0;
  while (!rising_.empty()) {
    level = std::max(level, next_level());  // it cannot fall, but for rounding
    std::size_t still = 0;
    for (const Rising& rising : rising_) {
      const bool stops =
          level >= 1.0 || std::ranges::any_of(loads_->parts(rising.load), [&](Loads::Part part) {
            return resources_[part.resource].full;
          });
      if (stops) {
        stop(rising, std::min(level, 1.0));
      } else {
        rising_[still++] = rising;
      }
    }
    rising_.resize(still);
    charge(level);
  }
  for (const LoadResource resource : touched_) {
    resources_[resource] = {};
  }
}

void LoadRates::begin(std::span<const LoadId> set) {
  found_.resize(set.size());
  rising_.clear();
  touched_.clear();
  for (std::size_t i = 0; i < set.size(); ++i) {
    if (i == 0 || set[i] != set[i - 1]) {
      rising_.push_back({.load = set[i], .count = 0, .first = i});
    }
    ++rising_.back().count;
  }
  for (const Rising& rising : rising_) {
    for (const Loads::Part& part : loads_->parts(rising.load)) {
      Resource& resource = resources_[part.resource];
      if (resource.open == 0) {
        touched_.push_back(part.resource);
      }
      resource.open += rising.count * part.units;
    }
  }
  // Who has enough for all is in nobody's way.
  std::size_t short_of = 0;
  for (const LoadResource id : touched_) {
    if (resources_[id].open > Loads::full) {
      touched_[short_of++] = id;
    } else {
      resources_[id] = {};
    }
  }
  touched_.resize(short_of);
}

/// The level at which the next resources are full, and marks them; one if none will be.
double LoadRates::next_level() {
  double lowest = 1.0;
  for (const LoadResource id : touched_) {
    const Resource& resource = resources_[id];
    if (resource.open > 0) {
      lowest = std::min(lowest, resource.left / as_share(resource.open));
    }
  }
  for (const LoadResource id : touched_) {
    Resource& resource = resources_[id];
    resource.full = resource.open > 0 && resource.left / as_share(resource.open) <= lowest;
  }
  return lowest;
}

void LoadRates::stop(const Rising& rising, double level) {
  std::fill_n(found_.begin() + static_cast<std::ptrdiff_t>(rising.first), rising.count, level);
  for (const Loads::Part& part : loads_->parts(rising.load)) {
    Resource& resource = resources_[part.resource];
    if (resource.open > 0) {  // one with enough for all counts nothing
      resource.fixed += rising.count * part.units;
      resource.open -= rising.count * part.units;
    }
  }
}

void LoadRates::charge(double level) {
  for (const LoadResource id : touched_) {
    Resource& resource = resources_[id];
    resource.left = std::max(0.0, resource.left - level * as_share(resource.fixed));
    resource.fixed = 0;
  }
}

}  // namespace titer
