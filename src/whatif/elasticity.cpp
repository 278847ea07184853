// Elasticities by three points on one curve.

#include <algorithm>
#include <array>
#include <cmath>

#include "titer/whatif/sensitivity.hpp"

namespace titer {
namespace {

/// A value of the figure over what it is, and the outcome with it over what that is.
struct CurvePoint {
  double x = 1;
  double y = 1;
};

/// How far three points are from lying on one line of f(x) and g(y), in relative terms, and the
/// elasticity at the middle one if they do.
struct CurveFit {
  double deviation = 0;
  double elasticity = 0;
};

double reciprocal_if(bool inverse, double value) { return inverse ? 1.0 / value : value; }

/// y or 1/y as a line of x or 1/x. `at`: which of the points.
CurveFit fit_curve(const std::array<CurvePoint, 3>& points,
                   bool inverse_x,
                   bool inverse_y,
                   std::size_t at) {
  std::array<double, 3> z{};
  std::array<double, 3> w{};
  for (std::size_t i = 0; i < points.size(); ++i) {
    z[i] = reciprocal_if(inverse_x, points[i].x);
    w[i] = reciprocal_if(inverse_y, points[i].y);
  }
  const double slope = (w[2] - w[0]) / (z[2] - z[0]);
  const double sign = inverse_x == inverse_y ? 1.0 : -1.0;
  return {.deviation = std::abs(w[1] - w[0] - slope * (z[1] - z[0])) / std::abs(w[1]),
          .elasticity = sign * slope * z[at] / w[at]};
}

/// The curve that fits best.
CurveFit best_curve(const std::array<CurvePoint, 3>& points, std::size_t at) {
  CurveFit best = fit_curve(points, true, false, at);
  for (const auto& [inverse_x, inverse_y] :
       {std::pair(false, false), std::pair(false, true), std::pair(true, true)}) {
    const CurveFit fit = fit_curve(points, inverse_x, inverse_y, at);
    if (fit.deviation < best.deviation) {
      best = fit;
    }
  }
  return best;
}

double arc(const CurvePoint& a, const CurvePoint& b) {
  return std::log(b.y / a.y) / std::log(b.x / a.x);
}

/// One figure of a scenario, and the outcome as a function of it.
class OutcomeCurve {
 public:
  OutcomeCurve(ScenarioProbe& probe, const ScenarioFigure& figure, const OutcomeFigure& of)
      : probe_(probe), figure_(figure), of_(of), outcome_(of.value(probe.base())) {
    const double time = probe.base().iteration_time.si();
    const double part = of.name.ends_with("_s") ? std::abs(outcome_) : time;
    // Four terms of the deviation, each rounded.
    tolerance_ = 4.0 * rounding_of(probe.scenario()).si() / std::min(time, part) + 1e-12;
  }

  [[nodiscard]] std::optional<CurvePoint> point(double factor) {
    const auto y = outcome_at(probe_, figure_, of_, factor * figure_.value);
    return y && *y != 0 ? std::optional(CurvePoint{factor, *y / outcome_}) : std::nullopt;
  }

  /// Of the first step, largest first, within which one curve holds; otherwise nothing.
  [[nodiscard]] std::optional<Elasticity> around(double step) {
    for (int i = 0; i < steps; ++i, step /= shrink) {
      const auto below = point(1.0 - step);
      const auto above = point(1.0 + step);
      if (!below || !above) {
        return std::nullopt;
      }
      const CurveFit fit = best_curve({*below, CurvePoint{}, *above}, 1);
      if (fit.deviation <= tolerance_) {
        return Elasticity{
            .value = fit.elasticity, .down = fit.elasticity, .up = fit.elasticity, .within = step};
      }
    }
    return std::nullopt;
  }

  struct OneSided {
    std::optional<double> elasticity;  // nothing where that side is not sound
    bool exact = false;
  };
  [[nodiscard]] OneSided beside(double step, int side) {
    OneSided found;
    for (int i = 0; i < steps; ++i, step /= shrink) {
      const auto near = point(1.0 + side * 0.5 * step);
      const auto far = point(1.0 + side * step);
      if (!near || !far) {
        continue;  // beyond a bound: a smaller step may do
      }
      const CurveFit fit = best_curve({CurvePoint{}, *near, *far}, 0);
      if (fit.deviation <= tolerance_) {
        return {.elasticity = fit.elasticity, .exact = true};
      }
      if (!found.elasticity) {
        found.elasticity = arc(CurvePoint{}, *far);
      }
    }
    return found;
  }

 private:
  static constexpr int steps = 3;
  static constexpr double shrink = 10;

  ScenarioProbe& probe_;
  const ScenarioFigure& figure_;
  const OutcomeFigure& of_;
  double outcome_;
  double tolerance_ = 0;
};

}  // namespace

std::string_view name(Derivation derivation) {
  constexpr std::array<std::string_view, 3> names = {"exact", "one-sided", "difference"};
  return names[static_cast<std::size_t>(derivation)];
}

std::optional<double> outcome_at(ScenarioProbe& probe,
                                 const ScenarioFigure& figure,
                                 const OutcomeFigure& of,
                                 double value) {
  const Assignment change{figure.place, figure_value(figure.kind, value), "sensitivity"};
  const StepResult* result = probe.with({&change, 1});
  return result == nullptr ? std::nullopt : std::optional(of.value(*result));
}

Elasticity elasticity(ScenarioProbe& probe,
                      const ScenarioFigure& figure,
                      const SensitivityOptions& options) {
  OutcomeCurve curve(probe, figure, options.of);
  if (const auto both = curve.around(options.step)) {
    return *both;
  }
  const auto down = curve.beside(options.step, -1);
  const auto up = curve.beside(options.step, 1);
  Elasticity found{.down = down.elasticity, .up = up.elasticity, .within = options.step};
  if (found.down && found.up) {
    found.value = 0.5 * (*found.down + *found.up);
    found.derivation = down.exact && up.exact ? Derivation::one_sided : Derivation::difference;
  } else {
    found.value = found.down.value_or(found.up.value_or(0.0));
    found.derivation = down.exact || up.exact ? Derivation::one_sided : Derivation::difference;
  }
  return found;
}

}  // namespace titer
