#pragma once
// The key "rank_order" of a plan.

#include "titer/plan/plan.hpp"

namespace titer {

void read_rank_order(const Field<Plan>& own, Reader& in, Plan& plan);
[[nodiscard]] Value write_rank_order(const Plan& plan);

}  // namespace titer
