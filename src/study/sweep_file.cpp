// Reading a sweep's file.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "named_scenario.hpp"
#include "titer/study/sweep.hpp"

namespace titer {
namespace {

constexpr std::size_t kMostValues = 1'000'000;
constexpr std::size_t kMostPoints = 100'000'000;
constexpr double kRounding = 1e-12;  // relative; of the sums and products of a range

/// A value of a range: an integer where it is one, text where there is a unit.
Value range_value(double value, const std::optional<std::string>& unit) {
  const double rounded = std::round(value);
  const bool whole = std::abs(value - rounded) <= kRounding * std::max(1.0, std::abs(value));
  if (unit) {
    return Value(fmt::format("{} {}", whole ? rounded : value, *unit));
  }
  return whole ? Value(static_cast<std::int64_t>(rounded)) : Value(value);
}

/// {"from": 1, "to": 64, "factor": 2} or {"from": 64, "to": 512, "step": 64}; "to" is included.
std::vector<Value> read_range(Reader in) {
  constexpr double most = 1e15;
  const double from = in.number("from", -most, most);
  const double to = in.number("to", -most, most);
  const auto step = in.maybe_number("step", 1e-12, most);
  const auto factor = in.maybe_number("factor", 1.0 + 1e-6, most);
  const auto unit = in.maybe_text("unit");
  in.finish();
  std::vector<Value> values;
  if (!in.has("from") || !in.has("to")) {
    return values;  // reported above
  }
  if (step.has_value() == factor.has_value()) {
    in.fail("from", "expected a range with either a \"step\" or a \"factor\"");
    return values;
  }
  if (from > to || (factor && from <= 0.0)) {
    in.fail("from", "expected a start no greater than \"to\", and above zero with a \"factor\"");
    return values;
  }
  const double most_steps = step ? (to - from) / *step : std::log(to / from) / std::log(*factor);
  if (most_steps >= static_cast<double>(kMostValues)) {
    in.fail("to", fmt::format("expected a range of at most {} values", kMostValues));
    return values;
  }
  const double last = to + kRounding * std::max(std::abs(from), std::abs(to));
  for (double value = from; value <= last;) {
    values.push_back(range_value(value, unit));
    value = step ? from + static_cast<double>(values.size()) * *step : value * *factor;
  }
  return values;
}

Axis read_axis(Reader& axes, const std::string& path) {
  Axis axis{.path = path, .values = {}};
  const Value* written = axes.raw(path);
  if (!scenario_part(path)) {
    axes.fail(path,
              "expected a path into model, cluster, stack, plan, training, formula or conditions, "
              "such as "
              "\"plan.tensor\"");
  } else if (written->kind == Value::Kind::object) {
    axis.values = read_range(axes.object(path));
  } else if (written->kind == Value::Kind::array && !written->items.empty()) {
    axis.values = written->items;
  } else {
    axes.fail(path, "expected a list of values, or a range with from, to and step or factor");
  }
  return axis;
}

/// A mistake that every point would repeat is the file's, not the points'.
void check_constant_parts(const Sweep& sweep) {
  std::vector<ScenarioPart> varied;
  for (const Axis& axis : sweep.axes) {
    varied.push_back(*scenario_part(axis.path));
  }
  Scenario ignored;
  sweep.base.read_without(varied, ignored);
}

}  // namespace

Sweep load_sweep(std::string_view name_or_file) {
  const Document document = load_data(kSweepData, name_or_file);
  Problems problems;
  Reader in(document, problems);
  static_cast<void>(in.maybe_text("name"));
  static_cast<void>(in.maybe_text("title"));
  const Value* scenario = scenario_value(in);
  std::vector<Axis> axes;
  Reader axes_in = in.object("axes");
  std::size_t points = 1;
  for (const std::string& path : axes_in.keys()) {
    axes.push_back(read_axis(axes_in, path));
    points *= std::max<std::size_t>(1, axes.back().values.size());
    if (points > kMostPoints) {
      axes_in.fail(path, fmt::format("expected at most {} points in all", kMostPoints));
      break;
    }
  }
  in.finish();
  problems.raise();
  Sweep sweep{.base = ScenarioSource(scenario_document(document, *scenario)),
              .axes = std::move(axes)};
  check_constant_parts(sweep);
  return sweep;
}

}  // namespace titer
