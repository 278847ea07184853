#pragma once
// A model with experts in every other layer, and plans that give its layers groups of every kind.

#include <array>

#include "scenario/plain.hpp"

namespace titer::moe {

inline Transformer model(std::int64_t layers = 4) {
  Transformer model = shipped::model("megatron-1.7b");
  model.layers = layers;
  Experts& experts = model.experts.emplace();
  experts.count = 8;
  experts.per_token = 2;
  experts.ffn = 2 * model.hidden;
  model.kinds = {LayerKind{}, LayerKind{.experts = true}};
  model.order.clear();
  for (std::int64_t layer = 0; layer < layers; ++layer) {
    model.order.push_back({.kind = static_cast<int>(layer % 2), .count = 1});
  }
  return model;
}

/// Degrees, and the context-parallel method.
struct Degrees {
  std::int64_t pipeline = 1;
  std::int64_t tensor = 1;
  std::int64_t context = 1;
  std::int64_t data = 1;
  std::int64_t expert = 1;
  std::int64_t expert_tensor = 1;
  ContextMethod method = ContextMethod::ring;
};
inline constexpr std::array<Degrees, 9> kDegrees = {{
    {.context = 2, .data = 2, .expert = 4},
    {.tensor = 2, .context = 2, .data = 2, .expert = 4, .expert_tensor = 2},
    {.tensor = 2, .context = 2, .data = 2, .expert = 4, .method = ContextMethod::all_gather},
    {.pipeline = 2, .tensor = 2, .data = 2, .expert = 2, .expert_tensor = 1},
    {.pipeline = 2, .tensor = 2, .data = 4, .expert = 4, .expert_tensor = 2},
    {.pipeline = 2, .context = 4, .expert = 4, .method = ContextMethod::ulysses},
    {.pipeline = 2, .tensor = 4, .expert = 2, .expert_tensor = 1},  // dense replicas: none
    {.pipeline = 4, .tensor = 2, .context = 2, .expert = 1, .expert_tensor = 2},
    {.pipeline = 2, .tensor = 1, .context = 2, .data = 4, .expert = 8},  // experts' replicas: none
}};

inline Plan plan_of(const Degrees& degrees) {
  Plan plan;
  plan.pipeline = degrees.pipeline;
  plan.tensor = degrees.tensor;
  plan.context = degrees.context;
  plan.data = degrees.data;
  plan.expert = degrees.expert;
  plan.expert_tensor = degrees.expert_tensor;
  plan.context_method = degrees.method;
  plan.sequence_parallel = degrees.tensor > 1;
  plan.pipeline_send = PipelineSend::blocking;
  return plan;
}

inline Scenario scenario(const Degrees& degrees) {
  Scenario scenario = plain::scenario(plan_of(degrees));
  scenario.model = model();
  scenario.stack.bucket_parameters = 40e6;
  return scenario;
}

inline std::string text_of(const Degrees& degrees) {
  return "p=" + std::to_string(degrees.pipeline) + " t=" + std::to_string(degrees.tensor) +
         " cp=" + std::to_string(degrees.context) + " d=" + std::to_string(degrees.data) +
         " ep=" + std::to_string(degrees.expert) + " etp=" + std::to_string(degrees.expert_tensor);
}

}  // namespace titer::moe
