#include "titer/measured/support.hpp"

#include <cmath>
#include <map>

#include "titer/measured/statistics.hpp"
#include "titer/scenario/source.hpp"
#include "titer/units/lists.hpp"

namespace titer {
namespace {

constexpr std::string_view kSupportFile = "configs/support.csv";

}  // namespace

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

std::vector<SupportCell> read_support(const CsvTable& table) {
  constexpr double most = 1e9;
  Problems problems;
  std::vector<SupportCell> cells;
  const auto number = [&](std::size_t row, std::string_view column, double least) {
    const auto value = table.maybe_number(row, column, least, most, problems);
    if (!value) {
      problems.add(table.where(row, column) + ": expected a number");
    }
    return value.value_or(0.0);
  };
  for (std::size_t row = 0; row < table.rows(); ++row) {
    const auto text = [&](std::string_view column) { return std::string(table.text(row, column)); };
    cells.push_back({.combination = {.model = text("model"),
                                     .chip = text("chip"),
                                     .stack = text("stack"),
                                     .precision = text("precision")},
                     .runs = static_cast<std::size_t>(number(row, "runs", 1)),
                     .mean_error = number(row, "mean_error_pct", 0) / 100.0,
                     .bias = number(row, "bias_pct", -100) / 100.0});
  }
  problems.raise();
  return cells;
}

std::vector<SupportCell> shipped_support() {
  return read_support(CsvTable::load(data_root() / kSupportFile));
}

}  // namespace titer
