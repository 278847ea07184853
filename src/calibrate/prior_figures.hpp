#pragma once
// Which figures of a scenario's parts measured runs may move, and the scenario with them moved.

#include <span>
#include <string>
#include <vector>

#include "titer/calibrate/calibration.hpp"
#include "titer/calibrate/posterior.hpp"

namespace titer {

/// The part's place in a scenario's document, "cluster.chip".
[[nodiscard]] std::string path_of(FigureOwner owner);

/// A prior, and its figures in one document.
struct PlacedPrior {
  PriorFigure prior;
  std::vector<FittedFigure> figures;
};
/// Of the scenario that was read from there; what is 0, or outside of its usual bounds, is not
/// among them.
[[nodiscard]] std::vector<PlacedPrior> priors_of(const Document& document,
                                                 const Scenario& scenario);

/// Cluster and stack of one source, with figures moved by factors.
class MovedParts {
 public:
  MovedParts(const ScenarioSource& source, const Scenario& scenario);

  [[nodiscard]] const std::vector<PlacedPrior>& priors() const { return priors_; }
  /// `factors` of the priors, in their order. The cluster keeps what runs of this source have of
  /// their own: its number of nodes.
  void put(std::span<const double> factors, Scenario& scenario) const;

 private:
  Document document_;  // cluster and stack alone
  std::vector<PlacedPrior> priors_;
};

}  // namespace titer
