#pragma once
// The knobs that a run has, and what each can be set to.

#include <string>
#include <vector>

#include "titer/input/document.hpp"
#include "titer/scenario/scenario.hpp"

namespace titer {

/// One setting of a knob. The first of the ways that is sound counts: others take along what the
/// knob is tied to, such as fewer virtual stages with more stages.
struct KnobSetting {
  std::string knob;
  std::vector<std::vector<Assignment>> ways;
  bool same_numbers = true;
};

/// All but what the run has already, or what has no effect in it.
[[nodiscard]] std::vector<KnobSetting> knob_settings(const Scenario& scenario);

/// What a run has at a path that a knob leads to: of the plan what it leaves to the stack, too.
[[nodiscard]] Value knob_value(const Scenario& scenario, const std::string& path);

}  // namespace titer
