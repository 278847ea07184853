#include "titer/report/evidence/calibration_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/plot/evidence_plots.hpp"
#include "titer/units/listed.hpp"
#include "titer/view/table.hpp"

namespace titer {
namespace {

std::string written(const FittedFigure& figure, double value) {
  return bare_text(written_figure(figure, value));
}

FigureRows fitted_rows(const Calibration& calibration) {
  FigureRows rows;
  for (std::size_t i = 0; i < calibration.figures.size(); ++i) {
    const FittedFigure& figure = calibration.figures[i];
    const auto error = calibration.fit.errors[i];
    std::string name = figure.path;
    for (const std::string& path : figure.same) {
      add_listed(name, path);
    }
    rows.push_back(
        {{"", name, "figure"},
         {"", written(figure, figure.start), "was"},
         {"", written(figure, calibration.fit.values[i]), "fitted"},
         {"", error ? written(figure, *error) : "-", "standard error"},
         {"", written(figure, figure.least), "least"},
         {"", written(figure, figure.most), "most"},
         {"", calibration.fit.at_bound[i] ? "at its bound: assumed, not fitted" : "", kNoHeading}});
  }
  return rows;
}

/// What stays as the base has it.
std::string undetermined_text(const Calibration& calibration) {
  std::string text;
  for (const FittedFigure& figure : calibration.undetermined) {
    text += fmt::format("  {} stays {}: the data do not determine it\n",
                        figure.path,
                        written(figure, figure.start));
  }
  return text;
}

/// Pairs that the data hardly tell apart.
std::string pairs_text(const Calibration& calibration) {
  constexpr double close = 0.9;
  std::string text;
  for (std::size_t a = 0; a < calibration.figures.size(); ++a) {
    for (std::size_t b = a + 1; b < calibration.figures.size(); ++b) {
      const auto correlation = calibration.fit.correlation(a, b);
      if (correlation && std::abs(*correlation) >= close) {
        text += fmt::format("  {} and {} are hard to tell apart: correlation {:.2f}\n",
                            calibration.figures[a].path,
                            calibration.figures[b].path,
                            *correlation);
      }
    }
  }
  return text;
}

Figures accuracy_figures(const std::string& name, const Accuracy& accuracy) {
  return {{"", name, "error of the time"},
          {"", accuracy.rows, "rows"},
          {"", Datum(accuracy.bias, kPercent), "bias"},
          {"", Datum(accuracy.median, kPercent), "median"},
          {"", Datum(accuracy.mean, kPercent), "mean"},
          {"", Datum(accuracy.p90, kPercent), "p90"},
          {"", Datum(accuracy.most, kPercent), "most"},
          {"", fmt::format("{:.3f} to {:.3f}", accuracy.q10, accuracy.q90), "four of five"}};
}

Figures group_accuracy_figures(const GroupAccuracy& group) {
  const auto left_out = group.left_out ? std::optional(group.left_out->mean) : std::nullopt;
  return {{"", group.name, "group"},
          {"", group.fitted.rows, "rows"},
          {"", Datum(group.fitted.bias, kPercent), "bias"},
          {"", Datum(group.fitted.mean, kPercent), "mean"},
          {"", Datum(group.fitted.p90, kPercent), "p90"},
          {"", Datum(left_out, kPercent), "mean, left out"}};
}

/// "{" or "[" to its end with something between.
std::string flat(const Value& value) {
  switch (value.kind) {
    case Value::Kind::object: {
      const auto member = [](const auto& entry) {
        return to_json(Value(entry.first), 0) + ": " + flat(entry.second);
      };
      return "{" + listed(value.members, member) + "}";
    }
    case Value::Kind::array:
      return "[" + listed(value.items, flat) + "]";
    default:
      return to_json(value, 0);
  }
}

bool is_nested(const Value& value) {
  const auto holds = [](const Value& inner) {
    return inner.kind == Value::Kind::object || inner.kind == Value::Kind::array;
  };
  return std::ranges::any_of(value.items, holds) ||
         std::ranges::any_of(value.members,
                             [&](const auto& member) { return holds(member.second); });
}

std::string laid_out(const Value& value, std::size_t depth, std::size_t before) {
  constexpr std::size_t width = 100;
  std::string one_line = flat(value);
  const bool is_scalar = value.items.empty() && value.members.empty();
  const std::size_t taken = 2 * depth + before + one_line.size();
  if (is_scalar || (depth > 0 && !is_nested(value) && taken <= width)) {
    return one_line;
  }
  const std::string indent(2 * (depth + 1), ' ');
  const std::string end = "\n" + std::string(2 * depth, ' ');
  if (value.kind == Value::Kind::array) {
    const auto item = [&](const Value& inner) { return indent + laid_out(inner, depth + 1, 0); };
    return "[\n" + listed(value.items, item, ",\n") + end + "]";
  }
  const auto member = [&](const auto& entry) {
    const std::string key = to_json(Value(entry.first), 0) + ": ";
    return indent + key + laid_out(entry.second, depth + 1, key.size());
  };
  return "{\n" + listed(value.members, member, ",\n") + end + "}";
}

}  // namespace

std::string profile_text(const Value& profile) { return laid_out(profile, 0, 0) + "\n"; }

View calibration_view(const Calibration& calibration, const CalibrationData& data) {
  TextView text = fmt::format(
      "{} rows of {}, {}; {} skipped\n", data.measured.size(), data.what, data.range, data.skipped);
  for (const std::string& file : data.files) {
    text.add("  " + file + "\n");
  }
  text.add("\n").table(fitted_rows(calibration));
  text.add(undetermined_text(calibration) + pairs_text(calibration));
  if (!calibration.fit.converged) {
    text.add("  the search ended before it settled: other bounds or fewer figures may help\n");
  }
  FigureRows errors;
  for (const auto& [name, accuracy] : accuracies(calibration)) {
    errors.push_back(accuracy_figures(name, accuracy));
  }
  text.add("\n").table(errors);
  if (calibration.groups.size() > 1) {
    text.add("\n").table(rows_of(calibration.groups, group_accuracy_figures));
  }
  return {.text = std::move(text),
          .figures = {},
          .rows = {},
          .columns = {},
          .headline = calibration_headline(calibration),
          .plots = {calibration_plot(calibration)}};
}

std::string rejection_text(const Calibration& calibration, bool is_written) {
  return "the fit is rejected: " + listed(calibration.objections, "; ") +
         (is_written ? "\nits figures are written as assumed, with its residuals as error bars\n"
                     : "\nnothing is written; other data, --from or --fit may help, and --accept "
                       "writes it as assumed, with its residuals as error bars\n");
}

}  // namespace titer
