#pragma once
// The keys of a plan, each with what it affects: what is kept from one plan to the next holds for
// plans that are the same in all that affects it.

#include "titer/plan/plan.hpp"

namespace titer {

[[nodiscard]] std::span<const Field<Plan>> plan_fields();

/// "none", "iteration" or "attention+router".
[[nodiscard]] std::string graph_text(LayerPartSet graph);

/// What is kept, where nothing but the plan is otherwise. A key affects all of it until its line in
/// the table says less.
inline constexpr unsigned kPlaces = 1;      // where groups lie
inline constexpr unsigned kLayerCosts = 2;  // what a layer's passes do and take, in its place
inline constexpr unsigned kStages = 4;      // which blocks a stage has, if schedules place alike
inline constexpr unsigned kMemory = 8;      // memory of stages of the same blocks and shape
inline constexpr unsigned kNothingKept = 0;

/// Whether two plans are the same in every key that affects this.
template <unsigned kept>
[[nodiscard]] bool are_same(const Plan& a, const Plan& b);

/// A mark: whatever its value, it only adds to what layers take in their places.
inline constexpr unsigned kAdds = 1;
/// Puts the keys of this mark back to how they usually are.
void leave_out_additions(Plan& plan);

}  // namespace titer
