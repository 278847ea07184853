#include "titer/plan/measured_support.hpp"

#include <filesystem>

#include "titer/input/shipped_data.hpp"

namespace titer {

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
  const std::filesystem::path file = data_root() / "configs/support.csv";
  std::error_code ignored;
  return std::filesystem::exists(file, ignored) ? read_support(CsvTable::load(file))
                                                : std::vector<SupportCell>{};
}

}  // namespace titer
