#pragma once
// Device memory of each pipeline stage at its peak.

#include <array>
#include <span>
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

/// One device of a rank of the pipeline at its peak: with the most activations alive.
struct StageMemory {
  int stage = 0;          // the rank
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

/// What the passes of one micro-batch through a stage of the model keep in memory. A forward pass
/// needs what it keeps from its start on, an input gradient what it leaves where that is more; what
/// is freed is freed at the end of a pass.
struct StageActivations {
  Bytes kept;                  // after the forward pass
  Bytes after_input_gradient;  // what the weight gradient still needs, where it comes later
  Bytes working;               // beyond that, while a pass but a weight gradient runs
};
/// Of every stage of the model. REQUIRES the operations of the model and slice.
void stage_activations(const Plan& plan,
                       const MemoryNeeds& needs,
                       std::vector<StageActivations>& stages);
[[nodiscard]] std::vector<StageActivations> stage_activations(const Plan& plan,
                                                              const MemoryNeeds& needs);

/// The most bytes alive on a rank, and how much of it is of the passes that run then.
struct ActivationPeak {
  Bytes kept;
  Bytes working;
  int last_stages = 0;  // micro-batches between the last stage's forward pass and its backward pass

  [[nodiscard]] Bytes total() const { return kept + working; }
};
/// Found by following a rank's actions: right for any schedule and any stages. Actions done
/// together need the bytes of both. `stages`: of the model.
[[nodiscard]] ActivationPeak activation_peak(std::span<const Action> actions,
                                             Placement placement,
                                             int rank,
                                             const PipelineShape& shape,
                                             std::span<const StageActivations> stages);

/// Parameters of one stage of the model on one device: split ones divided by t, replicated ones
/// whole. With tied embeddings the last stage has a copy of the token table, unless its rank has
/// the first stage too (of either copy of the model).
[[nodiscard]] double stage_parameters(const Transformer& model, const Plan& plan, int stage);
/// Of all stages that a rank of the pipeline has; two copies of the model count twice.
[[nodiscard]] double rank_parameters(const Transformer& model, const Plan& plan, int rank);

/// Finds the memory of one plan after the other, keeping its working memory and the actions of the
/// last shapes that had to be followed: finding that of a plan again allocates nothing.
class MemoryFinder {
 public:
  /// Memory of every rank into `stages`. By formula where there is one: GPipe and 1F1B over stages
  /// of which each rank's have as many layers.
  void find(const Plan& plan, const MemoryNeeds& needs, std::vector<StageMemory>& stages);

 private:
  struct Followed {
    Schedule schedule;
    PipelineShape shape;
    std::vector<ActionList> lists;  // of every rank
  };
  const std::vector<ActionList>& lists(const Schedule& schedule, const PipelineShape& shape);

  std::vector<Followed> followed_;
  std::size_t oldest_ = 0;
  std::vector<StageActivations> activations_;  // of every stage of the model
};

/// A single finding.
[[nodiscard]] std::vector<StageMemory> stage_memory(const Plan& plan, const MemoryNeeds& needs);

}  // namespace titer
