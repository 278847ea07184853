#pragma once
// To which ranks of its group a rank's tokens go.

#include <optional>
#include <vector>

#include "titer/export/traffic_matrix.hpp"
#include "titer/model/routing/expert_choices.hpp"

namespace titer {

class ExpertSpread {
 public:
  ExpertSpread(const Scenario& scenario, const TrafficOptions& options);

  /// Of the (token, expert) pairs that a rank wants in so many layers, the share that goes to each
  /// rank of its group, itself included; what is dropped goes to none.
  [[nodiscard]] std::vector<double> shares(int rank, double layers) const;
  /// The bytes of the wanted pairs, over those that the step has for them: the busiest rank's.
  [[nodiscard]] double wanted_over_busiest() const { return wanted_over_busiest_; }
  /// Of the wanted pairs, those that are sent, on average.
  [[nodiscard]] double sent() const;
  /// Numbers that shares() draws.
  [[nodiscard]] double draws(double layers) const;

 private:
  [[nodiscard]] std::vector<double> drawn(int rank, double layers) const;

  std::size_t ranks_ = 1;  // of a group
  double wanted_over_busiest_ = 1;
  double tokens_ = 0;  // of a rank, in a layer and micro-batch
  bool random_ = false;
  ExpertChoices choices_;
  std::optional<double> capacity_;  // of an expert, for those
  ExpertDraw draw_;
};

}  // namespace titer
