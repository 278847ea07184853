#pragma once
// What is added to an answer for a report alone.

#include <string>

#include "titer/scenario/source.hpp"
#include "titer/view/view.hpp"

namespace titer {

/// Every term of the scenario's closed form, where it has one.
void add_terms(const Scenario& scenario, View& view);
/// The whole scenario, figures, sources and all, as a file to run. `name`: "the scenario".
void add_inputs(const ScenarioSource& source, const std::string& name, View& view);

}  // namespace titer
