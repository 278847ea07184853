#pragma once
// The parts of validate() about what ranks split among them, what lies outside the devices, and
// number formats.

#include <vector>

#include "titer/step/scenario.hpp"

namespace titer {

void check_sharding(const Scenario& scenario, std::vector<Violation>& violations);
void check_offload(const Scenario& scenario, std::vector<Violation>& violations);
void check_types(const Scenario& scenario, std::vector<Violation>& violations);
void check_frozen(const Scenario& scenario, std::vector<Violation>& violations);

}  // namespace titer
