#pragma once
// What is wrong with a scenario, as texts.

#include <string>
#include <vector>

#include "titer/scenario/scenario.hpp"

namespace titer {

using Lines = std::vector<std::string>;

inline Lines texts(const Scenario& scenario) {
  Lines lines;
  for (const Violation& violation : validate(scenario)) {
    lines.push_back(violation.text());
  }
  return lines;
}

}  // namespace titer
