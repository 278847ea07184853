#include "titer/estimate/device_classes.hpp"

#include <algorithm>
#include <functional>

#include "titer/units/ensure.hpp"

namespace titer {
namespace {

std::size_t chip_count(const Scenario& scenario) { return scenario.conditions.chips.size() + 1; }

}  // namespace

std::size_t class_count(const Scenario& scenario) {
  const Plan& plan = scenario.plan;
  return chip_count(scenario) * plan.batch_shares.sizes(plan.micro_batch).size();
}

Scenario class_scenario(const Scenario& scenario, std::size_t of_class) {
  ensure(of_class < class_count(scenario), "a class is one of the scenario's");
  Scenario seen = scenario;
  const std::size_t chip = of_class % chip_count(scenario);
  if (chip > 0) {
    seen.cluster.chip = scenario.conditions.chips[chip - 1];
  }
  Plan& plan = seen.plan;
  plan.micro_batch =
      scenario.plan.batch_shares.sizes(plan.micro_batch)[of_class / chip_count(scenario)];
  plan.batch_shares = {};
  seen.training.global_batch = scenario.micro_batches() * plan.micro_batch * plan.data;
  return seen;
}

std::vector<std::size_t> first_classes(const Scenario& scenario) {
  const Plan& plan = scenario.plan;
  const auto sizes = plan.batch_shares.sizes(plan.micro_batch);
  std::vector<std::size_t> classes;
  for (const std::int64_t own : plan.batch_shares.by_rank(plan.micro_batch, plan.data)) {
    const auto found = std::ranges::lower_bound(sizes, own, std::greater<>());
    classes.push_back(static_cast<std::size_t>(found - sizes.begin()) * chip_count(scenario));
  }
  return classes;
}

std::vector<StepCosts> class_costs(const Scenario& scenario) {
  std::vector<StepCosts> costs(class_count(scenario));
  for (std::size_t i = 0; i < costs.size(); ++i) {
    step_costs(class_scenario(scenario, i), costs[i]);
  }
  return costs;
}

std::vector<std::int64_t> chip_counts(const Scenario& scenario) {
  std::vector<std::int64_t> sizes(chip_count(scenario), 0);
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
  const std::vector<std::int64_t> sizes = chip_counts(scenario);
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
  const std::vector<std::int64_t> sizes = chip_counts(scenario);
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
