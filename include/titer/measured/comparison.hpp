#pragma once
// A measured figure beside the prediction of it, whatever it is of: a training run, a collective, a
// kernel.

#include <optional>
#include <string>

namespace titer {

/// Where four of five measurements are expected to be.
struct Interval {
  double low = 0;
  double high = 0;
};

/// One row of a dataset. Times in seconds, memory in bytes. Without a prediction it was skipped.
struct Comparison {
  std::string case_id;
  std::string family;
  std::string chip;
  std::string stack;
  std::string grade;  // of the row, as its dataset says
  // Rows that differ in what a user may choose (plan, micro-batch) and in nothing else have the
  // same; empty: no other row is like this one.
  std::string sweep;
  std::string plan{};  // what its plan is, of those of one sweep
  std::optional<double> measured{};
  std::optional<double> predicted{};
  std::optional<Interval> interval{};
  std::optional<double> memory_measured{};
  std::optional<double> memory_predicted{};
  std::optional<double> peak{};  // predicted, of all that a device holds, whatever was measured
  std::optional<bool> fits{};    // in its memory
  std::string skip_reason{};     // empty: time or memory predicted
  // Of runs that were predicted, as the scenario has it: the kind of model, shipped names.
  std::string model{};
  std::string chip_name{};
  std::string stack_name{};
  std::string precision{};

  /// predicted / measured - 1; empty where either is.
  [[nodiscard]] std::optional<double> relative_error() const {
    if (!measured || !predicted) {
      return std::nullopt;
    }
    return *predicted / *measured - 1.0;
  }
};

}  // namespace titer
