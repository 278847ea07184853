#pragma once
// Where something changes along one figure of a scenario: the bandwidth from which communication is
// hidden, the nearest value at which the iteration time takes another course, and the value that a
// target needs.

#include <optional>
#include <string_view>
#include <vector>

#include "titer/whatif/scenario_figures.hpp"
#include "titer/whatif/scenario_probe.hpp"

namespace titer {

/// A part of the iteration that does not depend on a figure any more from some value of it on.
struct Settled {
  std::string_view part;  // of the breakdown; "iteration_time" for all of it
  double from = 0;        // value of the figure
  bool upward = true;     // from there up; otherwise from there down
  Seconds rest;           // what is left of the part then: nothing where it is hidden completely
  Seconds now;            // with the figure as it is
};

/// How much of a part of the iteration time goes with the reciprocal of a figure, as a share of the
/// iteration time now: dt / d(x0 / x) / T.
struct PartSlope {
  std::string_view part;
  double before = 0;  // as the figure is
  double after = 0;   // beyond the bend
};

/// A value at which the iteration time takes another course.
struct Bend {
  double at = 0;
  double before = 0;                // elasticity of the iteration time now
  double after = 0;                 // beyond the bend, of the time there
  std::vector<PartSlope> parts{};   // those that change, most first
  std::optional<int> last_stage{};  // the one that finishes last beyond it, where another does
};

struct BreakEven {
  ScenarioFigure figure;
  std::vector<Settled> settled{};
  std::optional<Bend> below{};  // nearest
  std::optional<Bend> above{};
};

/// How far along a figure is searched: from 1/16 to 16 times its value.
inline constexpr double kBreakEvenRange = 16;

/// Of one rate of the scenario; nothing where nothing changes in that range.
[[nodiscard]] std::optional<BreakEven> break_even(ScenarioProbe& probe,
                                                  const ScenarioFigure& figure);
/// Of every bandwidth and compute rate on which the closed form's iteration time depends somewhere
/// in that range. A bend counts where 1 % of the iteration time or more begins or ceases to go with
/// the figure's reciprocal.
[[nodiscard]] std::vector<BreakEven> break_even(ScenarioProbe& probe);

/// An outcome that is wanted.
struct Target {
  OutcomeFigure of;
  double value = 0;

  [[nodiscard]] bool met_by(double outcome) const {
    return of.less_is_better ? outcome <= value : outcome >= value;
  }
};
/// "12 s" of the iteration time, "mfu=0.5", "data_comm_s=200 ms". Throws InputError.
[[nodiscard]] Target parse_target(std::string_view text);

/// What one figure by itself must be for the target.
struct Reach {
  ScenarioFigure figure;
  std::optional<double> value{};  // nothing where it cannot be met by this alone
  double limit = 0;               // the outcome with this value, or the best with this figure alone

  /// How many times better it must be.
  [[nodiscard]] double factor() const;
};
struct ReachTable {
  Target target;
  double outcome = 0;            // now
  bool met = false;              // already: values are how bad each may become
  std::vector<Reach> figures{};  // those that meet it, least change first, then the others, best
                                 // limit first
};
/// Of every figure that is no whole number. Searched up to 1024 times and down to 1/1024 of its
/// value, as far as that is sound; the outcome is taken to be monotone in it.
[[nodiscard]] ReachTable reach(ScenarioProbe& probe, const Target& target);

}  // namespace titer
