// What a plan of a search takes, and all that is told of one that was found.

#include "search_worker.hpp"
#include "titer/simulate/evaluate.hpp"

namespace titer {

/// In closed form; event by event where devices differ.
void SearchWorker::find_result(StepResult& result) {
  if (is_unlike()) {
    evaluate(scenario_, Fidelity::event, estimator_, result);
  } else {
    estimator_.estimate(scenario_, Changed::plan, result);
  }
}

void SearchWorker::put_numbered(const PlanNumber& number) {
  const LayerChoice& layer = tree_->layers()[number[0]];
  const PlanPlace& place = tree_->layout(layer).places[number[1]];
  const StateChoice& state = tree_->states(layer, place)[number[3]];
  tree_->put(layer, scenario_.plan);
  tree_->put(place, scenario_.plan);
  tree_->put(tree_->pipelines(layer, place)[number[2]], scenario_.plan);
  tree_->put(state, state.overlaps[number[4]], scenario_.plan);
}

FoundPlan SearchWorker::found(const AlikePlans& group) {
  std::vector<Plan> alike;
  for (auto other = group.plans.begin() + 1; other != group.plans.end(); ++other) {
    put_numbered(other->number);
    alike.push_back(scenario_.plan);
  }
  const ScoredPlan& plan = group.plans.front();
  put_numbered(plan.number);
  FoundPlan found{
      .plan = scenario_.plan,
      .devices = scenario_.plan.devices(),
      .scores = {plan.scores.begin(), plan.scores.begin() + std::ssize(search_->objectives)},
      .place = {plan.number.begin(), plan.number.end()},
      .result = {},
      .alike = std::move(alike),
      .alike_count = group.count - 1};
  find_result(found.result);
  if (search_->economy) {
    found.bill = bill(*search_->economy,
                      scenario_.cluster.chip,
                      found.devices,
                      found.result.iteration_time,
                      computing_share(found.result));
  }
  if (search_->reliability) {
    found.goodput = goodput(*search_->reliability, scenario_, found.result.iteration_time);
  }
  return found;
}

}  // namespace titer
