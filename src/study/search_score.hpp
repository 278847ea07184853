#pragma once
// How good plans are, and the best of them.

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "titer/study/search.hpp"

namespace titer {

inline constexpr std::size_t kMostObjectives = 3;
/// Of the objectives, in order; less is better.
using Scores = std::array<double, kMostObjectives>;

/// What the objectives say of a result, and of a time that a plan cannot be under.
class Scorer {
 public:
  explicit Scorer(const Search& search) : search_(&search) {}

  [[nodiscard]] Scores of(const Scenario& scenario, const StepResult& result) const;
  /// No plan of this scenario that takes this time and memory or more has less.
  [[nodiscard]] Scores bound(const Scenario& scenario, Seconds time, Bytes memory) const;

 private:
  [[nodiscard]] double score(Objective objective,
                             const Scenario& scenario,
                             const StepResult& result) const;
  [[nodiscard]] double least(Objective objective,
                             const Scenario& scenario,
                             Seconds time,
                             Bytes memory) const;

  const Search* search_;
};

/// A plan of a PlanTree by its choices' numbers: layer, place, pipeline, state, overlap.
using PlanNumber = std::array<std::uint32_t, 5>;
struct ScoredPlan {
  Scores scores{};
  PlanNumber number{};

  friend auto operator<=>(const ScoredPlan&, const ScoredPlan&) = default;
};

/// The k best by one objective, or the front of several: those than which no other is better in one
/// and no worse in all. Of equals the first in the tree; whatever the order in which they come.
class BestPlans {
 public:
  BestPlans(std::size_t objectives, std::size_t top) : objectives_(objectives), top_(top) {}

  /// Whether no plan with at least these scores would be taken.
  [[nodiscard]] bool excludes(const Scores& least) const;
  void offer(const ScoredPlan& plan);
  /// Best first.
  [[nodiscard]] const std::vector<ScoredPlan>& plans() const { return plans_; }

 private:
  [[nodiscard]] bool dominates(const Scores& a, const Scores& b) const;
  void offer_to_front(const ScoredPlan& plan);

  std::size_t objectives_;
  std::size_t top_;
  std::vector<ScoredPlan> plans_;
};

}  // namespace titer
