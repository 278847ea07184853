#include "sweep_rules.hpp"

#include <algorithm>
#include <cmath>

#include "titer/units/lists.hpp"

namespace titer {
namespace {

constexpr double kNearWhole = 1e-12;  // relative; of the sums and products of an expression

double tidy(double value) {
  const double rounded = std::round(value);
  return std::abs(value - rounded) <= kNearWhole * std::abs(value) ? rounded : value;
}

}  // namespace

SweepRules::SweepRules(const Sweep& sweep) : numbers_(sweep) {
  std::vector<std::size_t> levels;
  Problems problems;
  for (const DerivedField& field : sweep.derived) {
    const std::vector<std::string>& used = numbers_.names();
    if (includes(used, field.name)) {
      problems.add(field.where + ": expected it before the fields that mention it");
    }
    levels.push_back(level_of(field.expression, field.where, problems));
    derived_slots_.push_back(numbers_.add_derived(field.name, levels.back()).slot);
  }
  numbers_.allow_results();
  for (const SweepConstraint& constraint : sweep.constraints) {
    levels.push_back(level_of(constraint.expression, constraint.where, problems));
  }
  problems.raise();
  for (const SweepConstraint& constraint : sweep.constraints) {
    expect_condition(constraint, problems);
  }
  problems.raise();
  // Only now all names have their places.
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const bool is_constraint = i >= sweep.derived.size();
    const std::size_t index = is_constraint ? i - sweep.derived.size() : i;
    const std::string& text =
        is_constraint ? sweep.constraints[index].expression : sweep.derived[index].expression;
    const std::string& where =
        is_constraint ? sweep.constraints[index].where : sweep.derived[index].where;
    const bool of_results = levels[i] == kResultLevel;
    (of_results ? results_ : steps_)
        .push_back({.expression = Expression(text, numbers_.names(), where),
                    .level = levels[i],
                    .is_constraint = is_constraint,
                    .index = index});
  }
  std::ranges::stable_sort(steps_, {}, &Step::level);
  compute_constants(sweep);
}

/// What is the same at every point, or merely a number, leaves out all points or none.
void SweepRules::expect_condition(const SweepConstraint& constraint, Problems& problems) const {
  const std::string begin = constraint.where + ": " + constraint.expression + ": expected ";
  if (names_in(constraint.expression, constraint.where).empty()) {
    problems.add(begin + "a condition over inputs or results");
  } else if (!is_condition(constraint.expression,
                           [&](std::string_view name) { return numbers_.is_truth(name); })) {
    problems.add(begin + "a condition, such as \"plan.tensor <= 8\"");
  }
}

/// A derived field that no axis changes is a number, or the file's mistake.
void SweepRules::compute_constants(const Sweep& sweep) {
  Problems problems;
  for (Step& step : steps_) {
    if (step.level > 0 || step.is_constraint) {
      continue;
    }
    const double value = step.expression.evaluate(numbers_.values());
    numbers_.put(derived_slots_[step.index], tidy(value));
    if (!std::isfinite(value)) {
      const DerivedField& field = sweep.derived[step.index];
      problems.add(field.where + ": " + field.expression + ": expected a finite value");
    }
  }
  problems.raise();
}

/// The innermost axis that an expression depends on.
std::size_t SweepRules::level_of(const std::string& expression,
                                 const std::string& where,
                                 Problems& problems) {
  const std::string begin = where + ": " + expression;
  std::size_t level = 0;
  try {
    for (const std::string& name : names_in(expression, where)) {
      level = std::max(level, numbers_.find(name, begin).level);
    }
  } catch (const InputError& error) {
    for (const std::string& line : error.lines) {
      problems.add(line);
    }
  }
  return level;
}

/// Puts in what differs from the point before; the first step that may come out otherwise.
std::size_t SweepRules::resume(std::span<const std::size_t> at) {
  if (at_.size() != at.size()) {
    at_.assign(at.begin(), at.end());
    numbers_.put(at, 0);
    return 0;
  }
  const auto differs = std::mismatch(at.begin(), at.end(), at_.begin());
  const auto first = static_cast<std::size_t>(differs.first - at.begin());
  if (first == at.size()) {
    return done_;
  }
  std::copy(differs.first, at.end(), differs.second);
  numbers_.put(at, first);
  const auto after =
      std::ranges::find_if(steps_, [&](const Step& step) { return step.level > first; });
  return std::min(done_, static_cast<std::size_t>(after - steps_.begin()));
}

std::optional<SweepRules::Refused> SweepRules::move_to(std::span<const std::size_t> at) {
  for (done_ = resume(at); done_ < steps_.size(); ++done_) {
    Step& step = steps_[done_];
    const double value = step.expression.evaluate(numbers_.values());
    if (!step.is_constraint) {
      numbers_.put(derived_slots_[step.index], tidy(value));
    } else if (std::isnan(value) || value == 0.0) {
      return Refused{.constraint = step.index, .axes = step.level};
    }
  }
  return std::nullopt;
}

std::optional<std::size_t> SweepRules::refused_by(const StepResult& result) {
  if (results_.empty()) {
    return std::nullopt;
  }
  numbers_.put(result);
  for (Step& step : results_) {
    const double value = step.expression.evaluate(numbers_.values());
    if (std::isnan(value) || value == 0.0) {
      return step.index;
    }
  }
  return std::nullopt;
}

}  // namespace titer
