#pragma once
// Which figures of a scenario's parts measured runs may move, and the scenario with them moved.

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <tuple>
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

/// Where a prior is in a list; the size of the list where it is not in it.
template <class List>
std::size_t find_prior(const List& list, const PriorFigure& prior) {
  const auto same = [&](const PriorFigure& other) {
    return std::tie(other.owner, other.of, other.figure) ==
           std::tie(prior.owner, prior.of, prior.figure);
  };
  return static_cast<std::size_t>(std::ranges::find_if(list, same) - list.begin());
}

/// Cluster and stack of one source, with figures moved by factors.
class MovedParts {
 public:
  MovedParts(const ScenarioSource& source, const Scenario& scenario);

  [[nodiscard]] const std::vector<PlacedPrior>& priors() const { return priors_; }
  /// `factors` of the priors, in their order. What none of them changes is not read again: a fit
  /// moves one after the other.
  void put(std::span<const double> factors);
  /// As it was put last, into a scenario of this source. The cluster keeps what runs have of their
  /// own: its number of nodes, and how many devices of each it uses.
  void give(Scenario& scenario) const;

 private:
  /// Whether a figure was.
  bool put(std::span<const double> factors, bool of_stack);

  Document document_;  // cluster and stack alone
  std::vector<PlacedPrior> priors_;
  std::vector<double> factors_;  // that it has
  Cluster cluster_;
  Stack stack_;
};

}  // namespace titer
