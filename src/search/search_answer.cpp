// What is done with the plans that a search has found.

#include <fmt/format.h>

#include <algorithm>

#include "titer/input/defect.hpp"
#include "titer/plan/plan_fields.hpp"
#include "titer/scenario/command_text.hpp"
#include "titer/search/search.hpp"
#include "titer/simulate/evaluate.hpp"

namespace titer {
namespace {

void add_defect(const std::string& said, const Plan& plan, Refinement& refinement) {
  const std::string defect = said + "; with" + set_options(plan_assignments(plan));
  refinement.reasons.push_back(defect_words(defect));
  refinement.defect = refinement.defects == 0 ? defect : refinement.defect;
  ++refinement.defects;
}

}  // namespace

const Search& searched(const Search& search, const SearchAnswer& answer) {
  const auto at = std::ranges::find_if(
      search.models, [&](const Search& model) { return model.title == answer.model; });
  return at == search.models.end() ? search : *at;
}

const FoundPlan* best_by(const SearchAnswer& answer, std::size_t objective) {
  const auto best = std::min_element(
      answer.plans.begin(), answer.plans.end(), [=](const FoundPlan& a, const FoundPlan& b) {
        return a.scores[objective] < b.scores[objective];
      });
  return best == answer.plans.end() ? nullptr : &*best;
}

std::vector<std::string> carried_notes(const Scenario& scenario) {
  std::vector<std::string> notes;
  const Plan& plan = scenario.plan;
  if (const auto* list = std::get_if<std::vector<std::int64_t>>(&plan.layers)) {
    notes.push_back(
        fmt::format("plan.layers lists {} stages of the model: plans with others share layers out "
                    "evenly",
                    list->size()));
  }
  if (!plan.batch_shares.even()) {
    notes.push_back(
        fmt::format("plan.batch_shares has {} ranks: plans with others have equal "
                    "batches",
                    plan.batch_shares.weights.size()));
  }
  if (scenario.conditions.noisy()) {
    notes.emplace_back(
        "conditions: plans are compared without noise; `titer run --samples N` shows how the steps "
        "of one spread");
  }
  return notes;
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
  // Lists that are of plans with other degrees.
  const Plan& told = search.scenario.plan;
  if (plan.servers != told.servers) {
    source.assign({"plan.servers", Value(), "search"});
  }
  if (plan.batch_shares.weights != told.batch_shares.weights) {
    source.assign({"plan.batch_shares", Value(), "search"});
  }
  return source;
}

Refinement refine(const Search& search, Fidelity fidelity, SearchAnswer& answer) {
  Refinement refinement;
  Scenario scenario = searched(search, answer).scenario;
  Estimator estimator;
  for (FoundPlan& found : answer.plans) {
    scenario.plan = found.plan;
    found.refined.reset();
    try {
      StepResult result;
      const auto defect = defect_met([&] { evaluate(scenario, fidelity, estimator, result); });
      if (defect) {
        estimator = Estimator();  // what it had in work is lost
        add_defect(*defect, found.plan, refinement);
      } else {
        found.refined = result.iteration_time;
      }
    } catch (const InputError& error) {
      refinement.reasons.insert(refinement.reasons.end(), error.lines.begin(), error.lines.end());
    }
  }
  std::stable_sort(
      answer.plans.begin(), answer.plans.end(), [](const FoundPlan& a, const FoundPlan& b) {
        return a.refined && (!b.refined || *a.refined < *b.refined);
      });
  return refinement;
}

}  // namespace titer
