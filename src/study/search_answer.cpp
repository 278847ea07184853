// What is done with the plans that a search has found.

#include <algorithm>

#include "titer/step/evaluate.hpp"
#include "titer/study/search.hpp"

namespace titer {

const Search& searched(const Search& search, const SearchAnswer& answer) {
  const auto at = std::find_if(search.models.begin(),
                               search.models.end(),
                               [&](const Search& model) { return model.title == answer.model; });
  return at == search.models.end() ? search : *at;
}

std::vector<Assignment> plan_assignments(const Plan& plan) {
  std::vector<Assignment> assignments = {{"plan.data", Value(plan.data), "search"}};
  for (const SearchKey& key : search_keys()) {
    const Value value = key.value(plan);
    if (value.kind != Value::Kind::null) {
      assignments.push_back({"plan." + std::string(key.name), value, "search"});
    }
  }
  return assignments;
}

ScenarioSource source_with(const Search& search, const Plan& plan) {
  ScenarioSource source = search.source;
  for (const Assignment& assignment : plan_assignments(plan)) {
    source.assign(assignment);
  }
  return source;
}

std::vector<std::string> refine(const Search& search, Fidelity fidelity, SearchAnswer& answer) {
  std::vector<std::string> reasons;
  Scenario scenario = searched(search, answer).scenario;
  Estimator estimator;
  StepResult result;
  for (FoundPlan& found : answer.plans) {
    scenario.plan = found.plan;
    found.refined.reset();
    try {
      evaluate(scenario, fidelity, estimator, result);
      found.refined = result.iteration_time;
    } catch (const InputError& error) {
      reasons.insert(reasons.end(), error.lines.begin(), error.lines.end());
    }
  }
  std::stable_sort(
      answer.plans.begin(), answer.plans.end(), [](const FoundPlan& a, const FoundPlan& b) {
        return a.refined && (!b.refined || *a.refined < *b.refined);
      });
  return reasons;
}

}  // namespace titer
