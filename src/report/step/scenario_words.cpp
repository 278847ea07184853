#include "scenario_words.hpp"

#include <fmt/format.h>

#include "titer/search/search.hpp"

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

std::string memory_margin_words(double margin) {
  if (margin == 0) {
    return fmt::format("no memory kept free, though predicted memory is {:.0f} % off on average",
                       100 * kMemoryError);
  }
  return fmt::format("keeps {:.3g} % of memory free{}",
                     100 * margin,
                     margin == kMemoryError ? ", the error of predicted memory" : "");
}

}  // namespace titer
