// A calibration as the data file that it makes: the base with other values, and their evidence.

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "calibration_sources.hpp"
#include "titer/hardware/figure_sources.hpp"
#include "titer/hardware/fit_errors.hpp"
#include "titer/input/reader.hpp"
#include "titer/units/listed.hpp"
#include "titer/units/number_text.hpp"

namespace titer {
namespace {

constexpr std::string_view kSource = "measured_calibration";
// Of a value that is not told by the data: results that rest on it are extrapolated.
constexpr std::string_view kAssumed = "assumed_calibration";

/// Four significant digits: the last bits of a sum are nobody's evidence.
Value rounded(double number) { return parse_json(fmt::format("{:.4g}", number), "").root; }

Value accuracy_value(const Accuracy& accuracy) {
  return Value::make_object()
      .add("n", static_cast<std::int64_t>(accuracy.rows))
      .add("bias", rounded(accuracy.bias))
      .add("median", rounded(accuracy.median))
      .add("mean", rounded(accuracy.mean))
      .add("p90", rounded(accuracy.p90))
      .add("max", rounded(accuracy.most))
      .add("sigma", rounded(accuracy.sigma))
      .add("q10", rounded(accuracy.q10))
      .add("q90", rounded(accuracy.q90));
}

/// By the class that a prediction may belong to.
Value accuracy_by_class(const Calibration& calibration) {
  Value classes = Value::make_object();
  classes.add("fitted", accuracy_value(calibration.fitted));
  if (calibration.left_out) {
    classes.add("extrapolated", accuracy_value(*calibration.left_out));
  }
  if (calibration.datasheet) {
    classes.add("datasheet", accuracy_value(*calibration.datasheet));
  }
  return classes;
}

Value parameter_value(const Calibration& calibration, std::size_t i) {
  const FittedFigure& figure = calibration.figures[i];
  Value parameter = Value::make_object();
  parameter.add("path", figure.path);
  if (!figure.same.empty()) {
    Value same = Value::make_array();
    for (const std::string& path : figure.same) {
      same.push(path);
    }
    parameter.add("same", std::move(same));
  }
  parameter.add("value", written_figure(figure, calibration.fit.values[i]));
  if (calibration.fit.errors[i]) {
    parameter.add("standard_error", written_figure(figure, *calibration.fit.errors[i]));
  }
  return parameter.add("least", written_figure(figure, figure.least))
      .add("most", written_figure(figure, figure.most))
      .add("at_bound", static_cast<bool>(calibration.fit.at_bound[i]));
}

Value correlations(const Calibration& calibration) {
  Value rows = Value::make_array();
  for (std::size_t a = 0; a < calibration.figures.size(); ++a) {
    Value row = Value::make_array();
    for (std::size_t b = 0; b < calibration.figures.size(); ++b) {
      const auto correlation = calibration.fit.correlation(a, b);
      row.push(correlation ? rounded(*correlation) : Value());
    }
    rows.push(std::move(row));
  }
  return rows;
}

Value evidence_value(const Calibration& calibration,
                     const CalibrationData& data,
                     const CalibrationLabel& label) {
  Value files = Value::make_array();
  for (const std::string& file : data.files) {
    files.push(file);
  }
  Value parameters = Value::make_array();
  for (std::size_t i = 0; i < calibration.figures.size(); ++i) {
    parameters.push(parameter_value(calibration, i));
  }
  Value undetermined = Value::make_array();
  for (const FittedFigure& figure : calibration.undetermined) {
    undetermined.push(figure.path);
  }
  Value objections = Value::make_array();
  for (const std::string& objection : calibration.objections) {
    objections.push(objection);
  }
  Value evidence = Value::make_object();
  if (!label.date.empty()) {
    evidence.add("date", label.date);
  }
  evidence.add("data", std::move(files))
      .add("what", data.what)
      .add("n", static_cast<std::int64_t>(data.measured.size()))
      .add("skipped", static_cast<std::int64_t>(data.skipped))
      .add("range", data.range)
      .add("residuals",
           Value::make_object()
               .add("mean", rounded(calibration.fitted.mean))
               .add("p90", rounded(calibration.fitted.p90))
               .add("bias", rounded(calibration.fitted.bias)))
      .add("accuracy", accuracy_by_class(calibration))
      .add("parameters", std::move(parameters))
      .add("correlation", correlations(calibration));
  if (!calibration.undetermined.empty()) {
    evidence.add("undetermined", std::move(undetermined));
  }
  if (!calibration.is_sound()) {
    evidence.add("objections", std::move(objections));
  }
  return evidence;
}

std::string source_text(const Calibration& calibration,
                        const CalibrationData& data,
                        const CalibrationLabel& label) {
  std::string text = label.source.empty() ? "" : label.source + "; ";
  text += fmt::format(
      "{} of {}: {} rows, {}; robust least squares of ln(predicted / measured); mean error {} (p90 "
      "{}, bias {})",
      data.what,
      listed(data.files),
      data.measured.size(),
      data.range,
      percent_text(calibration.fitted.mean),
      percent_text(calibration.fitted.p90),
      percent_text(calibration.fitted.bias));
  if (calibration.left_out) {
    text += fmt::format(", {} on groups left out", percent_text(calibration.left_out->mean));
  }
  if (!label.date.empty()) {
    text += "; fitted on " + label.date;
  }
  return text;
}

/// Why the data do not tell a value, before what the fit says of itself.
std::string assumed_text(const Calibration& calibration, const std::string& source) {
  if (calibration.is_sound()) {
    return "not told by the data, which would go beyond the bounds that the fit has: " + source;
  }
  std::string reasons;
  for (const std::string& objection : calibration.objections) {
    reasons += objection + "; ";
  }
  return "no evidence, as the fit is rejected: " + reasons + source;
}

/// What the residuals say, in sample and on groups left out; never narrower than what was measured.
FitErrors residual_shares(const Calibration& calibration) {
  constexpr FitErrors most = {.low = 0.01, .high = 100};  // that files may say
  const auto of = [&](const Accuracy& accuracy) {
    return FitErrors{.low = std::max(most.low, std::min(1.0, accuracy.q10)),
                     .high = std::min(most.high, std::max(1.0, accuracy.q90))};
  };
  return of(calibration.fitted).wider(of(calibration.left_out.value_or(calibration.fitted)));
}

/// The number under a key, with its source or without; 1 where there is none.
double share_in(const Value& bars, std::string_view key) {
  const Value* written = bars.find(key);
  const Value* inner = written == nullptr ? nullptr : written->find("value");
  written = inner == nullptr ? written : inner;
  return written == nullptr ? 1.0 : written->number;
}

FitErrors shares_in(const Value& bars) {
  return {.low = share_in(bars, "low"), .high = share_in(bars, "high")};
}

/// Of a stack by the grade of an answer: all that it says of whole iterations, widened. A rejected
/// fit widens what answers of any grade get.
void widen_by_grade(Value& root, const Calibration& calibration) {
  const FitErrors residuals = residual_shares(calibration);
  if (root.find("error_bars") == nullptr) {
    if (calibration.is_sound()) {
      return;
    }
    root.add("error_bars", Value::make_object());
  }
  Value& bars = *root.find("error_bars");
  for (const Grade grade : {Grade::fitted, Grade::extrapolated, Grade::datasheet}) {
    if (bars.find(name(grade)) == nullptr) {
      if (calibration.is_sound()) {
        continue;
      }
      bars.add(std::string(name(grade)), Value::make_object());
    }
    Value& own = *bars.find(name(grade));
    const FitErrors shares = residuals.wider(shares_in(own));
    set_member(own, "low", rounded(shares.low));
    set_member(own, "high", rounded(shares.high));
  }
}

/// What the fit leaves open; and what was open before, where the fit is rejected.
void put_errors(Value& root, const Calibration& calibration) {
  FitErrors shares = residual_shares(calibration);
  const Value* before = root.find("error_bars");
  if (before != nullptr && !calibration.is_sound()) {
    shares = shares.wider(shares_in(*before));
  }
  const auto figure = [&](double share) {
    return Value::make_object()
        .add("value", rounded(share))
        .add("source", calibration.is_sound() ? kSource : kAssumed);
  };
  set_member(root,
             "error_bars",
             Value::make_object().add("low", figure(shares.low)).add("high", figure(shares.high)));
}

}  // namespace

Document calibrated_document(const Document& base,
                             const Calibration& calibration,
                             const CalibrationData& data,
                             const CalibrationLabel& label) {
  Document document = base;
  Value& root = document.root;
  const std::set<std::string> before = named_sources(root);
  std::set<std::string_view> named;
  for (std::size_t i = 0; i < calibration.figures.size(); ++i) {
    named.insert(calibration.is_told(i) ? kSource : kAssumed);
  }
  for (const std::string_view source : named) {
    keep_earlier(root, source, calibration.figures);
  }
  for (std::size_t i = 0; i < calibration.figures.size(); ++i) {
    const FittedFigure& figure = calibration.figures[i];
    const std::string_view source = calibration.is_told(i) ? kSource : kAssumed;
    const Value fitted = Value::make_object()
                             .add("value", written_figure(figure, calibration.fit.values[i]))
                             .add("source", source);
    value_at(root, figure.path) = fitted;
    for (const std::string& path : figure.same) {
      value_at(root, path) = fitted;
    }
  }
  if (root.find("sources") == nullptr) {
    root.add("sources", Value::make_object());
  }
  const std::string text = source_text(calibration, data, label);
  if (named.contains(kSource)) {
    set_member(*root.find("sources"), kSource, text);
  }
  if (named.contains(kAssumed)) {
    set_member(*root.find("sources"), kAssumed, assumed_text(calibration, text));
  }
  if (data.of_steps) {
    widen_by_grade(root, calibration);
  } else {
    put_errors(root, calibration);
  }
  drop_unnamed_sources(root, before);
  set_member(root, "calibration", evidence_value(calibration, data, label));
  if (!label.name.empty()) {
    set_member(root, "name", label.name);
  }
  return document;
}

}  // namespace titer
