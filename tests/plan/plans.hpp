#pragma once
// Plans that differ from the default one in a few keys.

#include "titer/plan/plan.hpp"

namespace titer::plans {

inline Plan plan_of(std::int64_t pipeline, std::int64_t tensor, std::int64_t data) {
  Plan plan;
  plan.pipeline = pipeline;
  plan.tensor = tensor;
  plan.data = data;
  return plan;
}

}  // namespace titer::plans
