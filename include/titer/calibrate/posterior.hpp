#pragma once
// What measured runs, even one, tell of the figures that predictions of them rest on. Every figure
// has a prior: its value, and how far off it may be by the evidence that it has. The posterior is
// the most probable factor of each by prior and runs together; a figure on which no run bears keeps
// its value and its spread.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "titer/calibrate/least_squares.hpp"
#include "titer/measured/measured_runs.hpp"
#include "titer/scenario/source.hpp"

namespace titer {

/// Whose a figure is. Runs tell of others that have a part of the same name.
enum class FigureOwner : std::uint8_t { stack, chip, cluster };
[[nodiscard]] std::string_view name(FigureOwner owner);

/// Figures of one part of a scenario that runs move together, by one factor.
struct PriorFigure {
  FigureOwner owner{};
  std::string of;      // the part's name, "dgx-h100"
  std::string figure;  // "memory_traffic", "matrix.*.plateau"
  double spread = 0;   // standard deviation of the logarithm of what it may have to be times
  double least = 0;    // of the factor: where the first of them is at its bound
  double most = 0;
};

struct LearnedFigure : PriorFigure {
  double factor = 1;
  double error = 0;  // what is left of `spread`; 0 at a bound
  bool at_bound = false;
};

/// One of the runs, in seconds.
struct LearnedRun {
  std::string name;
  double measured = 0;
  double before = 0;    // predicted by the prior
  double after = 0;     // and by the posterior
  double likeness = 0;  // to what is asked for, 0 to 1
};

/// How much of the model's error two scenarios share, 0 to 1: all of it where they are the same;
/// none where software or chip is another. exp(-D^2 / 2), where D^2 adds up squared ratios of sizes
/// and degrees as logarithms, and one for each choice (model, precision, recomputation, ...) that
/// differs.
[[nodiscard]] double likeness(const Scenario& a, const Scenario& b);

/// Standard deviation of ln(measured / predicted) of runs of one software on one chip, once the
/// figures are as the others of them say; and of that what a run does not share with any other.
inline constexpr double kRunScatter = 0.08;
inline constexpr double kRunNoise = 0.03;

struct Posterior {
  std::vector<LearnedFigure> figures;
  std::vector<double> covariance;  // of the factors' logarithms, row by row
  std::vector<LearnedRun> runs;
  double left = kRunScatter * kRunScatter;  // variance of ln(measured / predicted) besides
};

/// The most probable factors, by least squares of ln(predicted / measured), of which runs that are
/// alike share a part, and of each factor's logarithm / its spread. Where a scenario is asked for,
/// they are those for runs like it: what a neighbour's run is off, it is as well. Else they are
/// those for runs like the given ones on average. A run that is further off than twice the scatter
/// counts by how far, not by its square. Throws InputError for no runs.
[[nodiscard]] Posterior learn(std::span<const MeasuredRun> runs, const Scenario* asked = nullptr);

/// Seconds that a run takes by the figures of the posterior.
[[nodiscard]] double predicted_time(const Posterior& posterior, const MeasuredRun& run);

/// Standard deviations of ln(measured / predicted) of a run like those, without them and with them:
/// the spreads of the figures pushed through the model, and what is left in any case.
struct PredictedSpread {
  double before = 0;
  double after = 0;

  /// Of what was expected; never more than all.
  [[nodiscard]] double left() const { return std::min(1.0, after / before); }
  /// `shares`, where four of five measured times lie without them, as it is with them: never wider.
  [[nodiscard]] ErrorShares narrowed(const ErrorShares& shares) const;
};
[[nodiscard]] PredictedSpread predicted_spread(const Posterior& posterior, const MeasuredRun& run);

}  // namespace titer
