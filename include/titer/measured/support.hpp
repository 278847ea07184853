#pragma once
// How far off predictions of compared runs were, by what they were runs of.

#include <span>
#include <vector>

#include "titer/measured/comparison.hpp"
#include "titer/plan/measured_support.hpp"
#include "titer/scenario/scenario.hpp"

namespace titer {

[[nodiscard]] Combination combination_of(const Scenario& scenario);

/// Of rows that were predicted, by combination. Rows that are no runs have none.
[[nodiscard]] std::vector<SupportCell> support_cells(std::span<const Comparison> rows);

}  // namespace titer
