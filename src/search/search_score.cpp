#include "search_score.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "titer/estimate/device_classes.hpp"
#include "titer/units/ensure.hpp"

namespace titer {
namespace {

double tokens(const Scenario& scenario) {
  return static_cast<double>(scenario.training.global_batch) *
         static_cast<double>(scenario.training.sequence);
}

constexpr std::size_t kMostListed = 100;  // of plans that are alike

/// Between two numbers of the digits that are shown.
double shown_step(double score) {
  constexpr int digits = 4;
  return std::pow(10.0, std::floor(std::log10(std::abs(score))) - (digits - 1));
}

/// No score above it is shown as this one.
double most_shown_as(double shown) {
  constexpr double more = 1 + 1e-6;  // than rounding makes of half a step
  return shown == 0 ? 0 : shown + more * shown_step(shown) / 2;
}

Scores shown_scores(const Scores& scores) {
  Scores shown{};
  std::transform(scores.begin(), scores.end(), shown.begin(), shown_score);
  return shown;
}

/// MFU times the time, were all layers trained.
Seconds ideal_time(const Scenario& scenario) {
  const ForwardFlops forward = forward_flops(scenario.model,
                                             static_cast<double>(scenario.training.global_batch),
                                             scenario.training.sequence,
                                             AttentionCount::full,
                                             scenario.images());
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

double shown_score(double score) {
  if (score == 0 || !std::isfinite(score)) {
    return score;
  }
  const double step = shown_step(score);
  return std::round(score / step) * step;
}

PlanForm form_of(const Plan& plan, BestPlanOf best_of) {
  PlanForm form{.devices = plan.devices(),
                .tensor = plan.tensor,
                .pipeline = plan.pipeline,
                .expert = plan.expert};
  if (best_of == BestPlanOf::shape) {
    form.context = plan.context;
  } else {
    form.schedule = plan.pipeline > 1 ? plan.schedule.index() : 0;
  }
  return form;
}

void AlikePlans::add(const AlikePlans& others) {
  const auto middle = std::ssize(plans);
  plans.insert(plans.end(), others.plans.begin(), others.plans.end());
  std::inplace_merge(plans.begin(), plans.begin() + middle, plans.end());
  plans.resize(std::min(plans.size(), kMostListed));
  count += others.count;
}

BestPlans BestPlans::beside(const BestPlans& known) {
  BestPlans best(
      known.objectives_, known.top_, known.one_each_ ? BestPlanOf::shape : BestPlanOf::plan);
  best.known_ = &known;
  return best;
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
  if (known_ != nullptr && known_->excludes(least)) {
    return true;
  }
  if (objectives_ == 1) {
    return groups_.size() == top_ && least[0] > most_shown_as(groups_.back().shown[0]);
  }
  if (groups_.empty()) {
    return false;
  }
  const Scores shown = shown_scores(least);
  return std::ranges::any_of(
      groups_, [&](const AlikePlans& group) { return dominates(group.shown, shown); });
}

bool BestPlans::excludes(const Scores& least, const PlanForm& form) const {
  const bool known = known_ != nullptr && known_->excludes(least, form);
  return known || excludes(least) ||
         (one_each_ && std::ranges::any_of(groups_, [&](const AlikePlans& group) {
            return group.form == form && least[0] > most_shown_as(group.shown[0]);
          }));
}

void BestPlans::offer(const ScoredPlan& plan, const PlanForm& form) {
  take({.shown = shown_scores(plan.scores), .form = form, .plans = {plan}, .count = 1});
}

void BestPlans::merge(const BestPlans& found) {
  for (const AlikePlans& group : found.groups_) {
    take(group);
  }
}

/// Whether a form has a better plan already; if it has a worse one, that is taken out.
bool BestPlans::is_beaten(const AlikePlans& group) {
  const auto same = std::ranges::find_if(
      groups_, [&](const AlikePlans& known) { return known.form == group.form; });
  if (same == groups_.end()) {
    return false;
  }
  if (same->shown < group.shown) {
    return true;
  }
  if (group.shown < same->shown) {
    groups_.erase(same);
  }
  return false;
}

void BestPlans::take(AlikePlans group) {
  if (one_each_ && is_beaten(group)) {
    return;
  }
  const auto at =
      std::lower_bound(groups_.begin(), groups_.end(), group, [](const auto& a, const auto& b) {
        return std::tie(a.shown, a.form) < std::tie(b.shown, b.form);
      });
  if (at != groups_.end() && at->shown == group.shown && at->form == group.form) {
    at->add(group);
    return;
  }
  if (objectives_ == 1) {
    groups_.insert(at, std::move(group));
    groups_.resize(std::min(groups_.size(), top_));
    return;
  }
  const auto is_better = [&](const AlikePlans& known) {
    return dominates(known.shown, group.shown);
  };
  if (std::ranges::none_of(groups_, is_better)) {
    groups_.insert(at, group);
    std::erase_if(groups_,
                  [&](const AlikePlans& known) { return dominates(group.shown, known.shown); });
  }
}

}  // namespace titer
