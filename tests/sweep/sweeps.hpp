#pragma once
// Sweeps for tests, and the evaluation of a point that shares nothing with the one before.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "report/results.hpp"
#include "titer/sweep/sweep.hpp"

namespace titer::testing {

/// A small model on one node, with room for degrees up to 8.
inline constexpr std::string_view kSmallScenario = R"({
  "model": "megatron-1.7b",
  "cluster": "dgx-a100-80gb",
  "plan": {"tensor": 2},
  "training": {"global_batch": 32, "sequence": 2048, "precision": "bf16"}})";

/// `values` is a JSON array.
inline Axis axis(std::string path, std::string_view values) {
  return {.path = std::move(path), .values = parse_json(values, "axis").root.items};
}

inline Sweep sweep_of(std::string_view scenario, std::vector<Axis> axes) {
  return {.base = ScenarioSource(parse_json(scenario, "run.json")), .axes = std::move(axes)};
}

/// A sweep of the small scenario, as its file would say it: `rest` is `"axes": {…}` and more.
inline Sweep read_small_sweep(std::string_view rest) {
  return read_sweep(
      parse_json(R"({"scenario": )" + std::string(kSmallScenario) + ", " + std::string(rest) + "}",
                 "sweep.json"));
}

/// Everything about a point, as one text.
inline std::string row_of(const SweepPoint& point) {
  Row row = {std::to_string(point.index), std::string(name(point.status)), point.reason};
  const Row cells = has_result(point.status) ? result_cells(point.result) : no_result_cells();
  row.insert(row.end(), cells.begin(), cells.end());
  return csv_line(row);
}

/// The problems of a point's scenario, on one line.
inline std::string one_line(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) {
    text += (text.empty() ? "" : "; ") + line;
  }
  return text;
}

/// The scenario of a point: the base with every axis put in, in order.
inline Scenario scenario_of(const Sweep& sweep, std::size_t point) {
  ScenarioSource source = sweep.base;
  const std::vector<std::size_t> at = sweep.indices(point);
  for (std::size_t i = 0; i < at.size(); ++i) {
    const Axis& varied = sweep.axes[i];
    source.assign({varied.path, varied.values[at[i]], "axis " + varied.path});
  }
  Scenario scenario;
  source.read_unchecked(scenario);
  return scenario;
}

/// The point from scratch: base, every axis, one reading, one evaluation as `titer run` does it.
inline SweepPoint fresh_point(const Sweep& sweep, std::size_t point) {
  SweepPoint fresh{.index = point, .status = PointStatus::invalid, .reason = {}, .result = {}};
  try {
    const Scenario scenario = scenario_of(sweep, point);
    std::vector<std::string> problems;
    for (const Violation& violation : validate(scenario)) {
      problems.push_back(violation.text());
    }
    if (!problems.empty()) {
      throw InputError(problems);
    }
    Estimator estimator;
    evaluate(scenario, usual_fidelity(scenario), estimator, fresh.result);
    fresh.status = fresh.result.fits() ? PointStatus::ok : PointStatus::out_of_memory;
    fresh.reason = fresh.result.fits() ? "" : memory_sentence(fresh.result);
  } catch (const InputError& error) {
    fresh.reason = one_line(error.lines);
  }
  return fresh;
}

}  // namespace titer::testing
