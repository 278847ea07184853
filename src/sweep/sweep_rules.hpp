#pragma once
// The derived fields and constraints of a sweep, computed point by point.

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "sweep_numbers.hpp"
#include "titer/input/expression.hpp"

namespace titer {

/// What depends on the outer axes alone is computed once for all points that have them in common.
class SweepRules {
 public:
  /// `sweep` must outlive it. Throws InputError where an expression mentions what is not there.
  explicit SweepRules(const Sweep& sweep);

  /// The first constraint over inputs that a point does not satisfy, and how many axes, the outer
  /// ones, are enough to say so.
  struct Refused {
    std::size_t constraint = 0;
    std::size_t axes = 0;
  };
  [[nodiscard]] std::optional<Refused> move_to(std::span<const std::size_t> at);
  /// The first constraint over results that the point moved to does not satisfy.
  [[nodiscard]] std::optional<std::size_t> refused_by(const StepResult& result);
  /// The first constraint over results, which a point without any does not satisfy.
  [[nodiscard]] std::optional<std::size_t> refused_without_result() const {
    return results_.empty() ? std::nullopt : std::optional(results_.front().index);
  }

  /// Of the point moved to, if no constraint over inputs refused it.
  [[nodiscard]] double derived(std::size_t field) const {
    return numbers_.values()[derived_slots_[field]];
  }

 private:
  struct Step {
    Expression expression;
    std::size_t level = 0;
    bool is_constraint = false;
    std::size_t index = 0;  // of the derived field or the constraint
  };
  [[nodiscard]] std::size_t level_of(const std::string& expression,
                                     const std::string& where,
                                     Problems& problems);
  void expect_condition(const SweepConstraint& constraint, Problems& problems) const;
  void compute_constants(const Sweep& sweep);
  [[nodiscard]] std::size_t resume(std::span<const std::size_t> at);

  SweepNumbers numbers_;
  std::vector<std::size_t> derived_slots_;
  std::vector<Step> steps_;    // by level
  std::vector<Step> results_;  // constraints over results
  std::vector<std::size_t> at_;
  std::size_t done_ = 0;  // steps that hold for at_
};

}  // namespace titer
