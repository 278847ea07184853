#pragma once
// What-if: one scenario, varied along axes. Every combination is one row; the first axis varies
// slowest. Rows come in that order whatever the number of threads.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "titer/step/evaluate.hpp"
#include "titer/step/source.hpp"

namespace titer {

/// The values that one path of the scenario takes.
struct Axis {
  std::string path;
  std::vector<Value> values;
};

struct Sweep {
  ScenarioSource base;
  std::vector<Axis> axes;

  /// The product of the axes' lengths.
  [[nodiscard]] std::size_t points() const;
  /// The index into each axis of point `point`.
  [[nodiscard]] std::vector<std::size_t> indices(std::size_t point) const;
};

/// {"scenario": NAME|FILE|{…}, "axes": {"plan.tensor": [1, 2, 4], "training.global_batch":
/// {"from": 64, "to": 512, "step": 64}}}. A range has a "step" or a "factor", and a "unit" where
/// its values are quantities. Throws InputError.
[[nodiscard]] Sweep load_sweep(std::string_view name_or_file);

enum class PointStatus { ok, out_of_memory, invalid };
[[nodiscard]] std::string_view name(PointStatus status);

/// One row: what became of a point. `result` holds for ok and out_of_memory.
struct SweepPoint {
  std::size_t index = 0;
  PointStatus status = PointStatus::invalid;
  std::string reason;  // why it is invalid, or what fills the memory
  StepResult result;
};

/// Computes points, one at a time; each thread has its own.
class SweepWorker {
 public:
  SweepWorker(const Sweep& sweep, Fidelity fidelity);
  void compute(std::size_t point, SweepPoint& into);

 private:
  void read_scenario(std::size_t point);
  [[nodiscard]] bool read_changes(const std::vector<std::size_t>& at);
  void put(std::size_t axis, std::size_t value);

  const Sweep* sweep_;
  Fidelity fidelity_;
  Estimator estimator_;
  // The scenario of the point before: only what differs is put in and read again.
  bool sound_ = false;  // false: start again from the base
  ScenarioSource source_;
  Scenario scenario_;
  std::vector<std::size_t> at_;
};

}  // namespace titer
