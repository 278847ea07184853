#pragma once
// What of a plan no search varies though software has a knob for it: by which rule layers are
// shared out that stages do not divide.

#include <optional>
#include <string>

#include "titer/estimate/result.hpp"
#include "titer/input/assignment.hpp"
#include "titer/plan/abilities.hpp"
#include "titer/scenario/scenario.hpp"

namespace titer {

struct UnsearchedGain {
  Assignment change;
  Seconds time;
  double gain = 0;  // of the plan's time: 0.02 is 2 % less of it
};

/// What the other rule gains on a plan that was found, where that share of a device's memory stays
/// free; none where it is less than half a percent.
[[nodiscard]] std::optional<UnsearchedGain> unsearched_gain(const Scenario& scenario,
                                                            const StepResult& step,
                                                            const Abilities& abilities,
                                                            double memory_margin);

/// "searches do not vary layers: where the software can, with --set plan.layers=lighter-ends the
/// plan takes 10.82 s, 8.3 % less, and a search may find a faster one"
[[nodiscard]] std::string unsearched_words(const UnsearchedGain& gain);

}  // namespace titer
