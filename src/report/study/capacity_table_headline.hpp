#pragma once
// What is read first of a comparison of models and clusters.

#include <vector>

#include "titer/campaign/capacity_table.hpp"
#include "titer/view/view.hpp"

namespace titer {

using CapacityRows = std::vector<CapacityRow>;

/// Of the rows that will do those that are the best by something, each once; of several models the
/// best row of each, as nobody has the choice between them.
[[nodiscard]] Figures best_rows(const CapacityRows& rows);

}  // namespace titer
