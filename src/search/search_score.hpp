#pragma once
// How good plans are, and the best of them.

#include <array>
#include <cstdint>
#include <vector>

#include "titer/search/search.hpp"

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

/// A score to the four digits that are shown of it. Never less of more.
[[nodiscard]] double shown_score(double score);

/// What makes plans different answers, however alike their scores.
struct PlanForm {
  std::int64_t devices = 1;
  std::int64_t tensor = 1;
  std::int64_t pipeline = 1;
  std::int64_t expert = 1;
  std::int64_t context = 1;  // of shapes
  std::size_t schedule = 0;  // of plans with several stages, by its number in the variant

  friend auto operator<=>(const PlanForm&, const PlanForm&) = default;
};
[[nodiscard]] PlanForm form_of(const Plan& plan, BestPlanOf best_of);

/// Plans of one form whose scores read the same: one answer. Whoever chooses between two of them
/// does so by what they differ in.
struct AlikePlans {
  Scores shown{};
  PlanForm form{};
  std::vector<ScoredPlan> plans{};  // the best, then the others in order: no more than are listed
  std::size_t count = 0;            // all of them

  /// More of the same.
  void add(const AlikePlans& others);
};

/// The k best answers by one objective, of each form one or as many as there are, or the front of
/// several objectives: those than which no other is better in one and no worse in all. What comes
/// of them does not depend on the order in which plans are offered, each once.
class BestPlans {
 public:
  BestPlans(std::size_t objectives, std::size_t top, BestPlanOf best_of)
      : objectives_(objectives),
        top_(top),
        one_each_(best_of == BestPlanOf::shape && objectives == 1) {}
  /// What is found beside what is known, which excludes too, and must stay.
  [[nodiscard]] static BestPlans beside(const BestPlans& known);

  /// Whether no plan with at least these scores would be taken.
  [[nodiscard]] bool excludes(const Scores& least) const;
  /// The same of plans of one form.
  [[nodiscard]] bool excludes(const Scores& least, const PlanForm& form) const;
  void offer(const ScoredPlan& plan, const PlanForm& form);
  void merge(const BestPlans& found);
  /// Best first.
  [[nodiscard]] const std::vector<AlikePlans>& groups() const { return groups_; }

 private:
  [[nodiscard]] bool is_beaten(const AlikePlans& group);
  void take(AlikePlans group);
  [[nodiscard]] bool dominates(const Scores& a, const Scores& b) const;

  std::size_t objectives_;
  std::size_t top_;
  bool one_each_;
  const BestPlans* known_ = nullptr;
  std::vector<AlikePlans> groups_;
};

}  // namespace titer
