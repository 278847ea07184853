#include "titer/step/evaluate.hpp"

#include "titer/step/e7.hpp"
#include "titer/step/lower.hpp"

namespace titer {

void evaluate(const Scenario& scenario, Fidelity fidelity, Estimator& memory, StepResult& result) {
  const bool seeds = scenario.formula == Formula::e7;
  if (seeds && fidelity != Fidelity::closed) {
    throw InputError("formula: e7: expected the fidelity closed, the only one this formula has");
  }
  if (seeds) {
    e7_estimate(scenario, result);
  } else if (fidelity == Fidelity::event) {
    result = simulate(scenario);
  } else {
    memory.estimate(scenario, result);
  }
}

}  // namespace titer
