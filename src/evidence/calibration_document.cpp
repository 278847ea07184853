// A calibration as the data file that it makes: the base with other values, and their evidence.

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "titer/evidence/calibration.hpp"
#include "titer/input/reader.hpp"
#include "titer/units/ensure.hpp"

namespace titer {
namespace {

constexpr std::string_view kSource = "measured_calibration";

/// Four significant digits: the last bits of a sum are nobody's evidence.
Value rounded(double number) { return parse_json(fmt::format("{:.4g}", number), "").root; }

std::string percent(double share) { return fmt::format("{:.1f} %", 100.0 * share); }

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
  return evidence;
}

std::string source_text(const Calibration& calibration,
                        const CalibrationData& data,
                        const CalibrationLabel& label) {
  std::string files;
  for (const std::string& file : data.files) {
    files += (files.empty() ? "" : ", ") + file;
  }
  std::string text = label.source.empty() ? "" : label.source + "; ";
  text += fmt::format(
      "{} of {}: {} rows, {}; robust least squares of ln(predicted / measured); mean error {} (p90 "
      "{}, bias {})",
      data.what,
      files,
      data.measured.size(),
      data.range,
      percent(calibration.fitted.mean),
      percent(calibration.fitted.p90),
      percent(calibration.fitted.bias));
  if (calibration.left_out) {
    text += fmt::format(", {} on groups left out", percent(calibration.left_out->mean));
  }
  if (!label.date.empty()) {
    text += "; fitted on " + label.date;
  }
  return text;
}

/// The value at a path that was read there before.
Value& value_at(Value& root, std::string_view path) {
  Value* here = &root;
  while (here != nullptr && !path.empty()) {
    const std::string key(path.substr(0, path.find('.')));
    path.remove_prefix(std::min(path.size(), key.size() + 1));
    here = here->kind == Value::Kind::array ? &here->items.at(std::stoul(key)) : here->find(key);
  }
  ensure(here != nullptr, "a fitted figure is in its document");
  return *here;
}

/// Replaces a member in its place, or appends it.
void set_member(Value& object, std::string_view key, Value value) {
  if (Value* member = object.find(key); member != nullptr) {
    *member = std::move(value);
  } else {
    object.add(std::string(key), std::move(value));
  }
}

void remove_member(Value& object, std::size_t index) {
  object.members.erase(object.members.begin() + static_cast<std::ptrdiff_t>(index));
  object.key_origins.erase(object.key_origins.begin() + static_cast<std::ptrdiff_t>(index));
}

/// The sources that figures name.
void list_sources(const Value& value, std::set<std::string>& names) {
  if (const Value* source = value.find("source");
      source != nullptr && source->kind == Value::Kind::text) {
    names.insert(source->text);
  }
  for (const auto& [key, member] : value.members) {
    list_sources(member, names);
  }
  for (const Value& item : value.items) {
    list_sources(item, names);
  }
}

/// Those of `before` that no figure names now.
void drop_sources(Value& root, const std::set<std::string>& before) {
  std::set<std::string> now;
  list_sources(root, now);
  Value* sources = root.find("sources");
  for (std::size_t i = sources->members.size(); i-- > 0;) {
    const std::string& name = sources->members[i].first;
    if (before.count(name) > 0 && now.count(name) == 0) {
      remove_member(*sources, i);
    }
  }
}

}  // namespace

Document calibrated_document(const Document& base,
                             const Calibration& calibration,
                             const CalibrationData& data,
                             const CalibrationLabel& label) {
  Document document = base;
  Value& root = document.root;
  std::set<std::string> before;
  list_sources(root, before);
  for (std::size_t i = 0; i < calibration.figures.size(); ++i) {
    const FittedFigure& figure = calibration.figures[i];
    const Value fitted = Value::make_object()
                             .add("value", written_figure(figure, calibration.fit.values[i]))
                             .add("source", kSource);
    value_at(root, figure.path) = fitted;
    for (const std::string& path : figure.same) {
      value_at(root, path) = fitted;
    }
  }
  if (root.find("sources") == nullptr) {
    root.add("sources", Value::make_object());
  }
  set_member(*root.find("sources"), kSource, source_text(calibration, data, label));
  drop_sources(root, before);
  set_member(root, "calibration", evidence_value(calibration, data, label));
  if (!label.name.empty()) {
    set_member(root, "name", label.name);
  }
  return document;
}

}  // namespace titer
