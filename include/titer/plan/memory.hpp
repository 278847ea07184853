#pragma once
// Device memory of each pipeline stage at its peak.

#include <array>
#include <vector>

#include "titer/model/transformer_layer.hpp"
#include "titer/plan/plan.hpp"

namespace titer {

/// The optimizer's state per parameter, and what one step reads and writes of it.
struct OptimizerRule {
  std::string_view name;
  double state_bytes = 0;  // fp32 moments; the fp32 copy of low-precision weights comes on top
};
inline constexpr OptimizerRule kAdam{.name = "adam", .state_bytes = 8.0};
inline constexpr OptimizerRule kMomentumSgd{.name = "sgd", .state_bytes = 4.0};

/// Bytes per parameter by role, for one training precision.
struct ParameterBytes {
  Bytes weight;
  Bytes gradient;
  Bytes optimizer;  // states, and the fp32 copy when the weights are narrower
};
[[nodiscard]] ParameterBytes parameter_bytes(const OptimizerRule& rule,
                                             DataType precision,
                                             DataType gradient);

/// One stage's device at its peak: with the most activations alive, during a forward pass.
struct StageMemory {
  int stage = 0;
  double parameters = 0;  // held by one device
  Bytes weights{};
  Bytes gradients{};
  Bytes optimizer{};
  Bytes activations{};  // kept by the micro-batches in flight
  Bytes working{};      // of the layer or head being computed, beyond what is kept
  Bytes runtime{};

  [[nodiscard]] Bytes total() const {
    return weights + gradients + optimizer + activations + working + runtime;
  }
};

/// A part of a stage's memory by name, for views.
struct MemoryPart {
  std::string_view name;
  Bytes StageMemory::*value;
};
inline constexpr std::array<MemoryPart, 6> kMemoryParts = {
    {{"weights", &StageMemory::weights},
     {"gradients", &StageMemory::gradients},
     {"optimizer", &StageMemory::optimizer},
     {"activations", &StageMemory::activations},
     {"working", &StageMemory::working},
     {"runtime", &StageMemory::runtime}}};

/// What memory depends on besides the plan.
struct MemoryNeeds {
  const Transformer* model = nullptr;
  const ModelOperations* operations = nullptr;  // of the model and slice
  Slice slice;
  PipelineShape shape;
  ParameterBytes parameter;
  Bytes runtime;
};

/// Parameters on one device of a stage (rank of the pipeline), all its chunks: split ones divided
/// by t, replicated ones whole. With tied embeddings and p > 1 the last stage holds a copy of the
/// token table.
[[nodiscard]] double stage_parameters(const Transformer& model,
                                      int stage,
                                      PipelineShape shape,
                                      std::int64_t tensor);

/// Memory of every stage into `stages` (no allocation once it is large enough).
void stage_memory(const Plan& plan, const MemoryNeeds& needs, std::vector<StageMemory>& stages);

}  // namespace titer
