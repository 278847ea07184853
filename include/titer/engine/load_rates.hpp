#pragma once
// How fast tasks run side by side when their loads ask for more than there is. The rates are
// max-min fair: all rise together from zero; a task's stops when a resource of its load is full,
// or at one. What a set of loads gets depends on nothing but the set, so sets are remembered.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "titer/engine/loads.hpp"

namespace titer {

/// How often the rates of a set of loads were found anew, and how often they were known.
struct LoadPatterns {
  std::uint64_t found = 0;
  std::uint64_t known = 0;
};

/// The rates of sets of loads. Keeps its working memory.
class LoadRates {
 public:
  /// Remembers sets of up to `capacity` loads in all, at 12 bytes each, and then starts anew.
  explicit LoadRates(std::size_t capacity = std::size_t{1} << 20) : capacity_(capacity) {}

  /// Forgets what it knows. The loads must outlive their use here and must not grow.
  void reset(const Loads& loads);

  /// The rates, each in (0, 1], of tasks with these loads; a load that several tasks have is there
  /// as often. The loads must ascend. Valid until the next call.
  [[nodiscard]] std::span<const double> of(std::span<const LoadId> set);

  [[nodiscard]] const LoadPatterns& patterns() const { return patterns_; }

 private:
  struct Known {  // count 0: an empty place
    std::uint64_t hash = 0;
    std::size_t begin = 0;  // in sets_ and rates_
    std::size_t count = 0;
  };
  struct Resource {
    Loads::Units open = 0;   // of the loads that still rise
    Loads::Units fixed = 0;  // of those that stopped at this level
    double left = 1.0;       // what those that stopped leave
    bool full = false;
  };
  struct Rising {  // equal loads that still rise
    LoadId load = 0;
    Loads::Units count = 0;
    std::size_t first = 0;  // in the set
  };

  [[nodiscard]] const Known* find(std::uint64_t hash, std::span<const LoadId> set) const;
  void remember(std::uint64_t hash, std::span<const LoadId> set);
  void place(const Known& known);
  void grow();
  void solve(std::span<const LoadId> set);
  void begin(std::span<const LoadId> set);
  [[nodiscard]] double next_level();
  void stop(const Rising& rising, double level);
  void charge(double level);

  std::size_t capacity_;
  const Loads* loads_ = nullptr;
  LoadPatterns patterns_;
  std::vector<Known> places_;  // a power of two, at most half of them taken
  std::size_t taken_ = 0;
  std::vector<LoadId> sets_;
  std::vector<double> rates_;
  // While a set is being solved.
  std::vector<double> found_;
  std::vector<Rising> rising_;
  std::vector<Resource> resources_;  // by id
  std::vector<LoadResource> touched_;
};

}  // namespace titer
