#include "scenario_words.hpp"

#include <fmt/format.h>

namespace titer {

std::string training_words(const Scenario& scenario) {
  return fmt::format("batch {} x {} tokens, {}, gradients {}, {}; stack {}",
                     scenario.training.global_batch,
                     scenario.training.sequence,
                     name(scenario.training.precision),
                     name(scenario.gradient_type()),
                     scenario.training.optimizer.name,
                     scenario.stack.name);
}

}  // namespace titer
