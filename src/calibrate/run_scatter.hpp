#pragma once
// How far measured runs are off whatever the figures are, and how much of it runs that are alike
// have in common: a model that is wrong about one run is as wrong about its neighbours [Kennedy &
// O'Hagan 2001, a discrepancy with a Gaussian covariance].

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "titer/measured/measured_runs.hpp"

namespace titer {

/// Of ln(predicted / measured) of some runs, less the error of what is asked for: what its
/// neighbours tell holds for it. Where nothing is, less their own on average.
class RunScatter {
 public:
  /// `first` to last: in which order runs are told apart; those that may be outliers last.
  RunScatter(std::span<const MeasuredRun> runs,
             std::span<const std::size_t> order,
             const Scenario* asked);
  ~RunScatter();

  /// Made independent of one another, in their standard deviations; in place.
  void standardise(std::span<double> logarithms) const;
  /// Variance of the error of what is asked for that the runs leave, its own noise with it.
  [[nodiscard]] double left() const { return left_; }

 private:
  struct Factor;
  std::unique_ptr<Factor> factor_;  // of the covariance
  std::vector<std::size_t> order_;
  double left_ = 0;
};

}  // namespace titer
