#pragma once
// How well a few runs of a family tell of its others, as it is read.

#include <cstddef>
#include <span>

#include "titer/calibrate/posterior_trial.hpp"
#include "titer/view/view.hpp"

namespace titer {

/// A row for each family, the mean of them, and which runs were given. Errors in percent.
/// `runs`: those of which families were made.
[[nodiscard]] View given_view(std::span<const GivenTrial> trials,
                              std::size_t given,
                              std::size_t runs);

}  // namespace titer
