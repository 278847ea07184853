#pragma once
// One point of a sweep by itself, for whoever wants to look at it.

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "titer/sweep/sweep.hpp"

namespace titer {

/// What makes the base scenario that of a point, in the order in which it is put in.
[[nodiscard]] std::vector<Assignment> point_assignments(const Sweep& sweep, std::size_t point);

/// "titer run gpt3-175b-64xa100 --set plan.tensor=4", which computes a point alone.
[[nodiscard]] std::string run_command_of(const Sweep& sweep,
                                         std::size_t point,
                                         std::optional<Fidelity> fidelity);

}  // namespace titer
