#pragma once
// Keys of a plan that name a whole, such as `full`, or list parts of a layer, a bit each.

#include "titer/plan/plan.hpp"

namespace titer {

/// "none", "selective", "full", "operations", or a list of modules.
void read_recompute(const Field<Plan>& own, Reader& in, Plan& plan);
[[nodiscard]] Value recompute_schema(const Field<Plan>& own);
[[nodiscard]] Value write_recompute(const Plan& plan);

/// "none", "iteration", or a list of parts.
void read_graph(const Field<Plan>& own, Reader& in, Plan& plan);
[[nodiscard]] Value graph_schema(const Field<Plan>& own);
[[nodiscard]] Value write_graph(const Plan& plan);

}  // namespace titer
