#pragma once
// A plan with what it leaves to the model, the stack and its own other keys written out.

#include "titer/scenario/scenario.hpp"

namespace titer {

[[nodiscard]] inline Plan settled_plan(const Scenario& scenario) {
  Plan plan = scenario.plan;
  plan.expert_tensor = plan.expert_tensor_degree();
  plan.expert_dispatch = scenario.expert_dispatch();
  plan.attention = scenario.slice().attention;
  plan.tensor_overlap = scenario.tensor_overlap();
  plan.pipeline_send = scenario.pipeline_send();
  plan.overlap_grad_reduce = scenario.overlap_grad_reduce();
  plan.overlap_param_gather = scenario.overlap_param_gather();
  return plan;
}

}  // namespace titer
