#include "titer/simulate/evaluate.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "titer/estimate/e7.hpp"
#include "titer/simulate/network_loads.hpp"
#include "titer/units/ensure.hpp"

namespace titer {

namespace {

/// As much as can be followed on links.
void check_links(const Plan& plan) {
  constexpr std::string_view otherwise = "on the links of the network; or the fidelity event";
  if (plan.devices() > kMostDevicesOnLinks) {
    throw InputError(fmt::format("plan: {} devices: expected at most {} {}",
                                 plan.devices(),
                                 kMostDevicesOnLinks,
                                 otherwise));
  }
  std::int64_t ranks = 1;
  for (const PlanGroup group : {PlanGroup::replicas,
                                PlanGroup::tensor,
                                PlanGroup::context,
                                PlanGroup::expert,
                                PlanGroup::expert_tensor,
                                PlanGroup::all_experts,
                                PlanGroup::expert_replicas}) {
    ranks = std::max(ranks, group_ranks(plan, group).ranks);
  }
  if (ranks > kMostRanksOnLinks) {
    throw InputError(fmt::format(
        "plan: a group of {} ranks: expected at most {} {}", ranks, kMostRanksOnLinks, otherwise));
  }
}

void check_network(const Scenario& scenario) {
  const auto unlike = scenario.unlike();
  if (unlike && scenario.plan.devices() > kMostUnlikeOnLinks) {
    throw InputError(
        fmt::format("plan: {} devices: expected at most {} that {} makes unlike on the links of "
                    "the network; or "
                    "the fidelity event",
                    scenario.plan.devices(),
                    kMostUnlikeOnLinks,
                    *unlike));
  }
  check_links(scenario.plan);
}

}  // namespace

Fidelity usual_fidelity(const Scenario& scenario) {
  return scenario.unlike() ? Fidelity::event : Fidelity::closed;
}

void check_fidelity(const Scenario& scenario, Fidelity fidelity) {
  if (scenario.formula == Formula::e7 && fidelity != Fidelity::closed) {
    throw InputError("formula: e7: expected the fidelity closed, the only one this formula has");
  }
  if (fidelity == Fidelity::network) {
    check_network(scenario);
  }
  if (fidelity != Fidelity::closed) {
    return;
  }
  if (scenario.formula == Formula::titer && scenario.plan.pipeline > 1 &&
      scenario.pipeline_send() == PipelineSend::batched) {
    throw InputError(
        "plan.pipeline_send: batched: expected the fidelity event: when ranks meet to exchange "
        "messages has no closed form here");
  }
  if (const auto key = scenario.unlike()) {
    throw InputError(
        fmt::format("{}: expected the fidelity event: in closed form all devices are alike and "
                    "nothing is random",
                    *key));
  }
}

void evaluate(const Scenario& scenario,
              Fidelity fidelity,
              Estimator& memory,
              StepResult& result,
              const SimulationOptions& options) {
  ensure(options.sample == 0 || scenario.conditions.noisy(), "only a step with noise has samples");
  if (fidelity == Fidelity::closed) {
    evaluate(scenario, fidelity, Changed::anything, memory, result);
    return;
  }
  check_fidelity(scenario, fidelity);
  SimulationOptions simulation = options;
  simulation.network = fidelity == Fidelity::network;
  result = simulate(scenario, simulation).result;
}

void evaluate(const Scenario& scenario,
              Fidelity fidelity,
              Changed changed,
              Estimator& memory,
              StepResult& result) {
  if (fidelity != Fidelity::closed) {
    evaluate(scenario, fidelity, memory, result);
    return;
  }
  check_fidelity(scenario, fidelity);
  result.ranks.clear();
  result.contention.reset();
  result.algorithms.clear();
  result.events.reset();
  if (scenario.formula == Formula::e7) {
    e7_estimate(scenario, result);
  } else {
    memory.estimate(scenario, changed, result);
  }
}

}  // namespace titer
