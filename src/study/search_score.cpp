#include "search_score.hpp"

#include <algorithm>

#include "titer/step/device_classes.hpp"
#include "titer/units/ensure.hpp"

namespace titer {
namespace {

double tokens(const Scenario& scenario) {
  return static_cast<double>(scenario.training.global_batch) *
         static_cast<double>(scenario.training.sequence);
}

/// MFU times the time, were all layers trained.
Seconds ideal_time(const Scenario& scenario) {
  const ForwardFlops forward = forward_flops(scenario.model,
                                             static_cast<double>(scenario.training.global_batch),
                                             scenario.training.sequence,
                                             AttentionCount::full);
  return 3.0 * forward.total() / static_cast<double>(scenario.plan.devices()) / mean_peak(scenario);
}

}  // namespace

Seconds SearchLimits::longest(const Scenario& scenario) const {
  Seconds longest = most_time.value_or(Seconds::from_si(std::numeric_limits<double>::infinity()));
  if (least_tokens_per_s) {
    longest = std::min(longest, Seconds::from_si(tokens(scenario) / *least_tokens_per_s));
  }
  if (least_mfu) {
    longest = std::min(longest, ideal_time(scenario) / *least_mfu);
  }
  return longest;
}

Scores Scorer::of(const Scenario& scenario, const StepResult& result) const {
  Scores scores{};
  for (std::size_t i = 0; i < search_->objectives.size(); ++i) {
    scores[i] = score(search_->objectives[i], scenario, result);
  }
  return scores;
}

Scores Scorer::bound(const Scenario& scenario, Seconds time, Bytes memory) const {
  Scores scores{};
  for (std::size_t i = 0; i < search_->objectives.size(); ++i) {
    scores[i] = least(search_->objectives[i], scenario, time, memory);
  }
  return scores;
}

double Scorer::score(Objective objective,
                     const Scenario& scenario,
                     const StepResult& result) const {
  const auto billed = [&] {
    return bill(*search_->economy,
                scenario.cluster.chip,
                scenario.plan.devices(),
                result.iteration_time,
                computing_share(result));
  };
  switch (objective) {
    case Objective::time:
      return result.iteration_time.si();
    case Objective::cost:
      return billed().dollars;
    case Objective::tokens_per_dollar:
      return -tokens(scenario) / billed().dollars;
    case Objective::mfu:
      return -result.mfu;
    case Objective::energy:
      return billed().energy.si();
    case Objective::goodput:
      return -result.tokens_per_s *
             goodput(*search_->reliability, scenario, result.iteration_time).fraction;
    case Objective::memory:
      return result.memory_peak.si();
    case Objective::devices:
      return static_cast<double>(result.devices);
  }
  ensure(false, "an objective is one of the enumerated ones");
  return 0;
}

/// Idle devices draw least; nothing is lost to failures.
double Scorer::least(Objective objective,
                     const Scenario& scenario,
                     Seconds time,
                     Bytes memory) const {
  constexpr double more = 1 + 1e-9;  // than rounding makes of a quotient
  const auto billed = [&] {
    return bill(*search_->economy, scenario.cluster.chip, scenario.plan.devices(), time, 0);
  };
  switch (objective) {
    case Objective::time:
      return time.si();
    case Objective::cost:
      return billed().dollars / more;
    case Objective::tokens_per_dollar:
      return -more * tokens(scenario) / billed().dollars;
    case Objective::mfu:
      return -more * (ideal_time(scenario) / time);
    case Objective::energy:
      return billed().energy.si() / more;
    case Objective::goodput:
      return -more * tokens(scenario) / time.si();
    case Objective::memory:
      return memory.si();
    case Objective::devices:
      return static_cast<double>(scenario.plan.devices());
  }
  ensure(false, "an objective is one of the enumerated ones");
  return 0;
}

bool BestPlans::dominates(const Scores& a, const Scores& b) const {
  bool better = false;
  for (std::size_t i = 0; i < objectives_; ++i) {
    if (a[i] > b[i]) {
      return false;
    }
    better = better || a[i] < b[i];
  }
  return better;
}

bool BestPlans::excludes(const Scores& least) const {
  if (objectives_ == 1) {
    return plans_.size() == top_ && least[0] > plans_.back().scores[0];
  }
  return std::any_of(plans_.begin(), plans_.end(), [&](const ScoredPlan& plan) {
    return dominates(plan.scores, least);
  });
}

void BestPlans::offer(const ScoredPlan& plan) {
  if (objectives_ > 1) {
    offer_to_front(plan);
    return;
  }
  const auto at = std::lower_bound(plans_.begin(), plans_.end(), plan);
  if (at != plans_.end() && *at == plan) {
    return;
  }
  plans_.insert(at, plan);
  if (plans_.size() > top_) {
    plans_.pop_back();
  }
}

void BestPlans::offer_to_front(const ScoredPlan& plan) {
  const auto stays = [&](const ScoredPlan& known) {
    return dominates(known.scores, plan.scores) ||
           (known.scores == plan.scores && known.number <= plan.number);
  };
  if (std::any_of(plans_.begin(), plans_.end(), stays)) {
    return;
  }
  std::erase_if(plans_, [&](const ScoredPlan& known) {
    return dominates(plan.scores, known.scores) || known.scores == plan.scores;
  });
  plans_.insert(std::lower_bound(plans_.begin(), plans_.end(), plan), plan);
}

}  // namespace titer
