#include "robust_search.hpp"

#include <algorithm>

#include "titer/calibrate/figure_draws.hpp"
#include "titer/units/lists.hpp"

namespace titer {
namespace {

constexpr std::size_t kFirstLookedAt = 32;
constexpr std::size_t kMostLookedAt = 1024;

void look_at(std::size_t plans, Search& search) {
  search.top = plans;
  search.best_of = BestPlanOf::plan;
  for (Search& model : search.models) {
    look_at(plans, model);
  }
}

/// The best of shapes that the fastest plans do not have.
void add_others(const SearchAnswer& from, SearchAnswer& answer) {
  for (const FoundPlan& found : from.plans) {
    if (!includes(answer.plans, found.place, &FoundPlan::place)) {
      answer.plans.push_back(found);
    }
  }
}

}  // namespace

void tell_chances(const Search& search, const Posterior* told, SearchAnswer& answer) {
  const Search& of = searched(search, answer);
  const std::vector<Plan> plans = each_of(answer.plans, &FoundPlan::plan);
  find_chances(drawn_times(of.source, of.scenario, plans, told), answer);
}

/// Sums and maxima of what figures' logarithms move are convex in them, so that a plan's expected
/// time is no less than its time, but for the little that another algorithm saves: once this is
/// above the least expected time that was found, no other plan has a lesser.
SearchAnswer most_robust(const Search& search,
                         const SearchOptions& options,
                         const Posterior* told) {
  SearchAnswer fastest = run_search(search, options);
  Search wide = search;
  for (std::size_t looked_at = std::max(kFirstLookedAt, 2 * search.top);; looked_at *= 2) {
    look_at(looked_at, wide);
    SearchAnswer answer = run_search(wide, options);
    if (answer.plans.empty()) {
      return fastest;
    }
    const bool are_all = answer.plans.size() < looked_at;
    const Seconds slowest = answer.plans.back().result.iteration_time;
    add_others(fastest, answer);
    tell_chances(wide, told, answer);
    keep_most_robust(search, answer);
    if (are_all || !answer.complete || *answer.plans.front().expected_time <= slowest ||
        looked_at >= kMostLookedAt) {
      return answer;
    }
  }
}

}  // namespace titer
