#include "sweep_software.hpp"

#include "sweep_reading.hpp"
#include "titer/scenario/notes.hpp"

namespace titer {

SweepSoftware::SweepSoftware(const Sweep& sweep) : sweep_(&sweep) {
  for (std::size_t i = 0; i < sweep.axes.size(); ++i) {
    if (scenario_part(sweep.axes[i].path) == ScenarioPart::stack) {
      axes_.push_back(i);
    }
  }
}

const Abilities& SweepSoftware::abilities(std::span<const std::size_t> at) {
  key_.clear();
  for (const std::size_t axis : axes_) {
    key_.push_back(at[axis]);
  }
  const auto known = known_.find(key_);
  if (known != known_.end()) {
    return known->second;
  }
  ScenarioSource source = sweep_->base;
  for (const std::size_t axis : axes_) {
    source.assign(axis_assignment(sweep_->axes[axis], at[axis]));
  }
  return known_[key_] = software_abilities(source);
}

}  // namespace titer
