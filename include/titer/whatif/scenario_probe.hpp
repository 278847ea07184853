#pragma once
// A scenario evaluated again and again with a few values changed: only the parts that a change
// leads into are read again, and afterwards it is as it was.

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "titer/scenario/source.hpp"
#include "titer/simulate/evaluate.hpp"

namespace titer {

/// A number that a result has, for people who ask for it by name.
struct OutcomeFigure {
  std::string name;  // as in JSON: "iteration_time_s", "mfu", "data_comm_s", "memory_peak_bytes"
  std::function<double(const StepResult&)> value;
  bool less_is_better = true;
};
[[nodiscard]] std::vector<OutcomeFigure> outcome_figures();
/// Throws InputError, naming `option`, where there is none of this name.
[[nodiscard]] OutcomeFigure outcome_figure(std::string_view name, std::string_view option);

class ScenarioProbe {
 public:
  /// Evaluates the scenario as it is. Throws InputError where it is not sound.
  ScenarioProbe(ScenarioSource source, Fidelity fidelity);

  [[nodiscard]] const Scenario& scenario() const { return base_; }
  [[nodiscard]] const StepResult& base() const { return base_result_; }
  [[nodiscard]] const Document& document() const { return source_.document(); }
  [[nodiscard]] Fidelity fidelity() const { return fidelity_; }

  /// With these changes, until the next call; nullptr where that is not sound: refusal() says why.
  [[nodiscard]] const StepResult* with(std::span<const Assignment> changes);
  /// The scenario with them, as far as it could be read.
  [[nodiscard]] const Scenario& changed() const { return changed_; }
  [[nodiscard]] const std::string& refusal() const { return refusal_; }
  /// How many results were computed.
  [[nodiscard]] std::int64_t evaluations() const { return evaluations_; }

 private:
  bool evaluate_changed(std::span<const Assignment> changes, std::vector<Assignment>& before);

  ScenarioSource source_;
  Fidelity fidelity_;
  Scenario base_;
  Scenario changed_;
  std::vector<ScenarioPart> parts_{};  // of changed_ that differ from base_
  Estimator estimator_;
  StepResult base_result_;
  StepResult result_;
  std::string refusal_;
  std::int64_t evaluations_ = 0;
};

/// How far rounding to picoseconds can move the iteration time of a closed form: half a one for
/// each term on the way through the pipeline.
[[nodiscard]] Seconds rounding_of(const Scenario& scenario);

}  // namespace titer
