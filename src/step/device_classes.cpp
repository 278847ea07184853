#include "titer/step/device_classes.hpp"

#include <algorithm>

#include "titer/units/ensure.hpp"

namespace titer {

std::size_t class_count(const Scenario& scenario) { return scenario.conditions.chips.size() + 1; }

Scenario class_scenario(const Scenario& scenario, std::size_t chip_class) {
  ensure(chip_class < class_count(scenario), "a class is of a chip of the scenario");
  Scenario seen = scenario;
  if (chip_class > 0) {
    seen.cluster.chip = scenario.conditions.chips[chip_class - 1];
  }
  return seen;
}

std::vector<StepCosts> class_costs(const Scenario& scenario) {
  std::vector<StepCosts> costs(class_count(scenario));
  for (std::size_t i = 0; i < costs.size(); ++i) {
    step_costs(class_scenario(scenario, i), costs[i]);
  }
  return costs;
}

std::vector<std::size_t> classes_of(const Conditions& conditions,
                                    const World& world,
                                    std::span<const StepCosts> costs) {
  std::vector<std::size_t> classes(world.ranks().size(), 0);
  if (conditions.chips.empty()) {
    return classes;
  }
  const auto slower = [&](std::size_t one, std::size_t other) {
    const auto pass_time = [&](std::size_t chip_class) {
      const BlockCost& layer = costs[chip_class].kinds.front();
      return layer.forward.compute + layer.backward.compute;
    };
    return pass_time(one) > pass_time(other);
  };
  std::vector<std::optional<std::size_t>> slowest(world.semaphores());
  for (std::size_t rank = 0; rank < classes.size(); ++rank) {
    auto& of_group = slowest[world.semaphore(rank, Post::tensor)];
    const std::size_t own = conditions.chip_class(static_cast<std::int64_t>(rank));
    of_group = !of_group || slower(own, *of_group) ? own : *of_group;
  }
  for (std::size_t rank = 0; rank < classes.size(); ++rank) {
    classes[rank] = *slowest[world.semaphore(rank, Post::tensor)];
  }
  return classes;
}

std::vector<std::int64_t> class_sizes(const Scenario& scenario) {
  std::vector<std::int64_t> sizes(class_count(scenario), 0);
  sizes[0] = scenario.plan.devices();
  for (const DeviceCondition& condition : scenario.conditions.devices) {
    if (condition.chip) {
      const std::int64_t count = condition.last - condition.first + 1;
      sizes[*condition.chip + 1] += count;
      sizes[0] -= count;
    }
  }
  return sizes;
}

FlopsPerSecond mean_peak(const Scenario& scenario) {
  const DataType type = scenario.training.precision;
  const FlopsPerSecond usual = scenario.cluster.chip.rate(type)->peak;
  if (scenario.conditions.chips.empty()) {
    return usual;
  }
  const std::vector<std::int64_t> sizes = class_sizes(scenario);
  FlopsPerSecond sum = static_cast<double>(sizes[0]) * usual;
  for (std::size_t i = 1; i < sizes.size(); ++i) {
    sum += static_cast<double>(sizes[i]) * scenario.conditions.chips[i - 1].rate(type)->peak;
  }
  return sum / static_cast<double>(scenario.plan.devices());
}

Bytes least_memory(const Scenario& scenario) {
  const Bytes usual = scenario.cluster.chip.memory.capacity;
  if (scenario.conditions.chips.empty()) {
    return usual;
  }
  const std::vector<std::int64_t> sizes = class_sizes(scenario);
  std::optional<Bytes> least = sizes[0] > 0 ? std::optional(usual) : std::nullopt;
  for (std::size_t i = 1; i < sizes.size(); ++i) {
    const Bytes capacity = scenario.conditions.chips[i - 1].memory.capacity;
    if (sizes[i] > 0) {
      least = least ? std::min(*least, capacity) : capacity;
    }
  }
  ensure(least.has_value(), "some chip has devices");
  return *least;
}

}  // namespace titer
