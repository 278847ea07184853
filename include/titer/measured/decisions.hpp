#pragma once
// Whether predictions choose as measurements would: plans of rows that differ in what a user may
// choose (plan, micro-batch) and in nothing else, put in order.

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "titer/measured/comparison.hpp"

namespace titer {

/// A sweep needs so many plans: of fewer every order is right too often.
inline constexpr std::size_t kLeastOfDecision = 4;
/// Times nearer to one another than this share of the shorter one are no order: runs are repeated
/// no better.
inline constexpr double kToldApart = 0.05;

/// What became of one sweep: rows of one model, machine, cluster size and batch.
struct SweepDecision {
  std::string family;
  std::string chip;
  std::size_t rows = 0;   // with a time both measured and predicted
  std::size_t plans = 0;  // of these rows: what was measured again says nothing of a choice
  std::size_t pairs = 0;  // of plans whose measured times are told apart
  double right = 0;       // of these pairs, in that order as predicted; a tie is half of one
  std::string chosen;     // a row of the plan that is predicted fastest
  std::string best;       // of the one that was
  double regret = 0;      // measured time of the chosen over that of the best, less 1

  /// Kendall's rank correlation over the pairs: 1 where all are in order, -1 where none is; none
  /// where no two are told apart.
  [[nodiscard]] std::optional<double> kendall() const;
};

/// Every sweep of kLeastOfDecision plans or more, in the order in which its first row comes. A plan
/// that was measured several times took the mean of them.
[[nodiscard]] std::vector<SweepDecision> sweep_decisions(std::span<const Comparison> rows);

/// Of all sweeps together: rows, plans, pairs and those in order are added up, and `regret` is the
/// mean.
[[nodiscard]] SweepDecision all_decisions(std::span<const SweepDecision> sweeps);

}  // namespace titer
