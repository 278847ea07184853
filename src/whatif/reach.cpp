// The value that one figure alone must have for a target.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "titer/units/number_text.hpp"
#include "titer/whatif/break_even.hpp"

namespace titer {
namespace {

constexpr int kDoublings = 10;  // further down, times leave the range of ticks
constexpr double kCloseEnough = 1e-6;

/// A number, or a quantity where the outcome has one.
std::optional<double> target_value(std::string_view text, std::string_view of) {
  if (of.ends_with("_s")) {
    if (const auto time = parse<Seconds>(text)) {
      return time->si();
    }
  }
  if (of.ends_with("_bytes")) {
    if (const auto size = parse<Bytes>(text)) {
      return size->si();
    }
  }
  return number_of_text<double>(text);
}

class ReachSearch {
 public:
  ReachSearch(ScenarioProbe& probe, const Target& target, bool met)
      : probe_(probe), target_(target), met_(met) {}

  [[nodiscard]] Reach find(const ScenarioFigure& figure) {
    Reach found{.figure = figure, .limit = target_.of.value(probe_.base())};
    for (const bool upward : {true, false}) {
      const auto end = farthest(figure, upward);
      if (!end) {
        continue;
      }
      if (target_.met_by(end->outcome) != met_) {
        found.value = boundary(figure, end->value, found.limit);
        return found;
      }
      if (target_.of.less_is_better ? end->outcome < found.limit : end->outcome > found.limit) {
        found.limit = end->outcome;
      }
    }
    return found;
  }

  /// A number that only whole values are sound for.
  [[nodiscard]] bool is_whole(const ScenarioFigure& figure) {
    return figure.whole && !outcome_of(figure, 0.99 * figure.value) &&
           !outcome_of(figure, 1.01 * figure.value);
  }

 private:
  struct End {
    double value = 0;
    double outcome = 0;
  };

  /// The last sound value on the way: the end of the range; of shares one, if that is on the way;
  /// or the last by factors of two.
  [[nodiscard]] std::optional<End> farthest(const ScenarioFigure& figure, bool upward) {
    constexpr auto range = static_cast<double>(1 << kDoublings);
    std::vector<double> ends = {upward ? figure.value * range : figure.value / range};
    const bool is_share = figure.kind == FigureKind::ratio;
    if (is_share && (upward ? figure.value < 1.0 : figure.value > 1.0)) {
      ends.push_back(1.0);
    }
    for (const double value : ends) {
      if (const auto outcome = outcome_of(figure, value)) {
        return End{value, *outcome};
      }
    }
    return farthest_sound(figure, upward);
  }

  [[nodiscard]] std::optional<End> farthest_sound(const ScenarioFigure& figure, bool upward) {
    std::optional<End> last;
    double value = figure.value;
    for (int i = 0; i < kDoublings; ++i) {
      value = upward ? 2.0 * value : 0.5 * value;
      const auto outcome = outcome_of(figure, value);
      if (!outcome) {
        break;
      }
      last = End{value, *outcome};
    }
    return last;
  }

  /// The value next to the boundary on the side that the target's being met is wanted on.
  [[nodiscard]] double boundary(const ScenarioFigure& figure, double end, double& outcome) {
    double same = figure.value;  // as it is
    double other = end;
    while (std::abs(other / same - 1.0) > kCloseEnough) {
      const double middle = std::sqrt(same * other);
      const auto found = outcome_of(figure, middle);
      if (!found) {
        break;
      }
      (target_.met_by(*found) != met_ ? other : same) = middle;
    }
    const double value = met_ ? same : other;
    outcome = outcome_of(figure, value).value_or(outcome);
    return value;
  }

  [[nodiscard]] std::optional<double> outcome_of(const ScenarioFigure& figure, double value) {
    const Assignment change{figure.place, figure_value(figure.kind, value), "--reach"};
    const StepResult* result = probe_.with({&change, 1});
    return result == nullptr ? std::nullopt : std::optional(target_.of.value(*result));
  }

  ScenarioProbe& probe_;
  const Target& target_;
  bool met_;
};

/// Least change first; then those that do not reach it, by how near they come.
bool comes_before(const Reach& a, const Reach& b, bool less_is_better) {
  if (a.value && b.value) {
    return a.factor() < b.factor();
  }
  if (a.value || b.value) {
    return a.value.has_value();
  }
  return less_is_better ? a.limit < b.limit : a.limit > b.limit;
}

}  // namespace

double Reach::factor() const {
  const double ratio = value.value_or(figure.value) / figure.value;
  return std::max(ratio, 1.0 / ratio);
}

Target parse_target(std::string_view text) {
  const std::size_t equals = text.find('=');
  const bool named = equals != std::string_view::npos;
  const std::string_view name = named ? text.substr(0, equals) : "iteration_time_s";
  Target target{.of = outcome_figure(name, "--reach")};
  const std::string_view written = named ? text.substr(equals + 1) : text;
  const auto value = target_value(written, name);
  if (!value || !(*value > 0) || !std::isfinite(*value)) {
    throw InputError(fmt::format(
        "--reach: {}: expected a time above zero, or a figure and its value, such as 12s or "
        "mfu=0.5",
        text));
  }
  target.value = *value;
  return target;
}

ReachTable reach(ScenarioProbe& probe, const Target& target) {
  const double outcome = target.of.value(probe.base());
  ReachTable table{.target = target, .outcome = outcome, .met = target.met_by(outcome)};
  ReachSearch search(probe, target, table.met);
  for (const ScenarioFigure& figure : scenario_figures(probe.document())) {
    if (figure.kind == FigureKind::count || figure.value <= 0 || search.is_whole(figure)) {
      continue;
    }
    Reach found = search.find(figure);
    if (found.value || found.limit != outcome) {
      table.figures.push_back(std::move(found));
    }
  }
  std::ranges::stable_sort(table.figures, [&](const auto& a, const auto& b) {
    return comes_before(a, b, target.of.less_is_better);
  });
  return table;
}

}  // namespace titer
