#pragma once
// A run's links as nccl-tests measured them.

#include <optional>
#include <string>
#include <vector>

#include "titer/measured/collective/measured_collective.hpp"
#include "titer/scenario/source.hpp"

namespace titer {

struct LinkFit {
  std::optional<ScenarioSource> source{};  // the run with fitted links; none: they stay as they are
  std::string evidence{};                  // how far off the links were before and after
  std::vector<std::string> findings{};     // what could not be compared or fitted, and why
};

/// Fits the figures of the run's cluster that collectives tell of. A fit that is rejected is none.
[[nodiscard]] LinkFit fit_links(const ScenarioSource& source,
                                const std::vector<MeasuredCollective>& measured);

/// The first line of an error, and how many more there are.
[[nodiscard]] std::string in_short(const InputError& error);

}  // namespace titer
