#include "titer/sweep/sweep_point.hpp"

#include "sweep_reading.hpp"
#include "titer/scenario/command_text.hpp"
#include "titer/units/shell_word.hpp"

namespace titer {
std::vector<Assignment> point_assignments(const Sweep& sweep, std::size_t point) {
  const std::vector<std::size_t> at = sweep.indices(point);
  std::vector<Assignment> assignments;
  for (std::size_t i = 0; i < at.size(); ++i) {
    assignments.push_back(axis_assignment(sweep.axes[i], at[i]));
  }
  SweepRules rules(sweep);
  static_cast<void>(rules.move_to(at));
  for (std::size_t i = 0; i < sweep.derived.size(); ++i) {
    if (scenario_part(sweep.derived[i].name)) {
      assignments.push_back(derived_assignment(sweep.derived[i], rules.derived(i)));
    }
  }
  return assignments;
}

std::string run_command_of(const Sweep& sweep,
                           std::size_t point,
                           std::optional<Fidelity> fidelity) {
  std::string text = "titer run " + shell_word(sweep.scenario);
  text += set_options(point_assignments(sweep, point));
  if (fidelity) {
    text += " --fidelity ";
    text += kFidelities[static_cast<std::size_t>(*fidelity)].name;
  }
  return text;
}

}  // namespace titer
