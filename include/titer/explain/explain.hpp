#pragma once
// The derivation of a result: every term with its formula, the numbers put in, and the source of
// formula and figures, so that a reader can follow it with a calculator.

#include <string>
#include <vector>

#include "titer/scenario/scenario.hpp"

namespace titer {

struct StepResult;

struct Term {
  std::string name;
  std::string formula;
  std::string numbers;  // the formula with its numbers
  std::string value;    // with its unit
  std::string source;
};

struct Section {
  std::string title;
  std::vector<Term> terms;
};

/// REQUIRES a valid scenario. Throws InputError where its conditions are not uniform.
[[nodiscard]] std::vector<Section> explain(const Scenario& scenario);
/// The collectives of a step on the links of the network that the terms above have otherwise.
[[nodiscard]] Section algorithms_section(const StepResult& result);

}  // namespace titer
