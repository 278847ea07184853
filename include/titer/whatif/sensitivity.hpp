#pragma once
// What an outcome of a step depends on: its elasticity to every number of the scenario, what binds,
// and what a better figure would gain.
//
// The closed form is piecewise rational: between two bends, where another path through the step or
// another protocol takes over, the iteration time is a + b x of a time, a + b / x of a rate or of
// an efficiency, and so is its reciprocal for tokens per second. Three points on one such curve
// therefore give the derivative exactly; that they lie on one is verified, to the rounding of
// durations to picoseconds.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "titer/whatif/scenario_figures.hpp"
#include "titer/whatif/scenario_probe.hpp"

namespace titer {

/// How an elasticity was found.
enum class Derivation : std::uint8_t {
  exact,       // one curve on both sides
  one_sided,   // the figure is at a bend or at a bound of its range: a curve on either side
  difference,  // no curve of these kinds: the quotient of differences
};
[[nodiscard]] std::string_view name(Derivation derivation);

/// E = d ln y / d ln x: by how many percent the outcome y changes for one percent more of x.
struct Elasticity {
  double value = 0;              // at a bend the mean of both sides
  std::optional<double> down{};  // towards less, where that is sound
  std::optional<double> up{};
  Derivation derivation = Derivation::exact;
  double within = 0;  // of the figure's value, to either side: where that was seen to hold
};

/// What a figure is of.
enum class Resource : std::uint8_t {
  arithmetic,
  memory,
  on_chip,
  node_links,
  network,
  host,
  messages,  // latencies and start-ups of messages
  launches,  // of kernels
  other,
};
[[nodiscard]] std::string_view name(Resource resource);

/// A figure that is better by a tenth: a rate times 1.1, a time divided by it, anything else the
/// way that is better for the outcome; at most what it can be.
struct Gain {
  double to = 0;                     // its better value
  double outcome = 0;                // with it
  double relative = 0;               // by how much the outcome is better, of what it is
  std::optional<double> per_cost{};  // the same over what it costs
};

struct FigureEffect {
  ScenarioFigure figure{};
  Elasticity elasticity{};
  Resource resource = Resource::other;
  std::optional<Gain> gain{};
};

/// A whole number moved to the next sound value, alone or with what it is tied to.
struct CountMove {
  std::int64_t to = 0;
  std::vector<Assignment> along{};  // what else had to change
  double outcome = 0;
  double elasticity = 0;  // ln(y' / y) / ln(x' / x)
};
struct CountEffect {
  ScenarioFigure figure{};
  std::optional<CountMove> down{};
  std::optional<CountMove> up{};

  /// The larger of the two, without its sign.
  [[nodiscard]] double size() const;
};

/// The share of the iteration time that would go if all rates of a resource were endless and its
/// times nothing, as the tangent has it: by Euler's theorem on homogeneous functions, T being of
/// degree 1 in all times and -1 in all rates together, the shares add up to one.
struct ResourceShare {
  Resource resource = Resource::other;
  double share = 0;
};

/// What a tenth more of a figure costs.
struct FigureCost {
  std::string path;
  double dollars = 0;
};

struct SensitivityOptions {
  OutcomeFigure of;
  double step = 0.01;  // the largest, of a figure's value
  std::vector<FigureCost> costs{};
};

struct Sensitivity {
  std::string of;
  double outcome = 0;
  bool less_is_better = true;
  std::vector<FigureEffect> figures{};  // those that move it, largest elasticity first
  std::vector<CountEffect> counts{};    // likewise
  std::vector<std::string> unmoved{};   // paths of those that do not, and of zeros
  std::vector<ResourceShare> shares{};  // of the iteration time, largest first
  std::vector<FigureEffect> by_cost{};  // those with a cost, most gained per dollar first
};

/// Throws InputError where a cost's path leads to no number, and where the outcome is zero.
[[nodiscard]] Sensitivity sensitivity(ScenarioProbe& probe, const SensitivityOptions& options);

/// The elasticity to one figure that is not zero.
[[nodiscard]] Elasticity elasticity(ScenarioProbe& probe,
                                    const ScenarioFigure& figure,
                                    const SensitivityOptions& options);
/// The outcome with a figure at this value; nothing where that is not sound.
[[nodiscard]] std::optional<double> outcome_at(ScenarioProbe& probe,
                                               const ScenarioFigure& figure,
                                               const OutcomeFigure& of,
                                               double value);

/// How a whole number moves the outcome: to twice and half of it, or the next sound multiple or
/// part. A degree of the plan takes from the data degree, the data degree and the nodes go
/// together, where the one alone is not sound.
[[nodiscard]] CountEffect count_effect(ScenarioProbe& probe,
                                       const ScenarioFigure& figure,
                                       const OutcomeFigure& of);

}  // namespace titer
