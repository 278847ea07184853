#include "titer/whatif/break_even.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "titer/units/lists.hpp"

namespace titer {
namespace {

constexpr int kRungs = 8;          // of the ladder on either side
constexpr double kNarrow = 1e-5;   // relative width at which a bisection ends
constexpr double kStencil = 1e-4;  // relative distance of the two points of a slope
constexpr double kBend = 0.01;     // of the iteration time
constexpr double kPartBend = 0.005;

constexpr std::string_view kIterationTime = "iteration_time";

/// What of a result is compared between values of a figure.
struct Snapshot {
  Seconds time;
  Breakdown breakdown;
  int stage = 0;

  [[nodiscard]] Seconds part(Seconds Breakdown::*value) const {
    return value == nullptr ? time : breakdown.*value;
  }
};

/// Slopes over r = x0 / x, as shares of the iteration time now.
struct Slopes {
  double time = 0;
  std::array<double, kBreakdownParts.size()> parts{};
  int stage = 0;
  double elasticity = 0;  // of the iteration time there
};

/// One figure, at factors of what it is.
class FigureLadder {
 public:
  FigureLadder(ScenarioProbe& probe, const ScenarioFigure& figure)
      : probe_(probe), figure_(figure), tolerance_(rounding_of(probe.scenario())) {}

  /// False where the iteration time is the same at both ends and now, or some rung is not sound.
  bool climb() {
    if (!depends()) {
      return false;
    }
    for (int i = -kRungs; i <= kRungs; ++i) {
      factors_.push_back(std::pow(kBreakEvenRange, static_cast<double>(i) / kRungs));
      const auto rung = at(factors_.back());
      if (!rung) {
        return false;
      }
      rungs_.push_back(*rung);
    }
    return true;
  }

  [[nodiscard]] std::optional<Snapshot> at(double factor) {
    const Assignment change{
        figure_.place, figure_value(figure_.kind, factor * figure_.value), "break-even"};
    const StepResult* result = probe_.with({&change, 1});
    return result == nullptr
               ? std::nullopt
               : std::optional(
                     Snapshot{result->iteration_time, result->breakdown, result->reference_stage});
  }

  [[nodiscard]] std::optional<Settled> settled(std::string_view name,
                                               Seconds Breakdown::*part,
                                               bool upward) {
    const auto last = static_cast<int>(rungs_.size()) - 1;
    const auto rung = [&](int i) { return static_cast<std::size_t>(upward ? last - i : i); };
    const Seconds rest = rungs_[rung(0)].part(part);
    const auto is_rest = [&](const Snapshot& one) { return near(one.part(part), rest); };
    int differs = 1;
    while (differs <= last && is_rest(rungs_[rung(differs)])) {
      ++differs;
    }
    if (differs == 1 || differs > last) {
      return std::nullopt;  // it depends on the figure to the end, or nowhere
    }
    const double from =
        boundary(factors_[rung(differs)], factors_[rung(differs - 1)], is_rest) * figure_.value;
    return Settled{.part = name,
                   .from = from,
                   .upward = upward,
                   .rest = rest <= tolerance_ ? Seconds{} : rest,
                   .now = rungs_[kRungs].part(part)};
  }

  /// The nearest value, up or down, beyond which the slope is another.
  [[nodiscard]] std::optional<Bend> bend(bool upward) {
    const Slopes now = slopes(1.0);
    const auto departs = [&](double factor) {
      return std::abs(slopes(factor).time - now.time) >= kBend;
    };
    for (int i = 0; i < kRungs; ++i) {
      const std::size_t near = static_cast<std::size_t>(upward ? kRungs + i : kRungs - i);
      const std::size_t far = upward ? near + 1 : near - 1;
      const double secant = (rungs_[far].time - rungs_[near].time) / rungs_[kRungs].time /
                            (1.0 / factors_[far] - 1.0 / factors_[near]);
      const double beyond = factors_[far] * (upward ? 1 + 2 * kStencil : 1 - 2 * kStencil);
      if (std::abs(secant - now.time) >= kBend || departs(beyond)) {
        return located_bend(now, departs, {factors_[near], beyond});
      }
    }
    return std::nullopt;
  }

 private:
  [[nodiscard]] bool near(Seconds a, Seconds b) const {
    return std::abs((a - b).si()) <= tolerance_.si();
  }

  bool depends() {
    const Seconds now = probe_.base().iteration_time;
    return std::ranges::any_of(ends, [&](double end) {
      const auto snapshot = at(end);
      return snapshot && !near(snapshot->time, now);
    });
  }

  /// Between a factor where it does not hold and one where it does: the latter, as close as the
  /// bisection goes.
  template <class Holds>
  [[nodiscard]] double boundary(double without, double with, const Holds& holds) {
    while (std::abs(with / without - 1.0) > kNarrow) {
      const double middle = std::sqrt(without * with);
      const auto snapshot = at(middle);
      (snapshot && holds(*snapshot) ? with : without) = middle;
    }
    return with;
  }

  [[nodiscard]] Slopes slopes(double factor) {
    const auto less = at(factor * (1.0 - kStencil));
    const auto more = at(factor * (1.0 + kStencil));
    if (!less || !more) {
      return {};
    }
    const double step = 1.0 / (factor * (1.0 + kStencil)) - 1.0 / (factor * (1.0 - kStencil));
    const Seconds whole = probe_.base().iteration_time;
    const auto slope = [&](Seconds Breakdown::*part) {
      return (more->part(part) - less->part(part)) / whole / step;
    };
    Slopes found{.time = slope(nullptr), .stage = more->stage};
    for (std::size_t i = 0; i < kBreakdownParts.size(); ++i) {
      found.parts[i] = slope(kBreakdownParts[i].value);
    }
    found.elasticity = -found.time / factor * (whole / more->time);
    return found;
  }

  /// `between`: a factor before the bend and one beyond it.
  template <class Departs>
  [[nodiscard]] Bend located_bend(const Slopes& now,
                                  const Departs& departs,
                                  std::pair<double, double> between) {
    auto [before, beyond] = between;
    const bool upward = beyond > before;
    if (departs(before)) {  // the figure is at the bend
      beyond = before;
    }
    while (std::abs(beyond / before - 1.0) > kNarrow) {
      const double middle = std::sqrt(before * beyond);
      (departs(middle) ? beyond : before) = middle;
    }
    const Slopes after = slopes(beyond * (upward ? 1 + 3 * kStencil : 1 - 3 * kStencil));
    Bend bend{.at = beyond * figure_.value, .before = now.elasticity, .after = after.elasticity};
    for (std::size_t i = 0; i < kBreakdownParts.size(); ++i) {
      if (std::abs(after.parts[i] - now.parts[i]) >= kPartBend) {
        bend.parts.push_back({kBreakdownParts[i].name, now.parts[i], after.parts[i]});
      }
    }
    std::ranges::stable_sort(bend.parts, [](const auto& a, const auto& b) {
      return std::abs(a.after - a.before) > std::abs(b.after - b.before);
    });
    if (after.stage != now.stage) {
      bend.last_stage = after.stage;
    }
    return bend;
  }

  static constexpr std::array<double, 2> ends = {1.0 / kBreakEvenRange, kBreakEvenRange};

  ScenarioProbe& probe_;
  const ScenarioFigure& figure_;
  Seconds tolerance_;
  std::vector<double> factors_;
  std::vector<Snapshot> rungs_;
};

constexpr std::array<Seconds Breakdown::*, 6> kExposed = {&Breakdown::tensor_comm,
                                                          &Breakdown::context_comm,
                                                          &Breakdown::expert_comm,
                                                          &Breakdown::pipeline_comm,
                                                          &Breakdown::data_comm,
                                                          &Breakdown::host_comm};

/// Whether there is a point in knowing: nothing is left of the part, or less than there is.
bool is_worth(const Settled& one, Seconds whole) {
  return one.rest == Seconds{} || one.now - one.rest >= 1e-3 * whole;
}

/// Communication that is settled one way or the other, and the iteration time as a whole. Downward
/// only what is hidden: a slower rate hides what runs beside it.
void add_settled(FigureLadder& ladder, Seconds whole, std::vector<Settled>& settled) {
  for (const BreakdownPart& part : kBreakdownParts) {
    if (!includes(kExposed, part.value)) {
      continue;
    }
    if (auto up = ladder.settled(part.name, part.value, true); up && is_worth(*up, whole)) {
      settled.push_back(*up);
    }
    if (auto down = ladder.settled(part.name, part.value, false); down && down->rest == Seconds{}) {
      settled.push_back(*down);
    }
  }
  if (auto all = ladder.settled(kIterationTime, nullptr, true);
      all && (all->now == all->rest || is_worth(*all, whole))) {
    settled.push_back(*all);
  }
}

}  // namespace

std::optional<BreakEven> break_even(ScenarioProbe& probe, const ScenarioFigure& figure) {
  FigureLadder ladder(probe, figure);
  if (!ladder.climb()) {
    return std::nullopt;
  }
  BreakEven found{.figure = figure};
  add_settled(ladder, probe.base().iteration_time, found.settled);
  found.below = ladder.bend(false);
  found.above = ladder.bend(true);
  const bool any = found.below || found.above || !found.settled.empty();
  return any ? std::optional(std::move(found)) : std::nullopt;
}

std::vector<BreakEven> break_even(ScenarioProbe& probe) {
  std::vector<BreakEven> found;
  for (const ScenarioFigure& figure : scenario_figures(probe.document())) {
    if (!is_rate(figure.kind) || figure.value == 0) {
      continue;
    }
    if (auto one = break_even(probe, figure)) {
      found.push_back(std::move(*one));
    }
  }
  return found;
}

}  // namespace titer
