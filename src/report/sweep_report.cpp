#include "titer/report/sweep_report.hpp"

#include "titer/report/step_report.hpp"

namespace titer {
namespace {

std::string cell(const Value& value) {
  return value.kind == Value::Kind::text ? value.text : to_json(value, 0);
}

}  // namespace

std::string sweep_csv_header(const Sweep& sweep) {
  Row row;
  for (const Axis& axis : sweep.axes) {
    row.push_back(axis.path);
  }
  row.emplace_back("status");
  const Row columns = result_columns();
  row.insert(row.end(), columns.begin(), columns.end());
  row.emplace_back("reason");
  return csv_line(row);
}

std::string sweep_csv_row(const Sweep& sweep, const SweepPoint& point) {
  Row row;
  const std::vector<std::size_t> at = sweep.indices(point.index);
  for (std::size_t i = 0; i < at.size(); ++i) {
    row.push_back(cell(sweep.axes[i].values[at[i]]));
  }
  row.emplace_back(name(point.status));
  const bool has_result = point.status != PointStatus::invalid;
  const Row cells = has_result ? result_cells(point.result) : no_result_cells();
  row.insert(row.end(), cells.begin(), cells.end());
  row.push_back(point.reason);
  return csv_line(row);
}

}  // namespace titer
