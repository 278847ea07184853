#include "titer/calibrate/calibration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "titer/input/reader.hpp"
#include "titer/measured/statistics.hpp"
#include "titer/units/ensure.hpp"
#include "titer/units/listed.hpp"
#include "titer/units/lists.hpp"

namespace titer {
namespace {

using RowNumbers = std::vector<std::size_t>;

/// The document with values at the figures' paths.
Document with_values(const Document& base,
                     const std::vector<FittedFigure>& figures,
                     std::span<const double> values) {
  Document document = base;
  for (std::size_t i = 0; i < figures.size(); ++i) {
    put_figure(document, figures[i], values[i]);
  }
  return document;
}

/// One problem, fitted on all rows or some.
class Fitter {
 public:
  Fitter(const Document& base,
         const std::vector<FittedFigure>& figures,
         const CalibrationData& data,
         const FitOptions& options)
      : base_(base), figures_(figures), data_(data), options_(options) {}

  [[nodiscard]] std::vector<double> predict(std::span<const double> values,
                                            const RowNumbers& rows) const {
    std::vector<double> predicted(rows.size());
    data_.predict(with_values(base_, figures_, values), rows, predicted);
    return predicted;
  }

  [[nodiscard]] FitResult fit(std::span<const double> start, const RowNumbers& rows) const {
    return fit_least_squares(parameters(start), rows.size(), residuals(rows), options_);
  }

  [[nodiscard]] FitResult describe(std::span<const double> values, const RowNumbers& rows) const {
    return describe_fit(parameters(values), rows.size(), residuals(rows), options_);
  }

  [[nodiscard]] std::vector<double> rounded(std::span<const double> values) const {
    std::vector<double> result;
    for (std::size_t i = 0; i < figures_.size(); ++i) {
      result.push_back(rounded_figure(figures_[i], values[i]));
    }
    return result;
  }

 private:
  [[nodiscard]] std::vector<FitParameter> parameters(std::span<const double> start) const {
    std::vector<FitParameter> result;
    for (std::size_t i = 0; i < figures_.size(); ++i) {
      const FittedFigure& figure = figures_[i];
      result.push_back({figure.path, start[i], figure.least, figure.most});
    }
    return result;
  }

  [[nodiscard]] ResidualFunction residuals(const RowNumbers& rows) const {
    return [this, &rows](std::span<const double> values, std::span<double> residuals) {
      data_.predict(with_values(base_, figures_, values), rows, residuals);
      for (std::size_t i = 0; i < rows.size(); ++i) {
        const double weight = data_.weights.empty() ? 1.0 : data_.weights[rows[i]];
        residuals[i] = std::sqrt(weight) * std::log(residuals[i] / data_.measured[rows[i]]);
      }
    };
  }

  const Document& base_;
  const std::vector<FittedFigure>& figures_;
  const CalibrationData& data_;
  const FitOptions& options_;
};

std::vector<double> starts_of(const std::vector<FittedFigure>& figures) {
  return each_of(figures, &FittedFigure::start);
}

/// Leaves out of `figures` what the data say nothing of, one after the other, the last first: of
/// two that only go together one may be told when the other is held.
FitResult fit_determined(const Document& base,
                         const CalibrationData& data,
                         const FitOptions& options,
                         const RowNumbers& rows,
                         Calibration& into) {
  while (!into.figures.empty()) {
    const Fitter fitter(base, into.figures, data, options);
    FitResult best = fitter.fit(starts_of(into.figures), rows);
    const auto unknown = std::find(best.determined.rbegin(), best.determined.rend(), false);
    if (unknown == best.determined.rend()) {
      return best;
    }
    const auto figure = into.figures.begin() + (best.determined.rend() - unknown - 1);
    into.undetermined.insert(into.undetermined.begin(), std::move(*figure));
    into.figures.erase(figure);
  }
  throw InputError("the data do not determine " + listed(into.undetermined, &FittedFigure::path) +
                   ": expected measurements that change with one of them");
}

/// The rounded start where the data cannot tell it from the best, else the rounded best.
FitResult settled(const Fitter& fitter,
                  const std::vector<double>& start,
                  const std::vector<double>& best,
                  const RowNumbers& rows) {
  constexpr double share = 0.1;  // of what one standard error adds to the cost
  FitResult at_best = fitter.describe(fitter.rounded(best), rows);
  FitResult at_start = fitter.describe(fitter.rounded(start), rows);
  const double rise = at_best.cost_of(at_start.residuals) - at_best.cost_of(at_best.residuals);
  const bool is_as_good = rise <= share * 0.5 * at_best.scale * at_best.scale;
  return is_as_good ? at_start : at_best;
}

template <class Values>
std::vector<double> picked(const Values& values, const RowNumbers& rows) {
  return each_of(rows, [&](std::size_t row) { return values[row]; });
}

/// What each group gets from a fit of the others; empty where those do not determine the figures.
class LeaveOut {
 public:
  LeaveOut(const Fitter& fitter, const CalibrationData& data, const std::vector<double>& start)
      : fitter_(fitter), data_(data), start_(start) {}

  std::optional<Accuracy> without(const RowNumbers& group, const RowNumbers& others) {
    if (others.size() <= start_.size()) {
      return std::nullopt;
    }
    const FitResult fit = fitter_.fit(start_, others);
    const bool is_told = std::ranges::all_of(fit.determined, [](bool told) { return told; });
    if (!is_told) {
      return std::nullopt;
    }
    const std::vector<double> predicted = fitter_.predict(fit.values, group);
    const std::vector<double> measured = picked(data_.measured, group);
    predicted_.insert(predicted_.end(), predicted.begin(), predicted.end());
    rows_.insert(rows_.end(), group.begin(), group.end());
    return accuracy_of(measured, predicted);
  }

  /// Of the rows() that were left out once; of a small part of them it says little.
  [[nodiscard]] std::optional<Accuracy> all() const {
    return 2 * rows_.size() < data_.measured.size()
               ? std::nullopt
               : std::optional(accuracy_of(picked(data_.measured, rows_), predicted_));
  }
  [[nodiscard]] const RowNumbers& rows() const { return rows_; }

 private:
  const Fitter& fitter_;
  const CalibrationData& data_;
  const std::vector<double>& start_;
  std::vector<double> predicted_;
  RowNumbers rows_;
};

/// The rows that were left out once.
RowNumbers add_groups(const Fitter& fitter,
                      const CalibrationData& data,
                      const CalibrationOptions& options,
                      Calibration& result) {
  const std::set<std::string> names(data.groups.begin(), data.groups.end());
  LeaveOut leave_out(fitter, data, result.fit.values);
  std::size_t done = 1;
  for (const std::string& name : names) {
    RowNumbers group;
    RowNumbers others;
    for (std::size_t row = 0; row < data.groups.size(); ++row) {
      (data.groups[row] == name ? group : others).push_back(row);
    }
    GroupAccuracy accuracy{
        .name = name,
        .fitted = accuracy_of(picked(data.measured, group), picked(result.predicted, group))};
    if (options.leave_out && names.size() > 1) {
      accuracy.left_out = leave_out.without(group, others);
      if (options.watch) {
        options.watch(++done, names.size() + 1);
      }
    }
    result.groups.push_back(std::move(accuracy));
  }
  result.left_out = leave_out.all();
  return leave_out.rows();
}

/// `judged`: the accuracy that counts, and the base's of the same rows.
void add_objections(const Accuracy& judged, const Accuracy& base, bool moved, Calibration& result) {
  const std::string_view where = result.left_out ? " on groups left out" : "";
  if (moved && judged.mean >= base.mean) {
    result.objections.push_back(fmt::format(
        "it is no better than what it starts from: mean error {:.1f} %{}, before {:.1f} %",
        100.0 * judged.mean,
        where,
        100.0 * base.mean));
  }
  const double p90 = std::max(judged.p90, result.fitted.p90);
  if (p90 > kMostError) {
    result.objections.push_back(
        fmt::format("a tenth of the rows is off by more than {:.1f} %{}, expected at most {:.0f} %",
                    100.0 * p90,
                    p90 > result.fitted.p90 ? where : "",
                    100.0 * kMostError));
  }
  const auto& at_bound = result.fit.at_bound;
  if (std::ranges::all_of(at_bound, [](bool held) { return held; })) {
    result.objections.emplace_back("every figure ends at a bound, where the data would go further");
  }
}

std::optional<Accuracy> datasheet_accuracy(const Fitter& fitter,
                                           const std::vector<FittedFigure>& figures,
                                           const CalibrationData& data,
                                           const RowNumbers& rows) {
  std::vector<double> neutral;
  for (const FittedFigure& figure : figures) {
    if (!figure.neutral) {
      return std::nullopt;
    }
    neutral.push_back(*figure.neutral);
  }
  return accuracy_of(data.measured, fitter.predict(neutral, rows));
}

}  // namespace

Accuracy accuracy_of(std::span<const double> measured, std::span<const double> predicted) {
  ensure(measured.size() == predicted.size() && !measured.empty(), "a prediction of every row");
  std::vector<double> errors;
  std::vector<double> sizes;
  std::vector<double> logs;
  std::vector<double> ratios;
  for (std::size_t i = 0; i < measured.size(); ++i) {
    const double ratio = predicted[i] / measured[i];
    errors.push_back(ratio - 1.0);
    sizes.push_back(std::abs(ratio - 1.0));
    logs.push_back(std::log(ratio));
    ratios.push_back(1.0 / ratio);
  }
  const double centre = mean_of(logs);
  for (double& log : logs) {
    log = (log - centre) * (log - centre);
  }
  return {.rows = measured.size(),
          .bias = mean_of(errors),
          .median = percentile(sizes, 0.5),
          .mean = mean_of(sizes),
          .p90 = percentile(sizes, 0.9),
          .most = *std::ranges::max_element(sizes),
          .sigma = std::sqrt(mean_of(logs)),
          .q10 = percentile(ratios, 0.1),
          .q90 = percentile(ratios, 0.9)};
}

Calibration calibrate(const Document& base,
                      const std::vector<FittedFigure>& figures,
                      const CalibrationData& data,
                      const CalibrationOptions& options) {
  if (figures.empty()) {
    throw InputError("nothing to fit: expected --fit with the path of a figure");
  }
  RowNumbers rows(data.measured.size());
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  Calibration result;
  result.figures = figures;
  const FitResult best = fit_determined(base, data, options.fit, rows, result);
  const Fitter fitter(base, result.figures, data, options.fit);
  const std::vector<double> start = starts_of(result.figures);
  result.fit = settled(fitter, start, best.values, rows);
  result.fit.iterations = best.iterations;
  result.fit.converged = best.converged;
  const std::vector<double> before = fitter.predict(start, rows);
  result.predicted = fitter.predict(result.fit.values, rows);
  result.base = accuracy_of(data.measured, before);
  result.fitted = accuracy_of(data.measured, result.predicted);
  result.datasheet = datasheet_accuracy(fitter, result.figures, data, rows);
  if (options.watch) {
    options.watch(1, std::set<std::string>(data.groups.begin(), data.groups.end()).size() + 1);
  }
  const RowNumbers held_out = add_groups(fitter, data, options, result);
  const Accuracy base_held_out =
      result.left_out ? accuracy_of(picked(data.measured, held_out), picked(before, held_out))
                      : result.base;
  const bool moved = result.fit.values != fitter.rounded(start);
  add_objections(result.left_out.value_or(result.fitted), base_held_out, moved, result);
  return result;
}

}  // namespace titer
