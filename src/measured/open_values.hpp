#pragma once
// What a row of measured runs leaves open, and in which ways it is to be read then.

#include <string>
#include <vector>

#include "titer/measured/run_scenario.hpp"

namespace titer {

/// Readings of a row: one of each where it says all, several of what it leaves open.
struct OpenValues {
  std::vector<OpenModel> models;
  std::vector<OpenPlan> plans;
  std::vector<double> networks;  // share of the cluster's rate between nodes
  std::string names;             // what is open
};

/// Of plans those that the software is able to.
[[nodiscard]] OpenValues open_values(const RunRow& row,
                                     const RunHabits& habits,
                                     const RunMachine& machine,
                                     const Abilities& abilities);

}  // namespace titer
