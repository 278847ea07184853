#pragma once
// Figures of our own data files fitted to measurements. A figure is a path into a JSON document,
// and a prediction reads the document again with other values at those paths, so that whatever can
// be written in a file can be fitted.

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "titer/calibrate/least_squares.hpp"
#include "titer/input/document.hpp"

namespace titer {

/// A figure of a document: its path without ".value", its unit's name ("s", "B", "FLOP", "B/s",
/// "FLOP/s"; "" for a plain number), and values in it.
struct FittedFigure {
  std::string path;
  std::string unit;
  double start = 0;  // what the document says
  double least = 0;
  double most = 0;
  std::optional<double> neutral{};  // without any fit: of a data sheet that knows of no loss
  std::vector<std::string> same{};  // further paths that take its value
};

/// The figure at a path with its usual bounds, or those of `text`: "path=least:most", each as the
/// file writes it ("launch_floor=1 us:10 us"). Throws InputError for a path that is not in the
/// document, a value that is no figure, or bounds that exclude it.
[[nodiscard]] FittedFigure fitted_figure(const Document& document, std::string_view text);
/// Puts the value there, as the file would write it.
void put_figure(Document& document, const FittedFigure& figure, double value);
/// The value to four significant digits, as files write it: "2.9 us", "0.725".
[[nodiscard]] Value written_figure(const FittedFigure& figure, double value);
/// The number that reads back from there.
[[nodiscard]] double rounded_figure(const FittedFigure& figure, double value);

/// Measurements, and how a document predicts them.
struct CalibrationData {
  std::string what;                 // "gemm and attention kernels", for the evidence
  std::vector<std::string> files;   // the names that it came from
  std::string range;                // of the sizes measured: "1e6 to 2e13 FLOP"
  std::vector<double> measured;     // seconds, all above 0
  std::vector<std::string> groups;  // of each row: what is left out together
  std::vector<double> weights{};    // of each row, as if it were there so often; empty: 1
  std::size_t skipped = 0;          // rows that could not be used
  bool of_steps = false;            // whole iterations, so that errors are an answer's own
  // Seconds of the rows with these numbers. Throws InputError where the document is wrong.
  std::function<void(const Document&, std::span<const std::size_t> rows, std::span<double>)>
      predict;
};

/// Of predicted over measured. The quantiles are of measured / predicted, so that four of five
/// measurements lie between q10 and q90 times a prediction.
struct Accuracy {
  std::size_t rows = 0;
  double bias = 0;    // mean of predicted / measured - 1
  double median = 0;  // of |predicted / measured - 1|, like the next three
  double mean = 0;
  double p90 = 0;
  double most = 0;
  double sigma = 0;  // standard deviation of ln(predicted / measured)
  double q10 = 1;
  double q90 = 1;
};
[[nodiscard]] Accuracy accuracy_of(std::span<const double> measured,
                                   std::span<const double> predicted);

struct GroupAccuracy {
  std::string name;
  Accuracy fitted;
  std::optional<Accuracy> left_out{};  // fitted on the other groups only
};

struct Calibration {
  std::vector<FittedFigure> figures;
  std::vector<FittedFigure> undetermined;  // which the data do not tell: as the base has them
  FitResult fit;                           // at the values as they are written, rounded
  Accuracy base;                           // before the fit, of all rows
  Accuracy fitted;
  std::optional<Accuracy> left_out;   // each row by a fit without its group; of two groups or more
  std::optional<Accuracy> datasheet;  // at the neutral values, where every figure has one
  std::vector<GroupAccuracy> groups;  // by name
  std::vector<double> predicted;      // of every row, by the fit
  // Why the fit as a whole is no evidence; none: it is. No better than the base on groups left out
  // (in sample where none is), more than a tenth of the rows off by more than kMostError there or
  // in sample, or every figure at a bound.
  std::vector<std::string> objections;

  [[nodiscard]] bool is_sound() const { return objections.empty(); }
  /// Whether this figure's value comes from the data: of a sound fit, and not at its bound.
  [[nodiscard]] bool is_told(std::size_t figure) const {
    return is_sound() && !fit.at_bound[figure];
  }
};
inline constexpr double kMostError = 0.3;

struct CalibrationOptions {
  FitOptions fit{};
  bool leave_out = true;
  std::function<void(std::size_t done, std::size_t all)> watch{};  // fits done
};

/// Least squares of ln(predicted / measured). A start that the data cannot tell from the best (by
/// a hundredth of what one standard error adds) is kept, so that fitting again changes nothing.
/// Figures that the data do not determine are left out, the last first. Throws InputError for too
/// few rows, and where the data determine none of the figures.
[[nodiscard]] Calibration calibrate(const Document& base,
                                    const std::vector<FittedFigure>& figures,
                                    const CalibrationData& data,
                                    const CalibrationOptions& options = {});

/// What says where a fitted figure comes from.
struct CalibrationLabel {
  std::string name;    // of the new data; empty: the base's
  std::string source;  // of the measurements, before all else in the figures' source; may be empty
  std::string date;    // YYYY-MM-DD; empty: none was given
};

/// The base with the fitted values, each with a source "measured_calibration", or
/// "assumed_calibration" where the data do not tell it, a member "error_bars" of at least what the
/// fit leaves open, and a member "calibration" with the evidence. Sources that no figure names any
/// more are left out.
[[nodiscard]] Document calibrated_document(const Document& base,
                                           const Calibration& calibration,
                                           const CalibrationData& data,
                                           const CalibrationLabel& label);

}  // namespace titer
