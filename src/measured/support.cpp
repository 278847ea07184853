#include "titer/measured/support.hpp"

#include <cmath>
#include <map>

#include "titer/measured/statistics.hpp"
#include "titer/units/lists.hpp"

namespace titer {

Combination combination_of(const Scenario& scenario) {
  return {.model = std::string(scenario.kind()),
          .chip = scenario.cluster.chip.name,
          .stack = scenario.stack.name,
          .precision = std::string(name(scenario.training.precision))};
}

std::vector<SupportCell> support_cells(std::span<const Comparison> rows) {
  std::map<Combination, std::vector<double>> errors;
  for (const Comparison& row : rows) {
    if (const auto error = row.relative_error(); error && !row.precision.empty()) {
      errors[{row.model, row.chip_name, row.stack_name, row.precision}].push_back(*error);
    }
  }
  std::vector<SupportCell> cells;
  for (const auto& [combination, signed_errors] : errors) {
    const std::vector<double> sizes =
        each_of(signed_errors, [&](const double error) { return std::abs(error); });
    cells.push_back({.combination = combination,
                     .runs = sizes.size(),
                     .mean_error = mean_of(sizes),
                     .bias = mean_of(signed_errors)});
  }
  return cells;
}

}  // namespace titer
