#pragma once
// How far predictions are off, of all rows of a dataset and of groups of them.

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "titer/measured/comparison.hpp"

namespace titer {

/// REQUIRES a sample.
[[nodiscard]] double mean_of(std::span<const double> samples);
/// The value below which a share of the samples lies. Of sorted samples x[0] … x[n-1] it is read at
/// the position (n-1) share, between neighbours in proportion: 0.5 of {1, 2, 4, 8} is 3.
/// REQUIRES a sample, and a share from 0 to 1.
[[nodiscard]] double percentile(std::vector<double> samples, double share);

/// Spearman's rank correlation: Pearson's of the ranks, where equal values share the mean of
/// theirs. Empty for fewer than two values, or where all of one side are equal. REQUIRES as many of
/// one as of the other.
[[nodiscard]] std::optional<double> rank_correlation(std::span<const double> one,
                                                     std::span<const double> other);

/// What became of a figure in some rows. Errors are shares of what was measured: 0.1 is 10 %; e is
/// predicted / measured - 1. What no row tells is absent.
struct ErrorStatistics {
  std::size_t n = 0;                      // rows with the figure both measured and predicted
  std::size_t skipped = 0;                // the others
  std::optional<double> bias{};           // mean of e
  std::optional<double> median_signed{};  // of e
  std::optional<double> median{};         // of |e|, as the next ones
  std::optional<double> mean{};
  std::optional<double> p90{};
  std::optional<double> most{};

  // Of rows of the same sweep, where it has three or more: correlations and regrets of the sweeps,
  // averaged. Regret: how much longer than the best measured one the row takes that is predicted
  // fastest (of several, their mean).
  std::size_t sweeps = 0;
  std::optional<double> spearman{};
  std::optional<double> regret{};

  // Of the rows with an interval, the share of those whose measured figure lies in it.
  std::optional<double> coverage80{};
};

struct SkipReason {
  std::string reason;
  std::size_t rows = 0;
};

struct GroupStatistics {
  std::string name;
  ErrorStatistics time;
  ErrorStatistics memory;           // skipped: of the rows whose memory was measured
  std::vector<SkipReason> reasons;  // why times were skipped, the most frequent first
};

/// What rows are grouped by.
enum class GroupBy { all, family, chip, stack };

/// "not stated" where the row does not say.
[[nodiscard]] std::string group_name(const Comparison& row, GroupBy by);

/// Why the row has no error of its time; empty where it has one.
[[nodiscard]] std::string skip_reason(const Comparison& row);

/// First of all rows, by the name "all"; then of each group, by name.
/// REQUIRES measured figures above zero.
[[nodiscard]] std::vector<GroupStatistics> group_statistics(std::span<const Comparison> rows,
                                                            GroupBy by);

}  // namespace titer
