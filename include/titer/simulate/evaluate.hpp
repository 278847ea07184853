#pragma once
// One entry to all ways of computing a step.

#include "titer/estimate/estimate.hpp"
#include "titer/simulate/fidelity.hpp"
#include "titer/simulate/simulate.hpp"

namespace titer {

inline constexpr std::array<Choice<Fidelity>, 3> kFidelities = {
    {{"closed", Fidelity::closed}, {"event", Fidelity::event}, {"network", Fidelity::network}}};

/// What answers where nothing else is asked for: the closed form; events where devices differ.
[[nodiscard]] Fidelity usual_fidelity(const Scenario& scenario);

/// Throws InputError where the scenario asks for what the fidelity does not have.
void check_fidelity(const Scenario& scenario, Fidelity fidelity);

/// Throws InputError as check_fidelity() does.
/// The options are of the simulation, where there is one; a sample is one of the steps that noise
/// makes different.
void evaluate(const Scenario& scenario,
              Fidelity fidelity,
              Estimator& memory,
              StepResult& result,
              const SimulationOptions& options = {});
/// The same of one scenario after another; what may be otherwise than in the one before is for the
/// closed form, which is faster where it is little.
void evaluate(const Scenario& scenario,
              Fidelity fidelity,
              Changed changed,
              Estimator& memory,
              StepResult& result);

}  // namespace titer
