// How sure it is which of the plans that a search has found is the fastest, and that each fits.

#include <algorithm>
#include <cmath>
#include <numbers>

#include "search_score.hpp"
#include "titer/search/search.hpp"
#include "titer/units/lists.hpp"

namespace titer {
namespace {

double normal_density(double z) {
  return std::exp(-z * z / 2) * std::numbers::inv_sqrtpi / std::numbers::sqrt2;
}

Seconds time_of(const FoundPlan& found) {
  return found.refined.value_or(found.result.iteration_time);
}

/// Adds how likely each of the plans, whose times have these logarithms, is the fastest. Each takes
/// its time times a lognormal error of its own, independent of the others'. With s its deviation,
///   P_i = integral of phi((y - y_i) / s) / s prod over j != i of Phi((y_j - y) / s) dy
/// by the trapezoidal rule, which converges faster than any power of its step.
void add_chances(const std::vector<double>& logs, std::vector<double>& chances) {
  constexpr double end = 7;  // deviations: beyond there is less than 1e-11
  constexpr int steps = 56;
  constexpr double step = 2 * end / steps;
  const double first = *std::ranges::min_element(logs);
  std::vector<double> slower(logs.size());
  for (int k = 0; k <= steps; ++k) {
    const double at = step * k - end;  // from the fastest, in deviations
    double all = 1;
    for (std::size_t i = 0; i < logs.size(); ++i) {
      slower[i] = normal_share_below((logs[i] - first) / kPlanError - at);
      all *= slower[i];
    }
    for (std::size_t i = 0; i < logs.size() && all > 0; ++i) {
      chances[i] += step * normal_density(at - (logs[i] - first) / kPlanError) * all / slower[i];
    }
  }
}

}  // namespace

double normal_share_below(double z) { return 0.5 * std::erfc(-z / std::numbers::sqrt2); }

double chance_to_fit(Bytes peak, Bytes capacity) {
  constexpr double mean_of_half_normal = 0.797884560802865;  // sqrt(2 / pi): |error| over deviation
  return normal_share_below((capacity / peak - 1) / (kMemoryError / mean_of_half_normal));
}

void find_chances(std::span<const std::vector<double>> drawn, SearchAnswer& answer) {
  std::vector<double> chances(answer.plans.size());
  std::vector<double> means(answer.plans.size());
  std::vector<double> logs(answer.plans.size());
  const std::size_t draws = drawn.empty() ? 0 : drawn.front().size();
  for (std::size_t draw = 0; draw < draws; ++draw) {
    for (std::size_t i = 0; i < logs.size(); ++i) {
      means[i] += drawn[i][draw];
      logs[i] = std::log(time_of(answer.plans[i]).si() * drawn[i][draw]);
    }
    add_chances(logs, chances);
  }
  for (std::size_t i = 0; i < answer.plans.size(); ++i) {
    FoundPlan& found = answer.plans[i];
    found.expected_time = time_of(found) * (means[i] / static_cast<double>(draws));
    found.chance_fastest = chances[i] / static_cast<double>(draws);
    found.chance_fits = chance_to_fit(found.result.memory_peak, found.result.memory_capacity);
  }
}

void keep_most_robust(const Search& search, SearchAnswer& answer) {
  std::vector<FoundPlan>& plans = answer.plans;
  std::ranges::stable_sort(plans, [](const FoundPlan& a, const FoundPlan& b) {
    return *a.expected_time < *b.expected_time;
  });
  if (search.best_of == BestPlanOf::shape) {
    std::vector<PlanForm> seen;
    std::erase_if(plans, [&](const FoundPlan& found) {
      const PlanForm form = form_of(found.plan, search.best_of);
      const bool is_known = includes(seen, form);
      seen.push_back(form);
      return is_known;
    });
  }
  plans.resize(std::min(plans.size(), search.top));
}

}  // namespace titer
