#pragma once
// One entry to all ways of computing a step.

#include "titer/step/estimate.hpp"

namespace titer {

/// How closely time is followed. The third fidelity of the contract, `network` (concurrent
/// collectives sharing the links of a graph), is not there yet and is refused by name.
enum class Fidelity {
  closed,  // closed form
  event,   // the event engine
};
inline constexpr std::array<Choice<Fidelity>, 2> kFidelities = {
    {{"closed", Fidelity::closed}, {"event", Fidelity::event}}};

/// Throws InputError for a formula that the fidelity does not have.
void evaluate(const Scenario& scenario, Fidelity fidelity, Estimator& memory, StepResult& result);

}  // namespace titer
