#pragma once
// Parts of images that a tensor group's ranks have, in rows one below the other.

#include <vector>

#include "titer/plan/plan.hpp"

namespace titer {

/// The members of the group with the parts above, below and at the sides of a member's own.
[[nodiscard]] std::vector<int> parts_beside(const Plan& plan, int member);
/// No part has more beside it.
[[nodiscard]] int most_parts_beside(const Plan& plan);

}  // namespace titer
