#pragma once
// What the seeds say and what is computed of it, as it is read.

#include <span>

#include "titer/seeds/seed.hpp"
#include "titer/view/view.hpp"

namespace titer {

/// The table has a row for each check. `in_full`: people read all of each statement (what the
/// document says, what is computed, the tolerance and why, what to type), not a list of them: how
/// many printed figures are met and laws hold; what is unmet, the worst first; a line for each.
[[nodiscard]] View seed_view(std::span<const SeedReport> reports, bool in_full);

}  // namespace titer
